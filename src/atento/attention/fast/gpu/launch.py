"""Tensors in, context out: the template launched for a composition, with its gradient."""

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import triton.language as tl
from torch import Tensor

from atento.attention.fast.gpu import backward, forward
from atento.attention.fast.gpu.arguments import CallSizes, Facts, Items, Plugs
from atento.attention.fast.gpu.distributions import DistributionPlug
from atento.attention.fast.gpu.extents import ExtentPlug
from atento.attention.fast.gpu.scores import INTERPRETED, plain, squashed

# Axes: B batch, H heads, Q queries, K keys, D width, V value_width.

GROWN = (16, 128)  # items and features of a block of exponentials for additive scores in one tile
COMPILED: dict[Any, Any] = {}


class BlockSizes(NamedTuple):
    """How a kernel is cut: queries of a block, keys of a tile, warps, stages of its pipeline."""

    queries: int
    keys: int
    warps: int
    stages: int
    registers: int | None = None  # of a thread at most


@dataclass(frozen=True, eq=False)
class PluggedParts:
    """The plugs of an attention; one object for each, so that it is told by its identity."""

    score: str  # product, squashed or additive
    distribution: DistributionPlug
    extent: ExtentPlug


@functools.lru_cache(maxsize=1024)
def composition_of(score: str, distribution: DistributionPlug, extent: ExtentPlug) -> PluggedParts:
    """The one composition of these plugs."""
    return PluggedParts(score, distribution, extent)


class Call(NamedTuple):
    """The tensors of one call, with two leading axes; None where the composition has no such number."""

    query: Tensor  # (B, H, Q, D)
    key: Tensor  # (B, H, K, D)
    value: Tensor  # (B, H, K, V)
    weight: Tensor | None  # (D,) v of additive scores
    offset: Tensor | None  # () b of an activated score
    table: Tensor | None  # (H, N) numbers of the bias
    orders: Tensor | None  # (H,) α − 1
    centres: Tensor | None  # (B, H, Q) predicted positions
    far_query: Tensor | None  # (B, H, Q, *) what de-attention measures distances of
    far_key: Tensor | None  # (B, H, K, *)
    valid: Tensor | None = None  # (B, H, K)
    positions: Tensor | None = None  # (Q,)
    first: Tensor | None = None  # (B, H)
    places: Tensor | None = None  # (B, H, K)
    slack: Tensor | None = None  # (B, H)
    uniform: Tensor | None = None  # (B, H, Q)
    chosen: Tensor | None = None  # (B, H, Q), written
    scale: float = 1.0
    sharpness: float = 1.0  # β of distances


@functools.lru_cache(maxsize=1024)
def fixed_plugs(composition: PluggedParts, facts: tuple[Any, ...], unit: float, precision: str) -> Plugs:
    """The plugs as constants of the compiler; `facts`: source of scores, has_valid, has_positions, has_first, even."""
    extent, distribution = composition.extent, composition.distribution
    parts = (
        facts[0],
        squashed if composition.score == "squashed" else plain,
        distribution.kind,
        distribution.weigh,
        unit,
        distribution.order,
        extent.before,
        extent.after,
        extent.pattern is not None,
        extent.pattern or plain,
        extent.first_size,
        extent.second_size,
        extent.bias is not None,
        extent.bias or plain,
        extent.span,
        extent.reach,
        extent.relative,
        composition.score == "squashed",
        *facts[1:],
        precision,
    )
    return Plugs(*(tl.constexpr(part) for part in parts))


def start(
    kernel: Any, grid: tuple[int, ...], arguments: tuple[Any, ...], constants: tuple[Any, ...], warps: int,
    stages: int = 1, *, key: tuple[Any, ...], registers: int | None = None,
) -> None:  # fmt: skip
    """Launch a kernel; calls of one `key` have equal dtypes, sizes, strides, plugs and alignment.

    Its compiled form is looked up here, as Triton's own look-up takes longer than many a kernel.
    """
    if INTERPRETED.value:
        kernel[grid](*arguments, *constants, num_warps=warps, num_stages=stages)
        return
    whole = (id(kernel), constants, warps, key)
    compiled = COMPILED.get(whole)
    if compiled is None:
        COMPILED[whole] = kernel[grid](*arguments, *constants, num_warps=warps, num_stages=stages, maxnreg=registers)
    else:
        compiled[(*grid, 1, 1)[:3]](*arguments, *constants)


