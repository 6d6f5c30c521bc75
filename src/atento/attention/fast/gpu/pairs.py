"""Additive scores Σ_h v_h tanh(a_h + b_h) on a GPU: their kernels, and those of their gradients.

tanh(z) = 1 − 2 r with r = 1 / (1 + e^(2z)) and e^(2(a + b)) = e^(2a) e^(2b): exponentials are taken once for each query
and key, and two terms share one reciprocal, v / x + w / y = (v y + w x) / (x y). Where a query or key is too large for
the product of two such terms, the exponential is taken of the sum.

The gradient by a_h is 4 v_h Σ ds r (1 − r), a sum over keys for every feature that no product of matrices gives; that
by b_h is the same sum over queries, that of v_h is Σ ds (1 − 2 r). One kernel computes r once for all three."""

import triton
import triton.language as tl

from atento.attention.fast.gpu.backward import AT_ONCE, OWN, block_of_queries, slopes_of
from atento.attention.fast.gpu.scores import CEILING, INTERPRETED, LARGEST, TWICE_LOG2_E, reciprocal
from atento.attention.fast.gpu.tiles import place_of

# Axes: BT items of a block, BH features of a block, BM queries, BN keys.

HALF = tl.constexpr(32)  # of OWN: more queries at once do not fit into the registers of a thread
AHEAD = tl.constexpr(3)  # turns of a sum over pairs whose ds is loaded ahead


@triton.jit
def prepare(
    items, raw, grown, large, batch_stride, head_stride, row, heads, length, width, even_width,
    BT: tl.constexpr, BH: tl.constexpr, GROW: tl.constexpr,
):  # fmt: skip
    """Items (B, H, T, D) -> 2x in units of ln 2 and e^(2x) in blocks (B, H, T / BT, D, BT); whether any is large."""
    lead = tl.program_id(2).to(tl.int64)
    local, features = tl.arange(0, BT), tl.program_id(1) * BH + tl.arange(0, BH)
    at = tl.program_id(0) * BT + local
    places = lead // heads * batch_stride + lead % heads * head_stride + at[None, :] * row + features[:, None]
    x = tl.load(items + places, mask=(at < length)[None, :] & (features < width)[:, None], other=0.0).to(tl.float32)
    if GROW and tl.max(tl.abs(x)) > LARGEST:
        tl.atomic_max(large, 1)
    block = lead * tl.num_programs(0) + tl.program_id(0)
    out = (block * even_width + features[:, None]) * BT + local[None, :]
    mask = (features < even_width)[:, None]
    tl.store(raw + out, x * TWICE_LOG2_E, mask=mask)
    if GROW:
        tl.store(grown + out, tl.exp2(x * TWICE_LOG2_E), mask=mask)


