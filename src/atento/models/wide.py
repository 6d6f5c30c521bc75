"""The wide part of a wide & deep model (Cheng et al., 2016): a linear model of sparse features beside a network.

The linear model is solved before training and stays as it was solved: it fits its own training part so well that a
network beside it would find nothing left to learn there. The network learns alone, and outputs are a weighted sum of
both, a · linear + b · network, whose two weights the validation part chooses (stacking, Wolpert, 1992).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.masking import left_aligned
from atento.layers.uncompiled import without_compiler

# Axes: B batch, N time, C outputs, F features of the table, G n-grams of a text.

NO_KEY = 2**62  # the key of an unused row, larger than every other
MOST_STEPS = 50  # of the search for the weights of both parts
FARTHEST = 6.0  # their logarithms from 0
START = 2  # the token before the first, in every vocabulary


class FeatureTable(nn.Module):
    """A row of numbers for each of at most `capacity` features, found by the feature's key; others have zeros.

    keys (...,) whole numbers -> rows (..., width). Keys are kept in order, and found by binary search.
    """

    def __init__(self, capacity: int, width: int) -> None:
        super().__init__()
        self.capacity, self.width = capacity, width
        self.keys = nn.Buffer(torch.full((capacity,), NO_KEY))
        self.rows = nn.Buffer(torch.zeros(capacity + 1, width))  # the last stands for every feature that is not held

    @torch.no_grad()
    def fill(self, keys: Tensor, rows: Tensor) -> None:
        """Hold these features (F,) with their rows (F, width)."""
        distinct = len(set(keys.tolist()))
        if len(keys) > self.capacity or distinct < len(keys):
            raise InputError(
                f"a table of {self.capacity} features holds each of them once.",
                found=f"{len(keys)} features, {distinct} of them distinct",
                fix="leave the rarest out",
            )
        order = keys.argsort()
        self.keys.fill_(NO_KEY)[: len(keys)] = keys[order].to(self.keys)
        self.rows.zero_()[: len(keys)] = rows[order].to(self.rows)

    def find(self, keys: Tensor) -> Tensor:
        """The number of each key's row; `capacity` where it is not held."""
        first = torch.zeros_like(keys)  # the first row whose key is not smaller lies `first` rows or more from the top
        step = 1 << max(0, self.capacity.bit_length() - 1)
        while step:
            beyond = first + step
            smaller = (beyond <= self.capacity) & (self.keys[(beyond - 1).clamp(max=self.capacity - 1)] < keys)
            first = torch.where(smaller, beyond, first)
            step //= 2
        held = (first < self.capacity) & (self.keys[first.clamp(max=self.capacity - 1)] == keys) & (keys < NO_KEY)
        return torch.where(held, first, self.capacity)


