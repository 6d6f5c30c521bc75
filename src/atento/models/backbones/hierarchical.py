"""Words make sentences, sentences make a document: an encoder that reads in two levels (Yang et al., 2016).

Which short runs of words occur, wherever they stand: read beside a sequence, they need no order to be learned.
"""

import torch
from torch import Tensor, nn

from atento.blocks.hierarchical import Hierarchical
from atento.blocks.transformer import TransformerStack
from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.layers.masking import clean
from atento.layers.positions import Positions
from atento.models.protocols import Encoded, Encoder
from atento.recurrent.unroll import real_first

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


# Axes: B batch, N time, G runs, D size.

BUCKETS = 50_021  # a prime; runs that fall into the same one share a vector
FACTORS = (1, 1_000_003, 998_244_353)  # of the words of a run
PACE = 10.0  # a run is met seldom, so what it says grows so much faster than other weights


class RunsOfWords(nn.Module):
    """Σ of a vector for each run of one to `longest` tokens, times `PACE` over √runs.

    tokens (B, N), valid (B, N) -> (B, D). Runs are hashed (Joulin et al., 2017, sec. 2.1); what they say is added to
    what a deep model says (Cheng et al., 2016). The vectors begin at zero: at first nothing is added.
    """

    def __init__(self, longest: int, size: int, *, dropout: float = 0.0, buckets: int = BUCKETS) -> None:
        super().__init__()
        if not 1 <= longest <= len(FACTORS):
            raise InputError(
                f"runs of words are 1 to {len(FACTORS)} words long.", found=f"longest={longest}", fix="longest=2"
            )
        self.longest, self.size = longest, size
        self.table = nn.Embedding(buckets, size)  # 0 is no run
        nn.init.zeros_(self.table.weight)
        self.dropout = dropout

    def forward(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """One vector a text; a text of nothing gives zeros."""
        runs = self.numbers(tokens, valid)  # (B, G)
        real = runs > 0
        if self.training and self.dropout:
            real = real & (torch.rand(runs.shape, device=runs.device) >= self.dropout)
        found = clean(self.table(runs), real).sum(dim=1)
        kept = PACE * found / real.sum(dim=1, keepdim=True).clamp(min=1).sqrt()
        return torch.as_tensor(kept)

    def numbers(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """The bucket (B, G) of each run, 0 where there is none."""
        order = real_first(valid)
        tokens, valid = tokens.gather(1, order), valid.gather(1, order)
        tokens = tokens.masked_fill(~valid, 0)
        found = []
        for length in range(1, min(self.longest, tokens.size(1)) + 1):
            parts = [tokens[:, at : tokens.size(1) - length + 1 + at] * FACTORS[at] for at in range(length)]
            run = torch.stack(parts).sum(dim=0)
            number = (run + length) % (self.table.num_embeddings - 1) + 1
            found.append(number.masked_fill(~valid[:, length - 1 :], 0))
        return torch.cat(found, dim=1)