@triton.jit
def additive_scores(
    raw_query, raw_key, grown_query, grown_key, weight, large, scores, first_row, rows, queries, keys, width,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """The scores (B, H, rows, K) of a tile (BM, BN), from prepared items; the width is a multiple of four."""
    lead = tl.program_id(2).to(tl.int64)
    row, column = tl.arange(0, BM), tl.arange(0, BN)
    own = (lead * tl.cdiv(queries, BM) + first_row // BM + tl.program_id(1)) * width * BM + row
    other = (lead * tl.cdiv(keys, BN) + tl.program_id(0)) * width * BN + column
    total, constant = tl.zeros((BM, BN), tl.float32), tl.sum(tl.zeros((BM,), tl.float32))
    if tl.load(large) > 0:
        for at in range(width):
            factor = tl.load(weight + at).to(tl.float32)
            power = tl.load(raw_query + own + at * BM)[:, None] + tl.load(raw_key + other + at * BN)[None, :]
            total += factor * reciprocal(1.0 + tl.exp2(tl.minimum(power, CEILING)))
            constant += factor
    else:
        queries_at, keys_at = grown_query + own, grown_key + other
        for at in range(0, width, 4):
            for pair in tl.static_range(0, 4, 2):
                factor = tl.load(weight + at + pair).to(tl.float32)
                second = tl.load(weight + at + pair + 1).to(tl.float32)
                x = 1.0 + tl.load(queries_at + pair * BM)[:, None] * tl.load(keys_at + pair * BN)[None, :]
                y = 1.0 + tl.load(queries_at + (pair + 1) * BM)[:, None] * tl.load(keys_at + (pair + 1) * BN)[None, :]
                total += (factor * y + second * x) * reciprocal(x * y)
                constant += factor + second
            queries_at += 4 * BM
            keys_at += 4 * BN
    row, column = tl.program_id(1) * BM + row, tl.program_id(0) * BN + column
    mask = (row < rows)[:, None] & (column < keys)[None, :]
    tl.store(scores + (lead * rows + row[:, None]) * keys + column[None, :], constant - 2.0 * total, mask=mask)


@triton.jit
def distances(raw_query, raw_key, factor, scores, queries, keys, width, BM: tl.constexpr, BN: tl.constexpr):
    """Σ_h |a_h − b_h| times a factor (B, H, Q, K) of a tile (BM, BN), from prepared items."""
    lead = tl.program_id(2).to(tl.int64)
    row, column = tl.arange(0, BM), tl.arange(0, BN)
    queries_at = raw_query + (lead * tl.cdiv(queries, BM) + tl.program_id(1)) * width * BM + row
    keys_at = raw_key + (lead * tl.cdiv(keys, BN) + tl.program_id(0)) * width * BN + column
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, width, 4):  # noqa: B007
        for step in tl.static_range(4):
            total += tl.abs(tl.load(queries_at + step * BM)[:, None] - tl.load(keys_at + step * BN)[None, :])
        queries_at += 4 * BM
        keys_at += 4 * BN
    row, column = tl.program_id(1) * BM + row, tl.program_id(0) * BN + column
    mask = (row < queries)[:, None] & (column < keys)[None, :]
    out = scores + (lead * queries + row[:, None]) * keys + column[None, :]
    tl.store(out, total * factor, mask=mask)


@triton.jit
def score_gradient(
    query, key, value, upstream, centre, statistic, deltas, changes, sums, weights_out, facts, sizes, plugs,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """ds of a tile in blocks of queries (B, H, rows / OWN, K, OWN), its sum, and p; K is rounded up to AT_ONCE."""
    lead = tl.program_id(2)
    batch, head = (lead // sizes.heads).to(tl.int64), (lead % sizes.heads).to(tl.int64)
    local, start = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BN
    rows, columns = facts.first_row + local, start + tl.arange(0, BN)
    real = rows < facts.end_row
    here = place_of(rows, real, lead, batch, head, facts, sizes, plugs)
    q, given, shift, delta = block_of_queries(
        query, upstream, centre, statistic, deltas, rows, real, lead, batch, head, sizes, plugs, BD, BV
    )
    keys_here = (key.at + batch * key.batch + head * key.head, key.row)
    values_here = (value.at + batch * value.batch + head * value.head, value.row)
    known = q, keys_here, values_here, given, shift, delta, here, facts, sizes
    weights, change, _, _ = slopes_of(known, start, plugs, True, BM, BN, BD, BV)
    mask = real[:, None] & (columns < sizes.keys)[None, :]
    change = tl.where(mask, change, 0.0)
    wide, of_queries, stored = lead.to(tl.int64), tl.cdiv(facts.rows, OWN), tl.cdiv(sizes.keys, AT_ONCE) * AT_ONCE
    block = local // OWN
    out = ((wide * of_queries + block[:, None]) * stored + columns[None, :]) * OWN + (local % OWN)[:, None]
    tl.store(changes + out, change, mask=(block < of_queries)[:, None] & (columns < stored)[None, :])
    program = (lead * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    tl.store(sums + program, tl.sum(change))
    out = (wide * facts.rows + local[:, None]) * sizes.keys + columns[None, :]
    tl.store(weights_out + out, weights.to(weights_out.dtype.element_ty), mask=mask)


@triton.jit
def add_pair(own, total, of_weight, a, b, other, second, LARGE: tl.constexpr):
    """Sums with two more others: Σ ds r (1 − r) of items (HALF, BH), Σ ds r (BH,), and of each other its own sum."""
    if LARGE:  # these are exponents still
        x = 1.0 + tl.exp2(tl.minimum(own + other[None, :], CEILING))
        y = 1.0 + tl.exp2(tl.minimum(own + second[None, :], CEILING))
    else:
        x = 1.0 + own * other[None, :]
        y = 1.0 + own * second[None, :]
    shared = reciprocal(x * y)
    r, s = y * shared, x * shared
    t, u = a[:, None] * r, b[:, None] * s
    of_weight += tl.sum(t, 0) + tl.sum(u, 0)
    t, u = t - t * r, u - u * s
    total += t
    total += u
    return total, of_weight, tl.sum(t, 0), tl.sum(u, 0)


@triton.jit
def sum_pairs(
    own, own_rest, others, other_row, changes, to_other, width, factor, known, number,
    LARGE: tl.constexpr, BH: tl.constexpr,
):  # fmt: skip
    """Σ ds r (1 − r) of two halves of OWN items over `number` others, Σ ds r (BH,), and the others' largest exponent.

    The same sum of each other over these items is stored, times `factor`.
    """
    total, rest = tl.zeros((HALF, BH), tl.float32), tl.zeros((HALF, BH), tl.float32)
    of_weight, largest = tl.zeros((BH,), tl.float32), tl.zeros((BH,), tl.float32)
    last = number - 1
    for start in tl.range(0, number, AT_ONCE, num_stages=AHEAD):
        for pair in tl.static_range(0, AT_ONCE, 2):
            at = start + pair
            other = tl.load(others + tl.minimum(at, last) * other_row).to(tl.float32) * TWICE_LOG2_E
            second = tl.load(others + tl.minimum(at + 1, last) * other_row).to(tl.float32) * TWICE_LOG2_E
            largest = tl.maximum(largest, tl.maximum(tl.abs(other), tl.abs(second)))
            if not LARGE:
                other, second = tl.exp2(other), tl.exp2(second)
            a, b = tl.load(changes + at * OWN), tl.load(changes + (at + 1) * OWN)  # 0 after the last
            total, of_weight, t, u = add_pair(own, total, of_weight, a, b, other, second, LARGE)
            a, b = tl.load(changes + at * OWN + HALF), tl.load(changes + (at + 1) * OWN + HALF)
            rest, of_weight, v, w = add_pair(own_rest, rest, of_weight, a, b, other, second, LARGE)
            kind = to_other.dtype.element_ty
            tl.store(to_other + at * width, ((t + v) * factor).to(kind), mask=known & (at <= last))
            tl.store(to_other + (at + 1) * width, ((u + w) * factor).to(kind), mask=known & (at < last))
    return total, rest, of_weight, tl.max(largest)


@triton.jit
def sign(x):
    """−1, 0 or 1, finite for NaN too; on the GPU by instructions of the full rate, which comparisons do not have."""
    if INTERPRETED:
        found = tl.where(x > 0.0, 1.0, tl.where(x < 0.0, -1.0, 0.0))
    else:  # 2^126 x + ½ saturated to 0 ... 1
        half = tl.inline_asm_elementwise(
            "fma.rn.sat.f32 $0, $1, 0f7E800000, 0f3F000000;", "=f,f", [x], tl.float32, True, 1
        )
        found = 2.0 * half - 1.0
    return found


@triton.jit
def sum_signs(own, own_rest, others, other_row, changes, to_other, width, factor, known, number, BH: tl.constexpr):
    """Σ ds sign(a − b) of two halves of OWN items over `number` others.

    Minus that of each other over these items is stored, times `factor`.
    """
    total, rest = tl.zeros((HALF, BH), tl.float32), tl.zeros((HALF, BH), tl.float32)
    for at in tl.range(0, number, num_stages=AHEAD):
        a, b = tl.load(changes + at * OWN)[:, None], tl.load(changes + at * OWN + HALF)[:, None]
        other = tl.load(others + at * other_row).to(tl.float32)[None, :]
        t, u = a * sign(own - other), b * sign(own_rest - other)
        total += t
        rest += u
        sums = (tl.sum(t, 0) + tl.sum(u, 0)) * -factor
        tl.store(to_other + at * width, sums.to(to_other.dtype.element_ty), mask=known)
    return total, rest


@triton.jit(do_not_specialize=["zero"])
def pair_gradient(
    query, key, weight, changes, to_query, to_key, to_weight, first_row, first_block, blocks, stored_keys, sizes, zero,
    BH: tl.constexpr, SPLITS: tl.constexpr, BY_SIGN: tl.constexpr,
):  # fmt: skip
    """Gradients of a block of queries over some keys, and the part of these keys that comes from the block.

    BY_SIGN: of minus a Manhattan distance times `weight`, one number; else of additive scores with weights v.
    to_query (SPLITS, B H, Q, D), to_key (blocks, B H, K, D), to_weight (SPLITS, B H, blocks, D). `zero` is 0, which the
    compiler must not know: as addresses may be odd, a thread holds one feature of every query, and sums over queries
    alone.
    """
    lead, split = (tl.program_id(2) // SPLITS).to(tl.int64), tl.program_id(2) % SPLITS
    leads = tl.num_programs(2) // SPLITS
    batch, head = lead // sizes.heads, lead % sizes.heads
    share = tl.cdiv(sizes.keys, AT_ONCE * SPLITS) * AT_ONCE
    begin = split * share
    number = tl.minimum(sizes.keys - begin, share)
    local, features = tl.arange(0, HALF), tl.program_id(1) * BH + tl.arange(0, BH)
    block = first_block + tl.program_id(0)
    rows, known = first_row + block * OWN + local, features < sizes.width
    mask, mask_rest = (rows < sizes.queries)[:, None] & known[None, :], (rows + HALF < sizes.queries)[:, None] & known
    places = batch * query.batch + head * query.head + rows[:, None] * query.row + features[None, :] + zero
    own = tl.load(query.at + places, mask=mask, other=0.0).to(tl.float32)
    own_rest = tl.load(query.at + places + HALF * query.row, mask=mask_rest, other=0.0).to(tl.float32)
    changes += ((lead * blocks + block) * stored_keys + begin) * OWN + local
    others = key.at + batch * key.batch + head * key.head + begin.to(tl.int64) * key.row
    others += tl.minimum(features, sizes.width - 1)  # loads without a mask
    to_others = to_key + ((tl.program_id(0) * leads + lead) * sizes.keys + begin) * sizes.width + features
    if BY_SIGN:
        factor = tl.zeros((BH,), tl.float32) - weight
        total, rest = sum_signs(
            own, own_rest, others, key.row, changes, to_others, sizes.width, factor, known, number, BH
        )
    else:
        own *= TWICE_LOG2_E
        own_rest *= TWICE_LOG2_E
        factor = 4.0 * tl.load(weight + features, mask=known, other=0.0).to(tl.float32)
        total, rest, of_weight, largest = sum_pairs(
            tl.exp2(own), tl.exp2(own_rest), others, key.row, changes, to_others, sizes.width, factor, known, number,
            False, BH,
        )  # fmt: skip
        if tl.maximum(largest, tl.max(tl.maximum(tl.abs(own), tl.abs(own_rest)))) > LARGEST * TWICE_LOG2_E:
            total, rest, of_weight, largest = sum_pairs(
                own, own_rest, others, key.row, changes, to_others, sizes.width, factor, known, number, True, BH
            )
        out = ((split * leads + lead) * tl.num_programs(0) + tl.program_id(0)) * sizes.width + features
        tl.store(to_weight + out, of_weight, mask=known)
    out = ((split * leads + lead) * sizes.queries + rows[:, None]) * sizes.width + features[None, :] + zero
    kind = to_query.dtype.element_ty
    tl.store(to_query + out, (total * factor[None, :]).to(kind), mask=mask)
    tl.store(to_query + out + HALF * sizes.width, (rest * factor[None, :]).to(kind), mask=mask_rest)