class WidePart(nn.Module, ABC):
    """A linear model beside a network, and how much of each the outputs are made of."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Buffer(torch.zeros(width))
        self.weights_of_both = nn.Buffer(torch.ones(2))  # a, b

    @abstractmethod
    def forward(self, source: Tensor, valid: Tensor) -> Tensor:
        """The outputs of the linear model alone."""

    def mix(self, linear: Tensor, network: Tensor) -> Tensor:
        """a · linear + b · network."""
        return self.weights_of_both[0] * linear + self.weights_of_both[1] * network

    @torch.no_grad()
    def weigh(self, loss: Callable[[Tensor, Tensor], Tensor], *, examples: int) -> None:
        """Choose a and b by a mean loss of them, of so many examples."""
        self.weights_of_both.copy_(best_weights(loss, examples=examples))


class WideNGrams(WidePart):
    """W x + b of the n-grams that a text has: x_t = s_t / √Σ s², over the distinct n-grams t of 1 to `longest` tokens,
    and over its first 1 to `longest` tokens after `START`: that a text begins so is a feature of its own.

    tokens (B, N), valid (B, N) -> (B, C). An n-gram's key is its tokens as the digits of one number, so that no two
    share a row. A text without any n-gram of the table gives the bias.
    """

    def __init__(self, vocabulary_size: int, longest: int, width: int, *, capacity: int) -> None:
        super().__init__(width)
        self.vocabulary_size = vocabulary_size
        most = int(math.log(NO_KEY - 1, max(2, vocabulary_size)))
        self.longest = max(1, min(longest, most - 1))  # one digit is for `START`
        self.table = FeatureTable(capacity, width + 1)  # W s of each label, and s²

    @torch.no_grad()
    def fill(self, keys: Tensor, weights: Tensor, scales: Tensor, bias: Tensor) -> None:
        """Hold the n-grams of these keys (F,) with their weights (F, C) and scales s (F,)."""
        scaled = torch.cat([weights * scales.unsqueeze(1), scales.square().unsqueeze(1)], dim=1)
        self.table.fill(keys, scaled)
        self.bias.copy_(bias)

    def key(self, ngram: Sequence[int]) -> int:
        """The tokens of an n-gram as the digits of a number."""
        number = 0
        for token in ngram:
            number = number * self.vocabulary_size + token
        return number

    def forward(self, source: Tensor, valid: Tensor) -> Tensor:
        """The linear outputs of each text."""
        rows = self.table.rows[self.found(source, valid)].sum(dim=1)  # (B, C + 1)
        return rows[:, :-1] / rows[:, -1:].clamp(min=torch.finfo(rows.dtype).tiny).sqrt() + self.bias

    def found(self, source: Tensor, valid: Tensor) -> Tensor:
        """The number (B, G) of each distinct n-gram's row; `capacity` for repetitions and what is not held."""
        rows = self.table.find(self.keys(source, valid)).sort(dim=1).values
        again = torch.cat([torch.zeros_like(rows[:, :1], dtype=torch.bool), rows[:, 1:] == rows[:, :-1]], dim=1)
        return rows.masked_fill(again, self.table.capacity)

    def tokens_of(self, row: int) -> list[int]:
        """The n-gram of a row of the table."""
        number, tokens = int(self.table.keys[row]), list[int]()
        while number:
            number, token = divmod(number, self.vocabulary_size)
            tokens.append(token)
        return tokens[::-1]

    def keys(self, source: Tensor, valid: Tensor) -> Tensor:
        """The key (B, G) of every n-gram, those from the start among them; `NO_KEY` where there is none."""
        tokens, valid = left_aligned(source, valid)
        count, found, numbers = tokens.size(1), [], torch.zeros_like(tokens)
        tokens, valid = (nn.functional.pad(part, (0, self.longest)) for part in (tokens, valid))
        begin = torch.full_like(tokens[:, :1], START)
        for first in range(self.longest):  # as many lengths for a short text, as an exported graph has them all
            numbers = numbers * self.vocabulary_size + tokens[:, first : first + count]
            begin = begin * self.vocabulary_size + tokens[:, first : first + 1]
            for ngrams, last in ((numbers, count), (begin, 1)):
                found.append(ngrams.masked_fill(~valid[:, first : first + last], NO_KEY))
        return torch.cat(found, dim=1)


def best_weights(loss: Callable[[Tensor, Tensor], Tensor], *, examples: int) -> Tensor:
    """The weights (a, b) that make a mean loss of so many examples least.

    Their logarithms have a standard normal prior, so that few examples move them little.
    """
    logs = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    search = without_compiler(torch.optim.LBFGS)([logs], max_iter=MOST_STEPS, line_search_fn="strong_wolfe")

    def cost() -> Tensor:
        search.zero_grad()
        found = loss(*logs.clamp(-FARTHEST, FARTHEST).exp()) + logs.square().sum() / (2 * max(1, examples))
        found.backward()  # type: ignore[no-untyped-call]
        return found

    with torch.enable_grad():
        search.step(cost)  # type: ignore[no-untyped-call]
    return logs.detach().clamp(-FARTHEST, FARTHEST).exp()
