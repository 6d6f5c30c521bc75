"""Softmax attention of packed sequences on a CPU, by the compiled library: nothing is computed for padding."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from atento.layers.packing import Packing
from atento.native.library import Library, library_for

# Axes: M packed queries, N packed keys, H heads, d features of a head.

LONGEST = 256  # rows of weights are held whole


class PackedSoftmax(torch.autograd.Function):
    """query (M, H, d), key and value (N, H, d), each feature beside the next -> context (M, H, d)."""

    @staticmethod
    def forward(
        context: Any, library: Library, is_causal: bool, scale: float, bounds: tuple[Packing, Packing], *parts: Tensor
    ) -> Tensor:
        """Each query over the keys of its own sequence; of each row of scores two numbers are kept."""
        query, (targets, sources) = parts[0], bounds
        found, peaks = (query.new_empty(*query.shape[:2], width) for width in (query.size(2), 2))
        found[targets.items :] = 0.0
        context.given = call_of(is_causal, scale, targets, sources, parts)
        scratch = scratch_for(library, targets, sources, query)
        library.run("attention_forward", targets.batch, *context.given, found, peaks, own=scratch)
        context.library, context.bounds = library, bounds
        context.save_for_backward(found, peaks, *parts)
        return found

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Weights are computed again."""
        found, peaks, *parts = context.saved_tensors
        targets, sources = context.bounds
        gradients = [torch.empty_like(part, memory_format=torch.contiguous_format) for part in parts]
        for one, packing in zip(gradients, (targets, sources, sources), strict=True):
            one[packing.items :] = 0.0
        scratch = scratch_for(context.library, targets, sources, found)
        given = *context.given, found, peaks, gradient.contiguous(), *gradients
        context.library.run("attention_backward", targets.batch, *given, own=scratch)
        return None, None, None, None, *gradients


def call_of(
    is_causal: bool, scale: float, targets: Packing, sources: Packing, parts: tuple[Tensor, ...]
) -> list[Tensor | int]:
    """What both functions of the library are told first: sizes, bounds, and where each part stands."""
    heads, width = parts[0].shape[1:]
    given: list[Tensor | int] = [heads, width, int(is_causal), parts[0].new_tensor(scale)]
    given += [targets.bounds, sources.bounds]
    for part in parts:
        given += [part, part.stride(0), part.stride(1)]
    return given


def scratch_for(library: Library, targets: Packing, sources: Packing, like: Tensor) -> Tensor:
    """Room of each thread: the keys as columns, and two matrices of weights."""
    keys = -(-sources.time // library.lanes) * library.lanes
    return like.new_empty(library.threads(targets.batch), keys * (like.size(2) + 2 * targets.time))


def packed_library(
    direct: tuple[float | None, bool] | None, width: int, like: Tensor, *packings: Packing
) -> Library | None:
    """The library, where it computes this attention: softmax of products of heads of this width, short sequences."""
    short = all(packing.time <= LONGEST for packing in packings)
    library = library_for(like) if direct is not None and short else None
    return library if library is not None and width % library.lanes == 0 else None


def packed_softmax(
    library: Library,
    direct: tuple[float | None, bool],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    targets: Packing,
    sources: Packing,
) -> Tensor:
    """The context (M, H, d) of queries (M, H, d) over keys and values (N, H, d); zeros after the last real row."""
    scale, is_causal = direct
    scale = query.size(2) ** -0.5 if scale is None else scale
    parts = (part if part.stride(2) == 1 else part.contiguous() for part in (query, key, value))
    found: Tensor = PackedSoftmax.apply(library, is_causal, scale, (targets, sources), *parts)  # type: ignore[no-untyped-call]
    return found
