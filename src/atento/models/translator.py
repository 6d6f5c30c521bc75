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
    """An encoder and a decoder; for one that copies, also the target token that each source token is copied as."""

    copied_as: Tensor | None  # (source vocabulary,)

    def __init__(self, encoder: Encoder, decoder: Decoder[Any], *, copied_as: Tensor | None = None) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.register_buffer("copied_as", copied_as, persistent=False)  # the vocabularies tell

    def encode(self, source: Tensor, valid: Tensor) -> Encoded:
        """The encoder's output, with what its tokens are copied as."""
        encoded = self.encoder.encode(source, valid)
        return encoded if self.copied_as is None else encoded._replace(copied=self.copied_as[source])

    def forward(self, batch: TranslationBatch) -> Tensor:
        """Logits (M, V) of the real target tokens only, row by row."""
        encoded = self.encode(batch.source, batch.source_valid)
        return self.decoder.to_logits(self.decoder.real_features(batch.previous, batch.target_valid, encoded))