def traits_of(call: "Call") -> tuple[Any, ...]:
    """What the compiled form of a kernel depends on: dtypes, sizes, strides, and whether addresses are aligned."""
    parts = tuple((part.dtype, part.shape, part.stride(), part.data_ptr() % 16) for part in call[:3])
    return parts + tuple(
        None if part is None else (part.dtype, part.stride(), part.data_ptr() % 16) for part in call[3:16]
    )


def items_of(tensor: Tensor) -> Items:
    """A tensor (B, H, T, D) with its strides."""
    return Items(tensor, *tensor.stride()[:3])


def cdiv(number: int, size: int) -> int:
    """How many parts of a size hold a number; Triton's own function takes microseconds."""
    return -(-number // size)


def power_of_two(size: int) -> int:
    """The next power of two, at least 16, as matrix units need."""
    return max(16, 1 << (size - 1).bit_length())


class Launch:
    """One call made ready: sizes, facts and plugs that its kernels share."""

    def __init__(self, composition: PluggedParts, call: Call, *, recorded: bool) -> None:
        self.composition, self.call = composition, call
        batch, heads, self.queries, self.width = call.query.shape
        self.keys, self.value_width, self.leads = call.key.size(2), call.value.size(3), batch * heads
        self.to_table: Tensor | None = None
        self.changes: Tensor | None = None
        self.distances: Tensor | None = None
        self.source = {"additive": "stored", "opposed": "opposed"}.get(composition.score, "product")
        self.sizes = CallSizes(heads, self.queries, self.keys, self.width, self.value_width)
        self.bd, self.bv = 16 if self.source == "stored" else power_of_two(self.width), power_of_two(self.value_width)
        self.widest = max(self.bd, self.bv)
        self.is_short = call.value.element_size() == 2
        unit = composition.distribution.unit
        folded = composition.score in ("product", "opposed") and composition.extent.bias is None
        self.key = (composition, call.scale, traits_of(call))
        self.close = 1e-3 if not self.is_short else 0.02 if recorded else 0.5  # of Σ p to 1 before the last step
        self.unit, self.scale = (1.0, call.scale * unit) if folded else (unit, call.scale)

    def facts(
        self, scores: Tensor | None = None, first_row: int = 0, rows: int = 0, grown: tuple[Tensor, ...] = ()
    ) -> Facts:
        """What the kernels read besides queries, keys and values; scores of some queries, where they are given."""
        call, nothing = self.call, self.call.query
        valid = nothing if call.valid is None else call.valid.view(torch.uint8)
        table = nothing if call.table is None else call.table
        to_table = nothing if self.to_table is None else self.to_table
        before, after = (
            (call.positions, call.first),
            (call.offset, call.orders, call.centres, call.places, call.slack, call.uniform, call.chosen),
        )
        return Facts(  # type: ignore[call-arg]
            self.scale,
            self.close,
            valid,
            *valid.stride()[:2],
            *(nothing if part is None else part for part in before),
            table,
            table.stride(0),
            to_table,
            *(nothing if part is None else part for part in after),
            first_row,
            min(first_row + (rows or self.queries), self.queries),
            scores if scores is not None else nothing if self.distances is None else self.distances,
            rows,
            nothing if call.weight is None else call.weight,
            nothing if self.changes is None else self.changes,
            *(grown or (nothing, nothing, nothing)),
            grown[2].size(2) if grown else 0,
        )

    def plugs(self, keys_of_a_tile: int) -> Plugs:
        """The plugs for tiles of so many keys."""
        call = self.call
        has = tuple(part is not None for part in (call.valid, call.positions, call.first))
        precision = "tf32" if self.is_short else "ieee"
        return fixed_plugs(self.composition, (self.source, *has, self.keys % keys_of_a_tile == 0), self.unit, precision)

    def forward(self, output: Tensor, centre: Tensor, statistic: Tensor, facts: Facts) -> None:
        """Write context, centre and statistic of the queries of `facts`."""
        blocks, call = self.forward_blocks(), self.call
        start(
            forward.forward,
            (cdiv(facts.end_row - facts.first_row, blocks.queries), self.leads),
            (*map(items_of, (call.query, call.key, call.value, output)), centre, statistic, facts, self.sizes,
             self.plugs(blocks.keys)),
            (blocks.queries, blocks.keys, self.bd, self.bv),
            blocks.warps,
            blocks.stages,
            key=(self.key, output.stride(), facts.first_row),
            registers=blocks.registers,
        )  # fmt: skip

    def forward_blocks(self) -> BlockSizes:
        """The blocks of the forward kernel."""
        if self.source == "additive":
            return BlockSizes(GROWN[0], power_of_two(self.keys), 8, 1, 128)
        if self.widest > 256 or not self.is_short:
            size = 64 if self.widest <= 64 else 32 if self.widest <= 256 else 16
            return BlockSizes(size, 32 if size > 16 else 16, 4, 1)
        if self.widest > 128:
            return BlockSizes(64, 32, 4, 2)
        wide = self.widest > 64 and self.composition.distribution.kind in ("online", "pointwise")
        return BlockSizes(128, 64, 8, 3) if wide else BlockSizes(64, 64, 4, 3)

    def backward_blocks(self) -> BlockSizes:
        """The blocks of the backward kernels."""
        if self.source == "stored":
            return BlockSizes(32, 64 if self.bv <= 512 else 32, 4 if self.bv <= 256 else 8, 1)
        if not self.is_short or self.widest > 128:
            size = 32 if self.widest <= 128 else 16
            return BlockSizes(size, size, 4, 1)
        return BlockSizes(64, 32, 4, 3) if self.widest <= 64 else BlockSizes(64, 64, 8, 2)

    def backward_of_keys_blocks(self) -> BlockSizes:
        """The blocks of the kernel of key gradients."""
        return BlockSizes(64, 64, 4, 3) if self.is_short and self.widest <= 64 else self.backward_blocks()

    def backward(self, upstream: Tensor, centre: Tensor, statistic: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of query, key, value, weight, offset, table, Σ p ln p (dp − δ) of each head, and of centres."""
        call = self.call
        if self.composition.extent.relative:
            self.to_table = torch.zeros_like(call.table)  # type: ignore[arg-type]
        facts = self.facts()
        deltas = torch.empty(self.leads, self.queries, dtype=torch.float32, device=call.query.device)
        to_query, to_key, to_value = (torch.empty_like(part) for part in (call.query, call.key, call.value))
        key = (self.key, upstream.stride(), upstream.data_ptr() % 16, centre.stride())
        blocks = self.backward_blocks()
        programs = cdiv(self.queries, blocks.queries)
        parts = torch.empty(3, self.leads, programs, dtype=torch.float32, device=call.query.device)
        of_bias = parts[1] if call.centres is None else torch.empty_like(call.centres)
        given = tuple(map(items_of, (call.query, call.key, call.value, upstream)))
        start(
            backward.backward_of_queries,
            (programs, self.leads),
            (*given, items_of(centre), statistic, deltas, items_of(to_query), parts[0], of_bias, parts[2], call.scale,
             facts, self.sizes,
             self.plugs(blocks.keys)),
            (blocks.queries, blocks.keys, self.bd, self.bv),
            blocks.warps,
            blocks.stages,
            key=key,
        )  # fmt: skip
        blocks = self.backward_of_keys_blocks()
        start(
            backward.backward_of_keys,
            (cdiv(self.keys, blocks.keys), self.leads),
            (*given, statistic, deltas, items_of(to_key), items_of(to_value), call.scale, facts, self.sizes,
             self.plugs(blocks.keys)),
            (blocks.queries, blocks.keys, self.bd, self.bv),
            blocks.warps,
            blocks.stages,
            key=key,
        )  # fmt: skip
        to_offset = None if call.offset is None else parts[0].sum().to(call.offset.dtype).view_as(call.offset)
        to_table = self.to_table
        if self.composition.extent.span:
            span = self.by_head(parts[1])
            to_table = torch.stack([span, torch.zeros_like(span)], dim=-1)
        to_order = None if call.orders is None else self.by_head(parts[2])
        to_centres = None if call.centres is None else of_bias
        return to_query, to_key, to_value, None, to_offset, to_table, to_order, to_centres, None, None

    def by_head(self, parts: Tensor) -> Tensor:
        """Sums (B H, programs) -> (H,)."""
        return parts.sum(dim=-1).view(-1, self.sizes.heads).sum(dim=0)
