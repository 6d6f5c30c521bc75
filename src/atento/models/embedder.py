"""Skip-gram with negative sampling: each word tells the words around it from drawn ones.

(Mikolov et al., 2013, "Distributed representations of words and phrases".)

A network that says the next word from the words before it, side by side (Bengio et al., 2003, eq. 1).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.layers.losses import Loss, precise, token_cross_entropy
from atento.recurrent.unroll import real_first

# Axes: B batch, T time, V vocabulary, D size, P pairs of words, K drawn words a pair, M words to be foreseen.

NEGATIVES = 5
FLATTEN = 0.75  # drawn words are so much less uneven than the text's (sec. 2.2)
CHEAP = 8  # one product of matrices does so many numbers in the time that drawing, looking up and multiplying one takes
MARKS = 4  # padding, unknown, start and end have no meaning to learn


class WordsBatch(NamedTuple):
    """Texts as words."""

    tokens: Tensor  # (B, T)
    valid: Tensor  # (B, T)


def noise_of(counts: Sequence[int]) -> Tensor:
    """P_n (V,): how often each word is drawn, by its count to the power of ¾; marks never are."""
    shares = [0.0 if number < MARKS else count**FLATTEN for number, count in enumerate(counts)]
    if not any(shares):
        raise InputError("there are no words to learn.", found="only marks", fix="give texts of several words")
    return torch.tensor(shares) / sum(shares)


def words_first(batch: WordsBatch) -> WordsBatch:
    """Padding to the right, wherever it stood; its tokens become 0."""
    order = real_first(batch.valid)
    tokens, valid = batch.tokens.gather(1, order), batch.valid.gather(1, order)
    return WordsBatch(tokens.masked_fill(~valid, 0), valid)


def words_before(tokens: Tensor, window: int) -> Tensor:
    """tokens (B, T) -> (B, T, window): the words before each, the nearest first; 0 before the start."""
    padded = functional.pad(tokens, (window, 0))
    return padded.unfold(1, window, 1)[:, :-1].flip(-1)


class SkipGram(nn.Module):
    """log σ(v'_c · v_w) + Σ_k E_{n ~ P_n} log σ(−v'_n · v_w) for each word w and each word c at most `window` away
    (eq. 4).

    While it learns the K words n are drawn, unless the vocabulary is so small that the whole expectation is cheaper; in
    evaluation mode it is always whole. `embedding` holds v, the vectors that are kept; `contexts` holds v'.
    """

    noise: Tensor

    def __init__(self, noise: Tensor, size: int, *, window: int, negatives: int = NEGATIVES) -> None:
        super().__init__()
        self.window, self.negatives = window, negatives
        self.embedding = TokenEmbedding(len(noise), size)
        self.contexts = TokenEmbedding(len(noise), size)
        nn.init.zeros_(self.contexts.table.weight.detach())
        self.register_buffer("noise", noise)

    def forward(self, batch: WordsBatch) -> Tensor:
        """Scores (M, V) of every word in the place of each real one, row by row; padding may stand anywhere."""
        rows = words_first(batch)
        return self.foresee(rows.tokens)[rows.valid]

    def loss(self, batch: WordsBatch) -> Loss:
        """Minus eq. 4 of every pair."""
        rows = words_first(batch)
        found = list(pairs(rows, self.window))
        words, near = (torch.cat([pair[side] for pair in found]) for side in (0, 1))  # (P,)
        vectors = self.embedding(words)  # (P, D)
        true = functional.logsigmoid(precise((vectors * self.contexts(near)).sum(-1)))  # (P,)
        return Loss(-(true + self.refused(words, vectors)).sum(), len(words))

    def refused(self, words: Tensor, vectors: Tensor) -> Tensor:
        """The second term (P,): how surely drawn words are not taken for true ones."""
        distinct, place = torch.unique(words, return_inverse=True)
        if self.training and distinct.numel() * self.noise.numel() > CHEAP * words.numel() * self.negatives:
            return self.by_drawing(vectors)
        return self.in_full(distinct)[place]

    def by_drawing(self, vectors: Tensor) -> Tensor:
        """Σ_k log σ(−v'_n · v_w) of K words drawn for each of the pairs: vectors (P, D) -> (P,)."""
        drawn = torch.multinomial(self.noise, len(vectors) * self.negatives, replacement=True)
        others = self.contexts(drawn.view(-1, self.negatives))  # (P, K, D)
        return functional.logsigmoid(-precise((others * vectors.unsqueeze(-2)).sum(-1))).sum(-1)

    def in_full(self, words: Tensor) -> Tensor:
        """K Σ_n P_n log σ(−v'_n · v_w) over the whole vocabulary, for each of some words (W,)."""
        scores = precise(self.embedding(words) @ self.contexts.table.weight.T)  # (W, V)
        return self.negatives * (functional.logsigmoid(-scores) @ self.noise.to(scores))

    def foresee(self, tokens: Tensor) -> Tensor:
        """Scores (B, T, V) of every word as the next one: how well it goes with each word before."""
        before = self.embedding(words_before(tokens, self.window)).sum(dim=-2)  # (B, T, D)
        return functional.linear(before, self.contexts.table.weight)


def pairs(rows: WordsBatch, window: int) -> Iterator[tuple[Tensor, Tensor]]:
    """(word, word near it), each pair in both orders; marks are in none."""
    known = rows.valid & (rows.tokens >= MARKS)
    for apart in range(1, window + 1):
        both = known[:, apart:] & known[:, :-apart]
        left, right = rows.tokens[:, :-apart][both], rows.tokens[:, apart:][both]
        yield left, right
        yield right, left


# Axes: B batch, T time, V vocabulary, D size, M words to be foreseen.


class NextWord(nn.Module):
    """y = b + U tanh(d + H x), where x are the vectors of the `window` words before, side by side.

    All words of a text are foreseen at once. The rows of U, which read the layer before the last, are vectors of words
    too: where `tied`, they are those that x is made of (Press & Wolf, 2017).
    """

    def __init__(
        self, vocabulary_size: int, size: int, *, window: int, tied: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.window = window
        self.embedding = TokenEmbedding(vocabulary_size, size)
        self.mix = nn.Linear(window * size, size)
        self.outputs = None if tied else TokenEmbedding(vocabulary_size, size)
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: WordsBatch) -> Tensor:
        """Scores (M, V) of every word in the place of each real one, row by row; padding may stand anywhere."""
        rows = words_first(batch)
        return self.foresee(rows.tokens)[rows.valid]

    def features(self, tokens: Tensor) -> Tensor:
        """The layer before the last (B, T, D), one vector for each word to be foreseen."""
        before = self.embedding(words_before(tokens, self.window)).flatten(-2)  # (B, T, window D)
        return torch.tanh(self.mix(self.dropout(before)))

    def foresee(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of every word as the next one."""
        return self.to_logits(self.features(tokens))

    def to_logits(self, features: Tensor) -> Tensor:
        """(..., D) -> (..., V)."""
        table = self.embedding if self.outputs is None else self.outputs
        return functional.linear(self.dropout(features), table.table.weight, self.bias)

    def loss(self, batch: WordsBatch) -> Loss:
        """Cross-entropy of every known word."""
        rows = words_first(batch)
        known = rows.valid & (rows.tokens >= MARKS)
        return token_cross_entropy(self.to_logits(self.features(rows.tokens)[known]), rows.tokens[known])
