"""The product of some rows of states with a matrix, block by block, and the tiles that a step reads and writes."""

from typing import NamedTuple

import triton
import triton.language as tl

# Axes: R rows of a tile, N units of a tile, K inner block of a product. SIZE is that of the state.


class WalkPlugs(NamedTuple):
    """The plugs of a cell and the form of its kernels, all fixed when they compile."""

    gates: tl.constexpr
    kept: tl.constexpr
    first: tl.constexpr
    undo_first: tl.constexpr
    second: tl.constexpr
    undo_second: tl.constexpr
    two: tl.constexpr  # a step is two products
    has_carry: tl.constexpr
    has_content: tl.constexpr
    second_reads: tl.constexpr
    activation: tl.constexpr
    output_activation: tl.constexpr
    precision: tl.constexpr
    size: tl.constexpr  # of the state
    parts: tl.constexpr  # of the product with the input
    rows: tl.constexpr
    units: tl.constexpr
    inner: tl.constexpr
    splits: tl.constexpr  # programs that share a tile of rows, each with its own units


@triton.jit
def my_rows(order, lengths, batch, plugs):
    """The rows (R,) of this program, their lengths, the longest of them, and its first unit; rows of like length lie
    side by side.
    """
    place = (tl.program_id(0) // plugs.splits) * plugs.rows + tl.arange(0, plugs.rows)
    there = place < batch
    row = tl.load(order + place, mask=there, other=0).to(tl.int64)
    length = tl.load(lengths + row, mask=there, other=0)
    return row, length, tl.max(length, axis=0), (tl.program_id(0) % plugs.splits) * plugs.units


@triton.jit
def wait_for_tile(arrived, rounds, plugs):
    """Go on when every program of a tile of rows has come here `rounds` times: what they wrote can then be read."""
    tl.debug_barrier()
    if plugs.splits > 1:
        at = arrived + tl.program_id(0) // plugs.splits
        tl.atomic_add(at, 1, sem="release", scope="gpu")
        while tl.atomic_add(at, 0, sem="acquire", scope="gpu") < rounds * plugs.splits:
            pass
        tl.debug_barrier()


@triton.jit
def read_tile(at, column, live, SIZE: tl.constexpr):
    """Columns (N,) of the rows whose numbers start at `at` (R,), in float32; 0 where a row is not live."""
    mask = live[:, None] & (column < SIZE)[None, :]
    return tl.load(at[:, None] + column[None, :], mask=mask, other=0.0).to(tl.float32)


@triton.jit
def write_tile(at, column, live, values, SIZE: tl.constexpr):
    """Store such columns."""
    mask = live[:, None] & (column < SIZE)[None, :]
    tl.store(at[:, None] + column[None, :], values.to(at.dtype.element_ty), mask=mask)


@triton.jit
def with_bias(product, bias, column, gate: tl.constexpr, SIZE: tl.constexpr):
    """A product (R, N) plus the bias of its gate."""
    return product + tl.load(bias + gate * SIZE + column, mask=column < SIZE, other=0.0).to(tl.float32)[None, :]


@triton.jit
def gate_products(at, live, weight, bias, column, plugs, GATES: tl.constexpr):
    """U h + c of up to four gates for units `column` (N,); states start at `at` (R,), weight is (GATES·SIZE, SIZE)."""
    p0 = tl.zeros((plugs.rows, plugs.units), tl.float32)
    p1, p2, p3 = p0, p0, p0
    for start in range(0, plugs.size, plugs.inner):
        inner = start + tl.arange(0, plugs.inner)
        inside = inner < plugs.size
        state = tl.load(at[:, None] + inner[None, :], mask=live[:, None] & inside[None, :], other=0.0)
        block = weight + column[None, :] * plugs.size + inner[:, None]  # (K, N): the weight is read as its transpose
        mask = inside[:, None] & (column < plugs.size)[None, :]
        p0 = tl.dot(state, tl.load(block, mask=mask, other=0.0), p0, input_precision=plugs.precision)
        if GATES > 1:
            block += plugs.size * plugs.size
            p1 = tl.dot(state, tl.load(block, mask=mask, other=0.0), p1, input_precision=plugs.precision)
        if GATES > 2:
            block += plugs.size * plugs.size
            p2 = tl.dot(state, tl.load(block, mask=mask, other=0.0), p2, input_precision=plugs.precision)
        if GATES > 3:
            block += plugs.size * plugs.size
            p3 = tl.dot(state, tl.load(block, mask=mask, other=0.0), p3, input_precision=plugs.precision)
    p0 = with_bias(p0, bias, column, 0, plugs.size)
    if GATES > 1:
        p1 = with_bias(p1, bias, column, 1, plugs.size)
    if GATES > 2:
        p2 = with_bias(p2, bias, column, 2, plugs.size)
    if GATES > 3:
        p3 = with_bias(p3, bias, column, 3, plugs.size)
    return p0, p1, p2, p3


@triton.jit
def product_gradient(at, live, weight, column, plugs, GATES: tl.constexpr):
    """d U, the gradient of states (R, N), from gradients d of their product, which start at `at` (R,)."""
    found = tl.zeros((plugs.rows, plugs.units), tl.float32)
    for start in range(0, GATES * plugs.size, plugs.inner):
        inner = start + tl.arange(0, plugs.inner)
        inside = inner < GATES * plugs.size
        change = tl.load(at[:, None] + inner[None, :], mask=live[:, None] & inside[None, :], other=0.0)
        block = weight + inner[:, None] * plugs.size + column[None, :]
        mask = inside[:, None] & (column < plugs.size)[None, :]
        found = tl.dot(change, tl.load(block, mask=mask, other=0.0), found, input_precision=plugs.precision)
    return found
