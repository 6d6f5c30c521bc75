"""Additive scores Σ_h v_h tanh(a_h + b_h) on a GPU: their kernels, and those of their gradients.

tanh(z) = 1 − 2 r with r = 1 / (1 + e^(2z)) and e^(2(a + b)) = e^(2a) e^(2b): exponentials are taken once for each query
and key, and two terms share one reciprocal, v / x + w / y = (v y + w x) / (x y). Where a query or key is too large for
the product of two such terms, the exponential is taken of the sum.

The gradient by a_h is 4 v_h Σ ds r (1 − r), a sum over keys for every feature that no product of matrices gives. ds is
stored for some queries at a time, and queries and keys each sum their own."""

import triton
import triton.language as tl

from atento.attention.fast.gpu.backward import block_of_queries, slopes_of
from atento.attention.fast.gpu.scores import TWICE_LOG2_E
from atento.attention.fast.gpu.tiles import place_of

# Axes: BT items of a block, BH features of a block, BM queries, BN keys.

LARGEST = tl.constexpr(11.0)  # of |a| and |b|: (1 + e^(2(a + b)))² stays below the largest float32
INTERPRETED = tl.constexpr(bool(triton.knobs.runtime.interpret))  # no instructions of the GPU then
CEILING = tl.constexpr(60.0)  # of an exponent of two beyond which tanh is 1 in float32
OWN = tl.constexpr(64)  # items whose gradients a program sums: ds is stored in blocks of so many


