"""An encoder and a decoder, joined."""

from typing import Any, NamedTuple

from torch import Tensor, nn

from atento.models.protocols import Decoder, Encoded, Encoder

# Axes: B batch, N source time, T target time, V vocabulary, M real target tokens.


class TranslationBatch(NamedTuple):
    """Sources and, for training, their targets."""

    source: Tensor  # (B, N) tokens
    source_valid: Tensor  # (B, N)
    previous: Tensor  # (B, T) the target shifted right: what a step may know
    target: Tensor  # (B, T) what it should say
    target_valid: Tensor  # (B, T)


class Translator(nn.Module):
    """Reads a source with an encoder, writes a target with a decoder."""

    def __init__(self, encoder: Encoder, decoder: Decoder[Any]) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, source: Tensor, valid: Tensor) -> Encoded:
        """Read the sources."""
        return self.encoder.encode(source, valid)

    def forward(self, batch: TranslationBatch) -> Tensor:
        """Logits (M, V) of the real target tokens only; padding costs nothing."""
        encoded = self.encode(batch.source, batch.source_valid)
        features = self.decoder.features(batch.previous, encoded)
        return self.decoder.to_logits(features[batch.target_valid])


def as_translator(module: nn.Module) -> Translator:
    """The module, typed."""
    if not isinstance(module, Translator):
        raise TypeError(f"an encoder–decoder is needed here, not {type(module).__name__}")
    return module
