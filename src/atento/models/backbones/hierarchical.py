"""Hierarchical encoder: words are encoded into sentences, sentences into a document (Yang et al., 2016)."""

import torch
from torch import Tensor, nn

from atento.blocks.hierarchical import HierarchicalAttention
from atento.blocks.transformer_stack import TransformerStack
from atento.layers.dropout import Dropout
from atento.layers.embeddings import TokenEmbedding
from atento.layers.positions import Positions
from atento.models.protocols import Encoded, Encoder

# Axes: B batch, N time, T items of a level, S sentences, W words of a sentence, D size.

MAX_SENTENCE_WORDS = 50  # longer sentences are split, or one long line would pad all others


class TransformerReader(nn.Module):
    """A Transformer as the encoder of one level: inputs are scaled and given positions from 0."""

    def __init__(self, positions: Positions, stack: TransformerStack, *, scale: float = 1.0) -> None:
        super().__init__()
        self.positions, self.stack, self.scale = positions, stack, scale

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        return self.stack(self.scale * values + self.positions.along(values, valid), valid=valid)


class HierarchicalEncoder(Encoder):
    """Splits a text at its end tokens, encodes the words of each sentence, then the sentences.

    The states of `Encoded` are those of the sentences, before they are pooled into the summary.
    """

    def __init__(
        self, embedding: TokenEmbedding, levels: HierarchicalAttention, *, size: int, end: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding, self.levels, self.size, self.end = embedding, levels, size, end
        self.dropout = Dropout(dropout)

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """tokens (B, N) -> states (B, S, D), summary (B, D)."""
        words, real = self.sentences(tokens, valid)
        read = self.levels.encode_words(self.embedding(words), real)
        states = self.levels.encode_sentences(self.dropout(read), real)
        summary = self.levels.sentence_pooling(states, valid=real.any(dim=-1))
        return Encoded(states, real.any(dim=-1), self.dropout(summary))

    def sentences(self, tokens: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Words (B, S, W), padded with zeros on the right, and which are real (B, S, W).

        S and W are those of the batch; a program that is recorded once for all batches has room for any text of N.
        """
        sentence, place = split_sentences(tokens, valid, end=self.end)
        kept, (rows, length) = place >= 0, tokens.shape
        if torch.compiler.is_compiling():
            sentences, longest = length, torch.sym_min(length, MAX_SENTENCE_WORDS)  # type: ignore[no-untyped-call]
        else:
            sentences, longest = (int(part[kept].max()) + 1 if kept.any() else 1 for part in (sentence, place))
        size = sentences * longest
        index = torch.where(kept, sentence * longest + place, size)  # what is no word goes to one more place
        words, real = (
            part.new_zeros(rows, size + 1).scatter(1, index, part)[:, :-1].view(rows, sentences, longest)
            for part in (tokens, kept)
        )
        return words, real

    def weights(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """Attention weights (B, 2, N): of each token in its sentence, and of its sentence in the text.

        End tokens and padding have zeros.
        """
        words, real = self.sentences(tokens, valid)
        weights = self.levels.weights(self.embedding(words), valid=real)
        sentence, place = split_sentences(tokens, valid, end=self.end)
        row = torch.arange(len(tokens), device=tokens.device).unsqueeze(1)  # (B, 1)
        of_words = weights.words[row, sentence, place.clamp(min=0)]  # (B, N)
        of_sentences = weights.sentences[row, sentence]
        return torch.stack([of_words, of_sentences], dim=1) * (place >= 0).unsqueeze(1)


def split_sentences(
    tokens: Tensor, valid: Tensor, *, end: int, longest: int = MAX_SENTENCE_WORDS
) -> tuple[Tensor, Tensor]:
    """The index of each token's sentence and its position there, both (B, N); position −1 at end tokens and padding.

    Empty sentences are skipped, and sentences of more than `longest` words are split.
    """
    is_end = valid & (tokens == end)
    word = valid & ~is_end
    count = word.cumsum(dim=-1)  # words so far, this one included
    before = running_max(torch.where(is_end, count, 0))  # words before this sentence
    place = (count - 1 - before) % longest
    sentence = ((word & (place == 0)).cumsum(dim=-1) - 1).clamp(min=0)
    return sentence, place.masked_fill(~word, -1)


def running_max(values: Tensor) -> Tensor:
    """The largest of the values (B, N) so far, none of which is below 0; as a matrix where a program is recorded for
    ONNX, which has no operator for it.
    """
    if not torch.compiler.is_compiling():
        return values.cummax(dim=-1).values
    so_far = torch.ones(values.size(1), values.size(1), dtype=torch.bool, device=values.device).tril()
    return torch.where(so_far, values.unsqueeze(1), 0).amax(dim=-1)
