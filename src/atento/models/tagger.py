"""Aligned many to many: something is said of every step of a sequence.

Words by their letters: what a model knows of a word it never met.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.crf import LinearChain
from atento.layers.embeddings import TokenEmbedding
from atento.layers.losses import Loss, precise
from atento.layers.masking import clean
from atento.models.classifier import LabelledBatch, require_width
from atento.models.heads import Head
from atento.models.protocols import Encoder
from atento.models.summaries import end_states
from atento.recurrent import GRU
from atento.recurrent.stack import Stack

# Axes: B batch, N time, M real steps of all sequences, C labels.


class Decided(NamedTuple):
    """The likeliest labels of each sequence; padding has label 0."""

    labels: Tensor  # (B, N)
    log_probability: Tensor  # (B,) of all of them together


class Tagger(nn.Module):
    """An encoder reads, the head judges each of its states; with a chain, labels are judged together."""

    def __init__(self, encoder: Encoder, head: Head, *, chain: LinearChain | None = None) -> None:
        super().__init__()
        require_width(encoder, head)
        if chain is not None and chain.labels != head.width:
            raise InputError(
                "a chain judges as many labels as the head says.",
                found=f"head of {head.width}, chain of {chain.labels}",
                fix=f"make the chain with labels={head.width}",
            )
        self.encoder, self.head, self.chain = encoder, head, chain

    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (M, C) of the real steps only, row by row; padding costs nothing."""
        states = self.encoder.encode(batch.source, batch.valid).states
        outputs: Tensor = self.head(states[batch.valid])
        return outputs

    def scores(self, source: Tensor, valid: Tensor) -> Tensor:
        """Outputs (B, N, C) of all steps, zeros at padding."""
        return clean(self.head(self.encoder.encode(source, valid).states), valid)

    def loss(self, batch: LabelledBatch) -> Loss:
        """How wrong the head is on each real step; of a chain, minus the log-probability of each sequence."""
        if self.chain is None:
            return self.head.loss(self(batch), batch.truth[batch.valid])
        return self.chain.loss(self.scores(batch.source, batch.valid), batch.truth, valid=batch.valid)

    def decide(self, source: Tensor, valid: Tensor) -> Decided:
        """The likeliest labels, each by itself or, of a chain, all together, and how likely they are."""
        scores = precise(self.scores(source, valid))
        if self.chain is not None:
            best = self.chain.best(scores, valid=valid)
            return Decided(best.labels, best.score - self.chain.log_partition(scores, valid=valid))
        said, labels = scores.log_softmax(dim=-1).max(dim=-1)
        return Decided(labels.masked_fill(~valid, 0), said.masked_fill(~valid, 0.0).sum(dim=-1))

    def chances(self, source: Tensor, valid: Tensor) -> Tensor:
        """How likely each label is at each step (B, N, C), whatever the others are; zeros at padding."""
        scores = precise(self.scores(source, valid))
        if self.chain is not None:
            return self.chain.marginals(scores, valid=valid)
        return clean(scores.softmax(dim=-1), valid)


def as_tagger(module: nn.Module) -> Tagger:
    """The module, typed."""
    if not isinstance(module, Tagger):
        raise TypeError(f"tag works with a Tagger, not {type(module).__name__}")
    return module


def unknown_words(source: Tensor, valid: Tensor, share: float, *, unknown: int) -> Tensor:
    """Sources (B, N) or (B, N, 1 + L) with about this share of the real words made unknown; letters stay."""
    words = source if source.dim() == 2 else source[..., 0]
    dropped = words.masked_fill((torch.rand(words.shape, device=words.device) < share) & valid, unknown)
    return dropped if source.dim() == 2 else torch.cat([dropped.unsqueeze(-1), source[..., 1:]], dim=-1)


# Axes: B batch, N words, L letters, W words, C size of a letter, D size.

LETTER_SIZE = 32


class LetterReader(nn.Module):
    """Letters (W, L), 0 after the last one -> (W, width): a GRU in each direction, both where they have read the word.

    (As Ling et al., 2015, sec. 3.2.) The state that ends at the first letter knows how a word begins, the other how it
    ends; a word of no letters gives zeros.
    """

    def __init__(self, alphabet: int, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        if width < 2 or width % 2:
            raise InputError(
                "model.characters must be even: letters are read in both directions, each half as wide.",
                found=f"model.characters={width}",
                fix=f"--set model.characters={width + 1}",
            )
        self.alphabet, self.width = alphabet, width
        self.table = nn.Embedding(alphabet, LETTER_SIZE, padding_idx=0)
        self.stack = Stack(GRU, LETTER_SIZE, width // 2, bidirectional=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, letters: Tensor) -> Tensor:
        """Each word by itself."""
        real = letters != 0
        states: Tensor = self.stack(self.dropout(self.table(letters)), valid=real).outputs  # (W, L, width)
        return end_states(states, real)


class WordEmbedding(TokenEmbedding):
    """A word's own vector plus what its letters say: (B, N, 1 + L), the word's number and its letters -> (B, N, size).

    Both are about as long as 1; `loud` makes them √size as long, as a Transformer's embedding does (Vaswani et al.,
    2017, sec. 3.4). Letters None: they are not read.
    """

    def __init__(
        self,
        vocabulary_size: int,
        size: int,
        *,
        letters: LetterReader | None,
        loud: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocabulary_size, size, dropout=dropout)
        self.letters, self.factor = letters, math.sqrt(size) if loud else 1.0
        self.map = None if letters is None else nn.Linear(letters.width, size, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Both, added."""
        vectors = self.table(tokens[..., 0])
        if self.letters is not None and self.map is not None:
            spelled = nn.functional.pad(tokens[..., 1:], (0, 1)).flatten(0, -2)  # (B · N, L + 1): never empty
            vectors = vectors + self.map(self.spell(self.letters, spelled)).view_as(vectors) / math.sqrt(self.size)
        dropped: Tensor = self.dropout(vectors * self.factor)
        return dropped

    def spell(self, reader: LetterReader, letters: Tensor) -> Tensor:
        """What the letters of each word say; on a processor each distinct word is read once, a GPU has read them all
        sooner than sorted them.
        """
        if letters.device.type != "cpu":
            return torch.as_tensor(reader(letters))
        distinct, place = torch.unique(letters, dim=0, return_inverse=True)  # (W, L + 1), (B · N,)
        read: Tensor = reader(distinct)
        return read[place]