@triton.jit
def reciprocal(x):
    """1 / x of a positive float32, by one instruction on the GPU."""
    if INTERPRETED:
        y = 1.0 / x
    else:
        y = tl.inline_asm_elementwise("rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, True, 1)
    return y


@triton.jit
def prepare(
    items, raw, grown, large, batch_stride, head_stride, row, heads, length, width, even_width,
    BT: tl.constexpr, BH: tl.constexpr,
):  # fmt: skip
    """Items (B, H, T, D) -> 2x in units of ln 2 and e^(2x) in blocks (B, H, T / BT, D, BT); whether any is large."""
    lead = tl.program_id(2).to(tl.int64)
    local, features = tl.arange(0, BT), tl.program_id(1) * BH + tl.arange(0, BH)
    at = tl.program_id(0) * BT + local
    places = lead // heads * batch_stride + lead % heads * head_stride + at[None, :] * row + features[:, None]
    x = tl.load(items + places, mask=(at < length)[None, :] & (features < width)[:, None], other=0.0).to(tl.float32)
    if tl.max(tl.abs(x)) > LARGEST:
        tl.atomic_max(large, 1)
    block = lead * tl.num_programs(0) + tl.program_id(0)
    out = (block * even_width + features[:, None]) * BT + local[None, :]
    mask = (features < even_width)[:, None]
    tl.store(raw + out, x * TWICE_LOG2_E, mask=mask)
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
def score_gradient(
    query, key, value, upstream, centre, statistic, deltas, by_query, by_key, weights_out, facts, sizes, plugs,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """ds of a tile in blocks of queries (B, H, rows / OWN, K, OWN) and of keys (B, H, K / OWN, rows, OWN); and p.

    K and rows are rounded up to even numbers there, as the gradients are summed two by two.
    """
    lead = tl.program_id(2)
    batch, head = (lead // sizes.heads).to(tl.int64), (lead % sizes.heads).to(tl.int64)
    local, start = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BN
    rows, columns = facts.first_row + local, start + tl.arange(0, BN)
    real = rows < facts.end_row
    here = place_of(rows, real, lead, batch, head, facts, plugs)
    q, given, shift, delta = block_of_queries(
        query, upstream, centre, statistic, deltas, rows, real, lead, batch, head, sizes, plugs, BD, BV
    )
    keys_here = (key.at + batch * key.batch + head * key.head, key.row)
    values_here = (value.at + batch * value.batch + head * value.head, value.row)
    known = q, keys_here, values_here, given, shift, delta, here, facts, sizes
    weights, change, _, _ = slopes_of(known, start, plugs, True, BM, BN, BD, BV)
    wide, of_queries, of_keys = lead.to(tl.int64), tl.cdiv(facts.rows, OWN), tl.cdiv(sizes.keys, OWN)
    even_rows, even_keys = tl.cdiv(facts.rows, 2) * 2, tl.cdiv(sizes.keys, 2) * 2
    block = local // OWN
    out = ((wide * of_queries + block[:, None]) * even_keys + columns[None, :]) * OWN + (local % OWN)[:, None]
    tl.store(by_query + out, change, mask=(block < of_queries)[:, None] & (columns < even_keys)[None, :])
    block = columns // OWN
    out = ((wide * of_keys + block[None, :]) * even_rows + local[:, None]) * OWN + (columns % OWN)[None, :]
    tl.store(by_key + out, change, mask=(local < even_rows)[:, None] & (block < of_keys)[None, :])
    out = (wide * facts.rows + local[:, None]) * sizes.keys + columns[None, :]
    mask = real[:, None] & (columns < sizes.keys)[None, :]
    tl.store(weights_out + out, weights.to(weights_out.dtype.element_ty), mask=mask)


@triton.jit
def sum_pairs(own, others, changes, number, width, LARGE: tl.constexpr, WITH_WEIGHT: tl.constexpr, BH: tl.constexpr):
    """Σ ds r (1 − r) and Σ ds r of items (OWN, BH) over `number` others; large items are exponents still."""
    total, of_weight = tl.zeros((OWN, BH), tl.float32), tl.zeros((OWN, BH), tl.float32)
    last = number - 1
    change, next_change = tl.load(changes), tl.load(changes + OWN)
    other, second = tl.load(others), tl.load(others + tl.minimum(1, last) * width)
    for at in range(0, number, 2):  # of an odd number, the last has a partner whose ds is 0
        here, there, a, b = other[None, :], second[None, :], change[:, None], next_change[:, None]
        ahead = tl.minimum(at + 2, last // 2 * 2)  # loaded while these are computed
        change, next_change = tl.load(changes + ahead * OWN), tl.load(changes + (ahead + 1) * OWN)
        other, second = tl.load(others + ahead * width), tl.load(others + tl.minimum(ahead + 1, last) * width)
        if LARGE:
            x = 1.0 + tl.exp2(tl.minimum(own + here, CEILING))
            y = 1.0 + tl.exp2(tl.minimum(own + there, CEILING))
        else:
            x = 1.0 + own * here
            y = 1.0 + own * there
        shared = reciprocal(x * y)
        r, s = y * shared, x * shared
        total += a * (r - r * r)
        total += b * (s - s * s)
        if WITH_WEIGHT:
            of_weight += a * r
            of_weight += b * s
    return total, of_weight


@triton.jit
def pair_gradient(
    own, other, grown_other, changes, to_own, to_weight, large, own_length, first_own, other_length, first_other,
    number, stored, width, WITH_WEIGHT: tl.constexpr, BH: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    """Σ ds r (1 − r) of a block of items (OWN, BH) over the others, and Σ ds r for the gradient of v.

    own and other: 2a and 2b in units of ln 2, (B, H, T, D). Of `stored` others in a block of ds, `number` are there,
    in SPLITS parts that write sums of their own.
    """
    lead, split = (tl.program_id(2) // SPLITS).to(tl.int64), tl.program_id(2) % SPLITS
    begin = split * (tl.cdiv(number, 2 * SPLITS) * 2)
    number = tl.minimum(number - begin, tl.cdiv(number, 2 * SPLITS) * 2)
    local, features = tl.arange(0, OWN), tl.program_id(1) * BH + tl.arange(0, BH)
    at, known = first_own + tl.program_id(0) * OWN + local, features < width
    mask = (at < own_length)[:, None] & known[None, :]
    places = (lead * own_length + at[:, None]) * width + features[None, :]
    items = tl.load(own + places, mask=mask, other=0.0)
    changes += (lead * tl.num_programs(0) + tl.program_id(0)) * (stored + stored % 2) * OWN + begin * OWN + local
    others = (lead * other_length + first_other + begin) * width + tl.minimum(
        features, width - 1
    )  # loads without a mask
    if tl.load(large) > 0:
        total, of_weight = sum_pairs(items, other + others, changes, number, width, True, WITH_WEIGHT, BH)
    else:
        total, of_weight = sum_pairs(
            tl.exp2(items), grown_other + others, changes, number, width, False, WITH_WEIGHT, BH
        )
    tl.store(
        to_own + split.to(tl.int64) * (tl.num_programs(2) // SPLITS) * own_length * width + places, total, mask=mask
    )
    if WITH_WEIGHT:
        out = (tl.program_id(2).to(tl.int64) * tl.num_programs(0) + tl.program_id(0)) * width + features
        tl.store(to_weight + out, tl.sum(of_weight, 0), mask=known)
