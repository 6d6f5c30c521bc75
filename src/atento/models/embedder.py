"""Models that learn word embeddings.

`SkipGram` with negative sampling (Mikolov et al., 2013, "Distributed representations of words and phrases") predicts
the words around each word; `NextWord` (Bengio et al., 2003, eq. 1) predicts each word from those before it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers.dropout import Dropout
from atento.layers.embeddings import TokenEmbedding
from atento.layers.losses import Loss, at_least_float32, token_cross_entropy
from atento.layers.masking import left_aligned
from atento.layers.products import Linear, linear

# Axes: B batch, T time, V vocabulary, D size, P pairs of words, K negative samples of a pair, W words,
# M words to predict.

NEGATIVES = 5
NOISE_POWER = 0.75  # of a word's count in the noise distribution (sec. 2.2)
EXACT_COST_RATIO = 8  # drawing, looking up and multiplying one number costs as much as so many in a matrix product
SPECIAL_TOKENS = 4  # padding, unknown, start and end have no embedding to learn


class WordsBatch(NamedTuple):
    """Texts as words."""

    tokens: Tensor  # (B, T)
    valid: Tensor  # (B, T)


def noise_distribution(counts: Sequence[int]) -> Tensor:
    """P_n (V,): the probability of each word as a negative sample, ∝ count^¾; special tokens have none."""
    shares = [0.0 if number < SPECIAL_TOKENS else count**NOISE_POWER for number, count in enumerate(counts)]
    if not any(shares):
        raise InputError("there are no words to learn.", found="only special tokens", fix="give texts of several words")
    return torch.tensor(shares) / sum(shares)


def preceding_words(tokens: Tensor, window: int) -> Tensor:
    """tokens (B, T) -> (B, T, window): the words before each, the nearest first; 0 before the start."""
    padded = functional.pad(tokens, (window, 0))
    return padded.unfold(1, window, 1)[:, :-1].flip(-1)


class SkipGram(nn.Module):
    """log σ(v'_c · v_w) + Σ_k E_{n ~ P_n} log σ(−v'_n · v_w) for each word w and each word c at most `window` away
    (eq. 4).

    In training the K words n are sampled, unless the vocabulary is so small that the exact expectation is cheaper; in
    evaluation mode it is always exact. `embedding` holds v, the vectors that are kept; `contexts` holds v'.
    """

    def __init__(self, noise: Tensor, size: int, *, window: int, negatives: int = NEGATIVES) -> None:
        super().__init__()
        self.window, self.negatives = window, negatives
        self.embedding = TokenEmbedding(len(noise), size)
        self.contexts = TokenEmbedding(len(noise), size)
        nn.init.zeros_(self.contexts.table.weight.detach())
        self.noise = nn.Buffer(noise)

    def forward(self, batch: WordsBatch) -> Tensor:
        """Scores (M, V) of every word in the place of each real one, row by row; padding may stand anywhere."""
        tokens, valid = left_aligned(*batch)
        return self.predict(tokens)[valid]

    def loss(self, batch: WordsBatch) -> Loss:
        """Minus eq. 4 for every pair."""
        found = list(skip_gram_pairs(*left_aligned(*batch), self.window))
        words, near = (torch.cat([pair[side] for pair in found]) for side in (0, 1))  # (P,)
        vectors = self.embedding(words)  # (P, D)
        positive = functional.logsigmoid(at_least_float32((vectors * self.contexts(near)).sum(-1)))  # (P,)
        return Loss(-(positive + self.negative_term(words, vectors)).sum(), len(words))

    def negative_term(self, words: Tensor, vectors: Tensor) -> Tensor:
        """The second term (P,) of eq. 4, sampled or exact."""
        distinct, place = torch.unique(words, return_inverse=True)
        if self.training and distinct.numel() * self.noise.numel() > EXACT_COST_RATIO * words.numel() * self.negatives:
            return self.sampled_negatives(vectors)
        return self.expected_negatives(distinct)[place]

    def sampled_negatives(self, vectors: Tensor) -> Tensor:
        """Σ_k log σ(−v'_n · v_w) of K words sampled for each pair: vectors (P, D) -> (P,)."""
        drawn = torch.multinomial(self.noise, len(vectors) * self.negatives, replacement=True)
        others = self.contexts(drawn.view(-1, self.negatives))  # (P, K, D)
        return functional.logsigmoid(-at_least_float32((others * vectors.unsqueeze(-2)).sum(-1))).sum(-1)

    def expected_negatives(self, words: Tensor) -> Tensor:
        """K Σ_n P_n log σ(−v'_n · v_w) over the whole vocabulary, for each of the words (W,)."""
        scores = at_least_float32(self.embedding(words) @ self.contexts.table.weight.T)  # (W, V)
        return self.negatives * (functional.logsigmoid(-scores) @ self.noise.to(scores))

    def predict(self, tokens: Tensor) -> Tensor:
        """Scores (B, T, V) of every word as the next one: its products with the words before, summed."""
        before = self.embedding(preceding_words(tokens, self.window)).sum(dim=-2)  # (B, T, D)
        return linear(before, self.contexts.table.weight)


def skip_gram_pairs(tokens: Tensor, valid: Tensor, window: int) -> Iterator[tuple[Tensor, Tensor]]:
    """(word, context word), each pair in both orders; pairs with special tokens are left out."""
    known = valid & (tokens >= SPECIAL_TOKENS)
    for apart in range(1, window + 1):
        both = known[:, apart:] & known[:, :-apart]
        left, right = tokens[:, :-apart][both], tokens[:, apart:][both]
        yield left, right
        yield right, left


class NextWord(nn.Module):
    """y = b + U tanh(d + H x), where x is the concatenation of the vectors of the `window` words before.

    All words of a text are predicted in parallel. The rows of U are vectors of words too: where `tied`, they are those
    that x is made of (Press & Wolf, 2017).
    """

    def __init__(
        self, vocabulary_size: int, size: int, *, window: int, tied: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.window = window
        self.embedding = TokenEmbedding(vocabulary_size, size)
        self.mix = Linear(window * size, size)
        self.outputs = None if tied else TokenEmbedding(vocabulary_size, size)
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = Dropout(dropout)

    def forward(self, batch: WordsBatch) -> Tensor:
        """Logits (M, V) of every word in the place of each real one, row by row; padding may stand anywhere."""
        tokens, valid = left_aligned(*batch)
        return self.predict(tokens)[valid]

    def features(self, tokens: Tensor) -> Tensor:
        """The hidden layer (B, T, D), one vector for each word to predict."""
        before = self.embedding(preceding_words(tokens, self.window)).flatten(-2)  # (B, T, window D)
        return torch.tanh(self.mix(self.dropout(before)))

    def predict(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of every word as the next one."""
        return self.to_logits(self.features(tokens))

    def to_logits(self, features: Tensor) -> Tensor:
        """(..., D) -> (..., V)."""
        table = self.embedding if self.outputs is None else self.outputs
        return linear(self.dropout(features), table.table.weight, self.bias)

    def loss(self, batch: WordsBatch) -> Loss:
        """Cross-entropy of every word of the vocabulary; special tokens are left out."""
        tokens, valid = left_aligned(*batch)
        known = valid & (tokens >= SPECIAL_TOKENS)
        return token_cross_entropy(self.to_logits(self.features(tokens)[known]), tokens[known])
