"""The forward kernel of an attentive decoder: all steps of a known target, three phases a step.

1. Products of the state with [W_q; U], cut into tiles of rows and columns: the query, and the recurrent gates.
2. Additive scores, softmax and context, a program for each row.
3. The product of the context with its weights, and the cell, cut into tiles of rows and units.
"""

import triton
import triton.language as tl

from atento.models.backbones.gpu.attending import attend
from atento.models.backbones.gpu.together import (
    left_block,
    read_gates,
    read_part,
    tile_of,
    wait_for_all,
    write_gates,
    write_part,
)

# Axes: T time, B batch, N keys, H size, G gates side by side, A width, S value_width, P = A + G.


@triton.jit(do_not_specialize=["time"])
def decode_forward(
    reads, joint, bias, from_context, keys, values, valid, collapse, states, exact, products, contexts, weights, kept,
    arrived, time, batch, count, shape,
):  # fmt: skip
    """reads (T, B, G) and the first state -> states, exact (T + 1, B, H), products (T, B, P), contexts (T, B, S),
    weights (T, B, N), kept (T, B, 4 H). `arrived` is 0 at first.
    """
    first, programs, stride = tl.program_id(0), tl.num_programs(0), shape.width + shape.gates * shape.size
    row_tiles = tl.cdiv(batch, shape.rows)
    for step in range(0, time):
        place = tl.cast(step, tl.int64) * batch
        state_at, exact_at = states + place * shape.size, exact + place * shape.size
        products_at, contexts_at = products + place * stride, contexts + place * shape.value_width
        reads_at, kept_at = reads + place * shape.gates * shape.size, kept + place * 4 * shape.size
        for number in range(first, row_tiles * tl.cdiv(stride, shape.columns), programs):
            state_products(state_at, joint, bias, products_at, number, batch, shape)
        wait_for_all(arrived, 3 * step + 1)
        for row in range(first, batch, programs):
            attend(products_at, keys, values, valid, collapse, weights + place * count, contexts_at, row, count, shape)
        wait_for_all(arrived, 3 * step + 2)
        for number in range(first, row_tiles * tl.cdiv(shape.size, shape.units), programs):
            advance(contexts_at, from_context, reads_at, products_at, state_at, exact_at, kept_at, number, batch, shape)
        wait_for_all(arrived, 3 * step + 3)


@triton.jit
def state_products(state_at, joint, bias, products_at, number, batch, shape):
    """A tile of h [W_q; U]ᵀ + [0; c]."""
    stride: tl.constexpr = shape.width + shape.gates * shape.size
    row, column, there = tile_of(number, batch, shape.rows, shape.columns)
    total = tl.zeros((shape.rows, shape.columns), tl.float32)
    for start in range(0, shape.size, shape.inner):
        inner = start + tl.arange(0, shape.inner)
        left = left_block(state_at, row, there, inner, shape.size, shape.size)
        mask = (inner < shape.size)[:, None] & (column < stride)[None, :]
        right = tl.load(joint + column[None, :] * shape.size + inner[:, None], mask=mask, other=0.0)
        total = tl.dot(left, right, total, input_precision=shape.precision)
    has_bias = (column >= shape.width) & (column < stride)
    total += tl.load(bias + column - shape.width, mask=has_bias, other=0.0).to(tl.float32)[None, :]
    write_part(products_at, row, column, there, total, stride, stride)


@triton.jit
def advance(contexts_at, from_context, reads_at, products_at, state_at, exact_at, kept_at, number, batch, shape):
    """The next states of a tile of rows and units."""
    stride: tl.constexpr = shape.width + shape.gates * shape.size
    row, unit, there = tile_of(number, batch, shape.rows, shape.units)
    x0, x1, x2, x3 = read_gates(reads_at, row, unit, there, shape.gates * shape.size, shape.gates, shape.size)
    p0, p1, p2, p3 = read_gates(products_at + shape.width, row, unit, there, stride, shape.gates, shape.size)
    before = read_part(exact_at, row, unit, there, shape.size, shape.size)
    c0 = tl.zeros((shape.rows, shape.units), tl.float32)
    c1, c2, c3 = c0, c0, c0
    step: tl.constexpr = shape.size * shape.value_width  # from the weights of a gate to those of the next
    for start in range(0, shape.value_width, shape.inner):
        inner = start + tl.arange(0, shape.inner)
        left = left_block(contexts_at, row, there, inner, shape.value_width, shape.value_width)
        mask = (inner < shape.value_width)[:, None] & (unit < shape.size)[None, :]
        right = from_context + unit[None, :] * shape.value_width + inner[:, None]
        c0 = tl.dot(left, tl.load(right, mask=mask, other=0.0), c0, input_precision=shape.precision)
        if shape.gates > 1:
            c1 = tl.dot(left, tl.load(right + step, mask=mask, other=0.0), c1, input_precision=shape.precision)
        if shape.gates > 2:
            c2 = tl.dot(left, tl.load(right + 2 * step, mask=mask, other=0.0), c2, input_precision=shape.precision)
        if shape.gates > 3:
            c3 = tl.dot(left, tl.load(right + 3 * step, mask=mask, other=0.0), c3, input_precision=shape.precision)
    hidden, whole, k0, k1, k2, k3 = shape.first(
        x0 + c0, x1 + c1, x2 + c2, x3 + c3, p0, p1, p2, p3, before, shape
    )  # fmt: skip
    write_part(state_at + batch * shape.size, row, unit, there, hidden, shape.size, shape.size)
    write_part(exact_at + batch * shape.size, row, unit, there, whole, shape.size, shape.size)
    if shape.has_kept:
        write_gates(kept_at, row, unit, there, k0, k1, k2, k3, 4 * shape.size, 4, shape.size)
