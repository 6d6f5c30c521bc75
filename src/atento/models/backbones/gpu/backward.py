"""The backward kernel of an attentive decoder: its steps from the last to the first, three phases a step.

1. The gradient of the state, through the products of the step after, and of the cell, in tiles of rows and units.
2. The gradient of the context, in tiles of rows and columns.
3. The gradients of scores and query, a program for each row.

Gradients of weights, keys and values are sums over all steps: they are taken after the walk.
"""

import triton
import triton.language as tl

from atento.models.backbones.gpu.attending import query_gradient
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
def decode_backward(
    of_contexts, of_hidden, joint, from_context, keys, values, valid, collapse, states, exact, products, weights, kept,
    d_keep, d_reads, d_products, d_contexts, d_scores, arrived, time, batch, count, shape,
):  # fmt: skip
    """Gradients of contexts (T, B, S), hidden vectors (T, B, H) and, in half T % 2 of d_keep (2, B, H), of the last
    carry -> d_reads (T, B, G), d_products (T, B, P), d_contexts (T, B, S), d_scores (T, B, N), and in the first half of
    d_keep the gradient of the first state that passes no product. The steps take turns with the halves.
    """
    first, programs, stride = tl.program_id(0), tl.num_programs(0), shape.width + shape.gates * shape.size
    row_tiles = tl.cdiv(batch, shape.rows)
    for back in range(0, time):
        step = time - 1 - back
        place = tl.cast(step, tl.int64) * batch
        state_at, exact_at = states + place * shape.size, exact + place * shape.size
        products_at, d_products_at = products + place * stride, d_products + place * stride
        d_reads_at, kept_at = d_reads + place * shape.gates * shape.size, kept + place * 4 * shape.size
        d_contexts_at, of_contexts_at = d_contexts + place * shape.value_width, of_contexts + place * shape.value_width
        half = batch * shape.size
        keep_from, keep_to = d_keep + ((step + 1) % 2) * half, d_keep + (step % 2) * half
        depth = tl.where(back == 0, 0, stride)  # no step comes after the last
        for number in range(first, row_tiles * tl.cdiv(shape.size, shape.units), programs):
            retreat(
                of_hidden + place * shape.size, joint, state_at, exact_at, kept_at, keep_from, keep_to, d_reads_at,
                d_products_at, depth, number, batch, shape,
            )  # fmt: skip
        wait_for_all(arrived, 3 * back + 1)
        for number in range(first, row_tiles * tl.cdiv(shape.value_width, shape.columns), programs):
            context_gradient(of_contexts_at, d_reads_at, from_context, d_contexts_at, number, batch, shape)
        wait_for_all(arrived, 3 * back + 2)
        for row in range(first, batch, programs):
            query_gradient(
                products_at, keys, values, valid, collapse, weights + place * count, d_contexts_at,
                d_scores + place * count, d_products_at, row, count, shape,
            )  # fmt: skip
        wait_for_all(arrived, 3 * back + 3)


@triton.jit
def retreat(
    upstream, joint, state_at, exact_at, kept_at, keep_from, keep_to, d_reads_at, d_products_at, depth, number, batch,
    shape,
):  # fmt: skip
    """The gradients of both products of a cell, for a tile of rows and units."""
    stride: tl.constexpr = shape.width + shape.gates * shape.size
    row, unit, there = tile_of(number, batch, shape.rows, shape.units)
    after = d_products_at + batch * stride  # of the step after
    change = tl.zeros((shape.rows, shape.units), tl.float32)
    for start in range(0, depth, shape.inner):
        inner = start + tl.arange(0, shape.inner)
        left = left_block(after, row, there, inner, stride, stride)
        mask = (inner < stride)[:, None] & (unit < shape.size)[None, :]
        right = tl.load(joint + inner[:, None] * shape.size + unit[None, :], mask=mask, other=0.0)
        change = tl.dot(left, right, change, input_precision=shape.precision)
    change += read_part(upstream, row, unit, there, shape.size, shape.size)
    d_exact = read_part(keep_from, row, unit, there, shape.size, shape.size)
    before = read_part(exact_at, row, unit, there, shape.size, shape.size)
    whole = read_part(exact_at + batch * shape.size, row, unit, there, shape.size, shape.size)
    hidden = whole
    if shape.has_carry:
        hidden = read_part(state_at + batch * shape.size, row, unit, there, shape.size, shape.size)
    else:
        change += d_exact
    k0, k1, k2, k3 = before, before, before, before
    if shape.has_kept:
        k0, k1, k2, k3 = read_gates(kept_at, row, unit, there, 4 * shape.size, 4, shape.size)
    d0, d1, d2, d3, content, keep = shape.undo_first(change, d_exact, k0, k1, k2, k3, before, whole, hidden, shape)
    write_gates(d_products_at + shape.width, row, unit, there, d0, d1, d2, d3, stride, shape.gates, shape.size)
    if shape.has_content:
        d2 = content
    write_gates(d_reads_at, row, unit, there, d0, d1, d2, d3, shape.gates * shape.size, shape.gates, shape.size)
    write_part(keep_to, row, unit, there, keep, shape.size, shape.size)


@triton.jit
def context_gradient(of_contexts_at, d_reads_at, from_context, d_contexts_at, number, batch, shape):
    """A tile of the gradient of the context: of the features, and through the cell."""
    width: tl.constexpr = shape.gates * shape.size
    row, column, there = tile_of(number, batch, shape.rows, shape.columns)
    total = tl.zeros((shape.rows, shape.columns), tl.float32)
    for start in range(0, width, shape.inner):
        inner = start + tl.arange(0, shape.inner)
        left = left_block(d_reads_at, row, there, inner, width, width)
        mask = (inner < width)[:, None] & (column < shape.value_width)[None, :]
        right = tl.load(from_context + inner[:, None] * shape.value_width + column[None, :], mask=mask, other=0.0)
        total = tl.dot(left, right, total, input_precision=shape.precision)
    total += read_part(of_contexts_at, row, column, there, shape.value_width, shape.value_width)
    write_part(d_contexts_at, row, column, there, total, shape.value_width, shape.value_width)
