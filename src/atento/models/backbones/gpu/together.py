"""What the programs of a walk do together: wait for each other, and share out the tiles of a product.

All programs of a kernel are on the chip at once, one for each multiprocessor, and go through the phases of a step side
by side. What one writes in a phase, others read in the next.
"""

from typing import NamedTuple

import triton
import triton.language as tl

# Axes: B batch, R rows and N columns of a tile, K inner block of a product.


class WalkShape(NamedTuple):
    """The plugs of a decoder and the sizes of its tensors, all fixed when a kernel compiles."""

    first: tl.constexpr  # one step of the cell, and its derivative: see `atento.recurrent.gpu.steps`
    undo_first: tl.constexpr
    activation: tl.constexpr
    gates: tl.constexpr
    has_kept: tl.constexpr
    has_carry: tl.constexpr
    has_content: tl.constexpr
    has_valid: tl.constexpr
    size: tl.constexpr  # H
    width: tl.constexpr  # A, of the scores
    value_width: tl.constexpr  # S
    keys: tl.constexpr  # of a tile, which holds all of a row
    wide: tl.constexpr  # columns of such a tile
    rows: tl.constexpr
    units: tl.constexpr  # of a tile with all its gates
    columns: tl.constexpr  # of any other tile
    inner: tl.constexpr
    short: tl.constexpr  # floats: the hardware's tanh, which is right to eleven bits, suffices
    precision: tl.constexpr


@triton.jit
def wait_for_all(arrived, rounds):
    """Go on when every program has come here `rounds` times; what they wrote before can then be read."""
    tl.debug_barrier()
    tl.atomic_add(arrived, 1, sem="release", scope="gpu")
    while tl.atomic_add(arrived, 0, sem="acquire", scope="gpu") < rounds * tl.num_programs(0):
        pass
    tl.debug_barrier()


@triton.jit
def tile_of(number, batch, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Rows (R,) and columns (N,) of a tile, by its number, and which rows are there."""
    tiles = tl.cdiv(batch, ROWS)
    row = (number % tiles) * ROWS + tl.arange(0, ROWS)
    column = (number // tiles) * COLUMNS + tl.arange(0, COLUMNS)
    return row, column, row < batch


@triton.jit
def left_block(at, row, there, inner, depth, STRIDE: tl.constexpr):
    """A block (R, K) of rows that are multiplied."""
    mask = there[:, None] & (inner < depth)[None, :]
    return tl.load(at + row[:, None] * STRIDE + inner[None, :], mask=mask, other=0.0)


@triton.jit
def read_part(at, row, column, there, STRIDE: tl.constexpr, WIDTH: tl.constexpr):
    """Numbers (R, N) of rows, in float32; 0 where there is none."""
    mask = there[:, None] & (column < WIDTH)[None, :]
    return tl.load(at + row[:, None] * STRIDE + column[None, :], mask=mask, other=0.0).to(tl.float32)


@triton.jit
def write_part(at, row, column, there, values, STRIDE: tl.constexpr, WIDTH: tl.constexpr):
    """Store such numbers."""
    mask = there[:, None] & (column < WIDTH)[None, :]
    tl.store(at + row[:, None] * STRIDE + column[None, :], values.to(at.dtype.element_ty), mask=mask)


@triton.jit
def read_gates(at, row, unit, there, STRIDE: tl.constexpr, GATES: tl.constexpr, SIZE: tl.constexpr):
    """Up to four parts of rows, side by side."""
    v0 = read_part(at, row, unit, there, STRIDE, SIZE)
    v1, v2, v3 = v0, v0, v0
    if GATES > 1:
        v1 = read_part(at + SIZE, row, unit, there, STRIDE, SIZE)
    if GATES > 2:
        v2 = read_part(at + 2 * SIZE, row, unit, there, STRIDE, SIZE)
    if GATES > 3:
        v3 = read_part(at + 3 * SIZE, row, unit, there, STRIDE, SIZE)
    return v0, v1, v2, v3


@triton.jit
def write_gates(at, row, unit, there, v0, v1, v2, v3, STRIDE: tl.constexpr, GATES: tl.constexpr, SIZE: tl.constexpr):
    """Store up to four parts of rows, side by side."""
    write_part(at, row, unit, there, v0, STRIDE, SIZE)
    if GATES > 1:
        write_part(at + SIZE, row, unit, there, v1, STRIDE, SIZE)
    if GATES > 2:
        write_part(at + 2 * SIZE, row, unit, there, v2, STRIDE, SIZE)
    if GATES > 3:
        write_part(at + 3 * SIZE, row, unit, there, v3, STRIDE, SIZE)
