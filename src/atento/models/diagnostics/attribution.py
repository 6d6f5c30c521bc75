"""Integrated gradients (Sundararajan et al., 2017): how much each part of an input moved a score.

Attributions are (x − x′) ∫ ∂f/∂x along the straight line from a baseline x′ to the input x. Here x are the embeddings
of tokens, whose baseline is the zero vector of padding, and numbers, whose baseline is zero. They sum to f(x) − f(x′)
(completeness), but for the error of the integral, which is reported.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.layers.embeddings import TokenEmbedding
from atento.models.classifier import NGramFeatures

# Axes: N items, E features of an embedding, G n-grams.

FEWEST, MOST = 32, 512  # points of the integral
GRADE = 3  # the parts of the line grow with this power
TOLERANCE = 0.01  # of f(x) − f(x′)
NGRAMS = "ngrams"
OVERLAP = "overlap"  # the embedding of what the other text has of a token
NETWORK = re.compile(r"(?:^|\.)(?:members|networks)\.\d+(?=\.)")  # one of several networks, in the name of its parts

Score = Callable[[Tensor | None], Tensor]  # numbers, or None where tokens are read -> a scalar


class Attributions(NamedTuple):
    """What each item of an input contributes to a score."""

    tokens: Tensor  # (N,) of each embedded token, in the order in which they are read
    values: Tensor | None  # of each number, in the shape of the numbers
    score: float  # f(x)
    baseline: float  # f(x′)
    points: int  # of the integral

    @property
    def remainder(self) -> float:
        """What the attributions lack of f(x) − f(x′), as a fraction of it."""
        total = float(self.tokens.sum()) + (0.0 if self.values is None else float(self.values.sum()))
        change = self.score - self.baseline
        return abs(total - change) / max(abs(change), 1e-12)


def integrated_gradients(
    model: nn.Module, score: Score, values: Tensor | None = None, *, tolerance: float = TOLERANCE, most: int = MOST
) -> Attributions:
    """The attributions of one input, by the midpoint rule on parts that are finer near the baseline.

    `score` passes the input through the model; the points are doubled from 32 until the remainder is below the
    tolerance, or until there are `most`.
    """
    points = FEWEST
    with torch.backends.cudnn.flags(enabled=False), torch.enable_grad():  # cuDNN has no gradient in evaluation mode
        while True:
            found = with_points(model, score, values, points)
            if found.remainder < tolerance or 2 * points > most:
                return found
            points *= 2


def with_points(model: nn.Module, score: Score, values: Tensor | None, points: int) -> Attributions:
    """The attributions by the midpoint rule with so many points."""
    of_vectors: list[Tensor] = []
    of_values: Tensor | None = None
    entries: list[EmbeddedTokens] = []
    for scale, width in graded_line(points):
        with scaled_embeddings(model, scale) as read:
            scaled = None if values is None else (scale * values).detach().requires_grad_()
            result = width * score(scaled)
        entries = read
        leaves = [entry.leaf for entry in entries] + ([] if scaled is None else [scaled])
        gradients: Sequence[Tensor | None] = (
            torch.autograd.grad(result, leaves, allow_unused=True) if result.requires_grad else [None] * len(leaves)
        )
        filled = [
            torch.zeros_like(leaf) if gradient is None else gradient
            for leaf, gradient in zip(leaves, gradients, strict=True)
        ]
        if scaled is not None:
            last = filled.pop()
            of_values = last if of_values is None else of_values + last
        of_vectors = filled if not of_vectors else [one + other for one, other in zip(of_vectors, filled, strict=True)]
    with torch.no_grad():
        whole = float(score(values))
        with scaled_embeddings(model, 0.0):
            nothing = float(score(None if values is None else torch.zeros_like(values)))
    parts = [
        entry.per_token((entry.vectors * gradient).sum(dim=-1))
        for entry, gradient in zip(entries, of_vectors, strict=True)
    ]
    by_value = None if values is None or of_values is None else values * of_values
    return Attributions(of_all_networks(parts), by_value, whole, nothing, points)


def graded_line(points: int) -> Iterator[tuple[float, float]]:
    """The middle and the width of each part of the line from 0 to 1, finer near 0: there a layer norm changes most."""
    bounds = [(point / points) ** GRADE for point in range(points + 1)]
    for low, high in pairwise(bounds):
        yield (low + high) / 2, high - low


class EmbeddedTokens(NamedTuple):
    """One call of an embedding: its vectors, and the leaf that stands for them at a point of the line."""

    part: str
    tokens: Tensor  # (…,) numbers of tokens, 0 for padding
    vectors: Tensor  # (…, E)
    leaf: Tensor
    longest: int = 0  # of n-grams: the words of the longest; 0: tokens
    network: str = ""  # which one, where several are one model

    def per_token(self, values: Tensor) -> "TokenSums":
        """Attributions (…,) of the real tokens in their order; those of an n-gram in equal parts for its words."""
        values, tokens = values.detach().double().cpu(), self.tokens.flatten().cpu()
        if not self.longest:
            return TokenSums(self.part, tokens[tokens != 0], values.flatten()[tokens != 0], self.network)
        count, begin = len(tokens), 0
        sums = torch.zeros(count, dtype=values.dtype)
        for length in range(1, self.longest + 1):
            grams = values[0, begin : begin + count - length + 1]
            for place in range(length):
                sums[place : place + len(grams)] += grams / length
            begin += len(grams)
        return TokenSums(self.part, tokens, sums, self.network)


class TokenSums(NamedTuple):
    """Attributions (N,) by way of one part."""

    part: str
    tokens: Tensor  # (N,) their numbers
    values: Tensor
    network: str = ""


def of_all_networks(parts: Sequence[TokenSums]) -> Tensor:
    """Each token by way of all networks that read it."""
    networks = sorted({part.network for part in parts})
    sums = [joined([part for part in parts if part.network == network]) for network in networks]
    return torch.stack(sums).sum(dim=0) if sums else torch.zeros(0, dtype=torch.float64)


def joined(parts: Sequence[TokenSums]) -> Tensor:
    """Token embeddings one after another; what comes beside them (overlaps, n-grams) is added to the same tokens."""
    values = together([part for part in parts if part.part == "tokens"], "values", torch.float64)
    numbers = together([part for part in parts if part.part == "tokens"], "tokens", torch.long)
    for kind in (OVERLAP, NGRAMS):
        beside = [part for part in parts if part.part == kind]
        if not beside:
            continue
        more = together(beside, "values", torch.float64)
        if kind == NGRAMS:  # which also read the ends of sentences, where a hierarchical encoder does not
            values = spread_over(together(beside, "tokens", torch.long), numbers, values)
        values = values + more
    return values


def together(parts: Sequence[TokenSums], name: str, dtype: torch.dtype) -> Tensor:
    """One field of all parts, one after another."""
    return torch.cat([torch.zeros(0, dtype=dtype), *(getattr(part, name) for part in parts)])


def spread_over(tokens: Tensor, some: Tensor, values: Tensor) -> Tensor:
    """Values of some of the tokens, which are in the same order, with 0 for the others."""
    found, at = torch.zeros(len(tokens), dtype=values.dtype), 0
    for place, token in enumerate(tokens.tolist()):
        if at < len(some) and int(some[at]) == token:
            found[place] = values[at]
            at += 1
    return found


@contextmanager
def scaled_embeddings(model: nn.Module, scale: float) -> Iterator[list[EmbeddedTokens]]:
    """Every embedding of what the model reads times a scale; the products are leaves that gradients reach."""
    found: list[EmbeddedTokens] = []
    with ExitStack() as undo:
        for name, part, network in reading_embeddings(model):
            read: list[Tensor] = []  # what n-grams are made of

            def note(module: nn.Module, args: tuple[Any, ...], *, read: list[Tensor] = read) -> None:
                read[:] = [args[0]]

            def scaled(
                module: nn.Module,
                args: tuple[Any, ...],
                output: Tensor,
                *,
                name: str = name,
                part: nn.Module = part,
                network: str = network,
                read: list[Tensor] = read,
            ) -> Tensor:
                tokens = args[0][..., 0] if args[0].dim() == output.dim() else args[0]
                leaf = (scale * output).detach().requires_grad_(torch.is_grad_enabled())
                longest = part.longest if isinstance(part, NGramFeatures) else 0
                asked = read[0] if longest else tokens
                found.append(EmbeddedTokens(name, asked, output.detach(), leaf, longest, network))
                return leaf

            if isinstance(part, NGramFeatures):
                undo.callback(part.register_forward_pre_hook(note).remove)
            target = part.table if isinstance(part, NGramFeatures) else part
            undo.callback(target.register_forward_hook(scaled).remove)
        yield found


def reading_embeddings(model: nn.Module) -> list[tuple[str, nn.Module, str]]:
    """The embeddings of the source, by kind, with the name of their network where a model consists of several; those
    of a decoder that has an encoder beside it are left out.
    """
    names = [name for name, _ in model.named_children()]
    found: list[tuple[str, nn.Module, str]] = []
    for name, part in model.named_modules():
        if "encoder" in names and name.startswith("decoder"):
            continue
        network = "".join(NETWORK.findall(name))
        if isinstance(part, TokenEmbedding):
            found.append(("tokens", part, network))
        elif isinstance(part, NGramFeatures):
            found.append((NGRAMS, part, network))
        elif isinstance(part, nn.Embedding) and name.rpartition(".")[2] == OVERLAP:
            found.append((OVERLAP, part, network))
    return found
