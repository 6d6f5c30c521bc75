"""Words make sentences, sentences make a document: an encoder that reads in two levels (Yang et al., 2016)."""

import torch
from torch import Tensor, nn

from atento.blocks.hierarchical import Hierarchical
from atento.blocks.stack import TransformerStack
from atento.layers.embeddings import TokenEmbedding
from atento.layers.positions import Positions
from atento.models.protocols import Encoded, Encoder

# Axes: B batch, N time, S sentences, W words of a sentence, D size, L levels.

LONGEST_SENTENCE = 50  # words; what is longer is read in pieces, or one long line would pad all others


class PlacedReader(nn.Module):
    """Layers of self-attention as a reader: scaled, placed from 0 at the first real item, passed on."""

    def __init__(self, positions: Positions, stack: TransformerStack, *, scale: float = 1.0) -> None:
        super().__init__()
        self.positions, self.stack, self.scale = positions, stack, scale

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        places = self.positions(torch.arange(values.size(1), device=values.device))  # (T, D)
        if valid is not None:
            places = places[(valid.cumsum(dim=-1) - 1).clamp(min=0)]  # (B, T, D)
        placed: Tensor = self.stack(self.scale * values + places.to(values.dtype), valid=valid)
        return placed


class HierarchicalEncoder(Encoder):
    """Cuts a text at its end marks, reads the words of each sentence, then the sentences.

    The states of `Encoded` are the sentences', before they are summed up.
    """

    def __init__(
        self, embedding: TokenEmbedding, levels: Hierarchical, *, size: int, end: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding, self.levels, self.size, self.end = embedding, levels, size, end
        self.dropout = nn.Dropout(dropout)

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """tokens (B, N) -> states (B, S, D) and one vector a text."""
        words, real = self.sentences(tokens, valid)
        read = self.levels.read_words(self.embedding(words), real)
        states = self.levels.read_sentences(self.dropout(read), real)
        summary = self.levels.sentence_pooling(states, valid=real.any(dim=-1))
        return Encoded(states, real.any(dim=-1), self.dropout(summary))

    def sentences(self, tokens: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Words (B, S, W), zeros on the right, and which are real (B, S, W)."""
        sentence, place = cut_at(tokens, valid, end=self.end)
        kept = place >= 0
        row = torch.arange(len(tokens), device=tokens.device).unsqueeze(1).expand_as(tokens)[kept]
        sizes = [int(part.max()) + 1 if part.numel() else 1 for part in (sentence[kept], place[kept])]
        words, real = tokens.new_zeros(len(tokens), *sizes), valid.new_zeros(len(tokens), *sizes)
        words[row, sentence[kept], place[kept]] = tokens[kept]
        real[row, sentence[kept], place[kept]] = True
        return words, real

    def weights(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """(B, 2, N): of each token in its sentence, and of its sentence in the text; zeros at marks and padding."""
        words, real = self.sentences(tokens, valid)
        weights = self.levels.weights(self.embedding(words), valid=real)
        sentence, place = cut_at(tokens, valid, end=self.end)
        row = torch.arange(len(tokens), device=tokens.device).unsqueeze(1)  # (B, 1)
        inside = weights.words[row, sentence, place.clamp(min=0)]  # (B, N)
        whole = weights.sentences[row, sentence]
        return torch.stack([inside, whole], dim=1) * (place >= 0).unsqueeze(1)


def cut_at(tokens: Tensor, valid: Tensor, *, end: int, longest: int = LONGEST_SENTENCE) -> tuple[Tensor, Tensor]:
    """The sentence of each token and its place there, both (B, N); place −1: an end mark or padding.

    Sentences of nothing are no sentences, and those longer than `longest` are several.
    """
    mark = valid & (tokens == end)
    word = valid & ~mark
    count = word.cumsum(dim=-1)  # words so far, this one included
    before = torch.where(mark, count, 0).cummax(dim=-1).values  # words before this sentence
    place = (count - 1 - before) % longest
    sentence = ((word & (place == 0)).cumsum(dim=-1) - 1).clamp(min=0)
    return sentence, place.masked_fill(~word, -1)
