"""Kernels of additive attention with one query for each row: scores, softmax and context in one, and the gradients.

A program holds the scores of all keys of a row. The gradient of keys and of v sums over all steps of a target, so it is
one kernel after the walk; that of the query is needed at once, in it.
"""

import triton
import triton.language as tl

# Axes: T target time, B batch, N keys of a row (a tile of KEYS), A width of the scores, S width of the values.


@triton.jit
def squash(x, SHORT: tl.constexpr):
    """tanh(x)."""
    if SHORT:
        found = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], tl.float32, True, 1)
    else:
        found = 2.0 * tl.sigmoid(2.0 * x) - 1.0
    return found


@triton.jit
def keys_of(row, valid, count, shape):
    """The numbers (KEYS,) of the keys of a row, and which of them are real."""
    key = tl.arange(0, shape.keys)
    seen = key < count
    if shape.has_valid:
        seen = seen & (tl.load(valid + row * count + key, mask=seen, other=0) != 0)
    return key, seen


@triton.jit
def block_of(at, row, key, seen, column, count, WIDTH: tl.constexpr):
    """A tile (KEYS, columns) of keys or values, in float32; 0 where a key is not real."""
    mask = seen[:, None] & (column < WIDTH)[None, :]
    place = (row * count + key)[:, None] * WIDTH + column[None, :]
    return tl.load(at + place, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def line_of(at, column, WIDTH: tl.constexpr):
    """Numbers (columns,) of a row, in float32."""
    return tl.load(at + column, mask=column < WIDTH, other=0.0).to(tl.float32)


@triton.jit
def attend(products_at, keys, values, valid, collapse, weights_at, contexts_at, number, count, shape):
    """The weights (N,) and the context (S,) of a row at one step: the query is the first part of its product."""
    row = tl.cast(number, tl.int64)
    key, seen = keys_of(row, valid, count, shape)
    scores = tl.zeros((shape.keys,), tl.float32)
    for start in tl.range(0, shape.width, shape.wide, num_stages=2):
        column = start + tl.arange(0, shape.wide)
        query = line_of(products_at + row * (shape.width + shape.gates * shape.size), column, shape.width)
        mixed = squash(query[None, :] + block_of(keys, row, key, seen, column, count, shape.width), shape.short)
        scores += tl.sum(mixed * line_of(collapse, column, shape.width)[None, :], axis=1)
    scores = tl.where(seen, scores, float("-inf"))
    peak = tl.max(scores, axis=0)
    weight = tl.where(seen, tl.exp(scores - tl.where(peak == float("-inf"), 0.0, peak)), 0.0)
    total = tl.sum(weight, axis=0)
    weight = weight / tl.where(total > 0.0, total, 1.0)  # a row without real keys gets zeros
    tl.store(weights_at + row * count + key, weight, mask=key < count)
    for start in tl.range(0, shape.value_width, shape.wide, num_stages=2):
        column = start + tl.arange(0, shape.wide)
        value = block_of(values, row, key, seen, column, count, shape.value_width)
        context = tl.sum(weight[:, None] * value, axis=0)
        place = contexts_at + row * shape.value_width + column
        tl.store(place, context.to(contexts_at.dtype.element_ty), mask=column < shape.value_width)


@triton.jit
def query_gradient(
    products_at, keys, values, valid, collapse, weights_at, d_contexts_at, d_scores_at, d_products_at, number, count,
    shape,
):  # fmt: skip
    """The gradients of the scores (N,) and of the query of a row at one step, from that of its context."""
    row = tl.cast(number, tl.int64)
    key, seen = keys_of(row, valid, count, shape)
    d_weight = tl.zeros((shape.keys,), tl.float32)
    for start in tl.range(0, shape.value_width, shape.wide, num_stages=2):
        column = start + tl.arange(0, shape.wide)
        change = line_of(d_contexts_at + row * shape.value_width, column, shape.value_width)
        value = block_of(values, row, key, seen, column, count, shape.value_width)
        d_weight += tl.sum(value * change[None, :], axis=1)
    weight = tl.load(weights_at + row * count + key, mask=seen, other=0.0)
    d_score = weight * (d_weight - tl.sum(weight * d_weight, axis=0))
    tl.store(d_scores_at + row * count + key, d_score, mask=key < count)
    for start in tl.range(0, shape.width, shape.wide, num_stages=2):
        column = start + tl.arange(0, shape.wide)
        query = line_of(products_at + row * (shape.width + shape.gates * shape.size), column, shape.width)
        mixed = squash(query[None, :] + block_of(keys, row, key, seen, column, count, shape.width), shape.short)
        change = tl.sum(d_score[:, None] * (1.0 - mixed * mixed), axis=0) * line_of(collapse, column, shape.width)
        place = d_products_at + row * (shape.width + shape.gates * shape.size) + column
        tl.store(place, change.to(d_products_at.dtype.element_ty), mask=column < shape.width)


@triton.jit(do_not_specialize=["time"])
def key_gradient(products, keys, valid, collapse, d_scores, d_keys, d_collapse, time, batch, count, shape):
    """The gradients of the keys (B, N, A), and of v by each row (B, A), summed over all steps."""
    row = tl.program_id(0).to(tl.int64)
    key, seen = keys_of(row, valid, count, shape)
    column = tl.program_id(1) * shape.columns + tl.arange(0, shape.columns)
    mine = block_of(keys, row, key, seen, column, count, shape.width)
    total = tl.zeros((shape.keys, shape.columns), tl.float32)
    of_weight = tl.zeros((shape.keys, shape.columns), tl.float32)
    for step in range(0, time):
        at = step * batch + row
        query = line_of(products + at * (shape.width + shape.gates * shape.size), column, shape.width)
        d_score = tl.load(d_scores + at * count + key, mask=seen, other=0.0)
        mixed = squash(query[None, :] + mine, shape.short)
        total += d_score[:, None] * (1.0 - mixed * mixed)
        of_weight += d_score[:, None] * mixed
    total = total * line_of(collapse, column, shape.width)[None, :]
    place = (row * count + key)[:, None] * shape.width + column[None, :]
    mask = (key < count)[:, None] & (column < shape.width)[None, :]
    tl.store(d_keys + place, total.to(d_keys.dtype.element_ty), mask=mask)
    tl.store(d_collapse + row * shape.width + column, tl.sum(of_weight, axis=0), mask=column < shape.width)
