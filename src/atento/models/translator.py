"""Encoder–decoder model: an encoder of any source joined with a decoder of text."""

from typing import Any, NamedTuple

from torch import Tensor, nn

from atento.models.protocols import Decoder, Encoded, Encoder

# Axes: B batch, N source time, T target time, V vocabulary, M real target tokens.


class TranslationBatch(NamedTuple):
    """Sources and, for training, their targets."""

    source: Tensor  # (B, N) tokens
    source_valid: Tensor  # (B, N)
    previous: Tensor  # (B, T) the target shifted right: the decoder's inputs
    target: Tensor  # (B, T) the tokens to predict
    target_valid: Tensor  # (B, T)


class Translator(nn.Module):
    """An encoder and a decoder."""

    def __init__(self, encoder: Encoder, decoder: Decoder[Any]) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, source: Tensor, valid: Tensor) -> Encoded:
        """The encoder's output."""
        return self.encoder.encode(source, valid)

    def forward(self, batch: TranslationBatch) -> Tensor:
        """Logits (M, V) of the real target tokens only, row by row."""
        encoded = self.encode(batch.source, batch.source_valid)
        return self.decoder.to_logits(self.decoder.real_features(batch.previous, batch.target_valid, encoded))
