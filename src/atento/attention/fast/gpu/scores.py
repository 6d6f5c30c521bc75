"""Plugs: scores of the template. A product of query and key is finished by one function (product, b) -> score, slope.

The slope is what a gradient of the score is multiplied by. Scores that are no products are computed beforehand for some
queries at a time, and read by the template: see `pairs` for additive ones. Where all keys of a query fit into one tile,
additive scores are computed in the template itself."""

import triton
import triton.language as tl

# Axes: BM queries, BN keys, LANES features that threads of a warp hold side by side.

TWICE_LOG2_E = tl.constexpr(2.8853900817779268)
LARGEST = tl.constexpr(11.0)  # of |a| and |b|: (1 + e^(2(a + b)))² stays below the largest float32
CEILING = tl.constexpr(60.0)  # of an exponent of two beyond which tanh is 1 in float32
LANES = tl.constexpr(16)
INTERPRETED = tl.constexpr(bool(triton.knobs.runtime.interpret))  # no instructions of the GPU then


@triton.jit
def reciprocal(x):
    """1 / x of a positive float32, by one instruction on the GPU."""
    if INTERPRETED:
        y = 1.0 / x
    else:
        y = tl.inline_asm_elementwise("rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, True, 1)
    return y


@triton.jit
def plain(product, bias):
    """The product is the score."""
    return product, 1.0


@triton.jit
def squashed(product, bias):
    """tanh(product + b)."""
    twice = tl.exp2(tl.abs(product + bias) * (-TWICE_LOG2_E))
    size = (1.0 - twice) / (1.0 + twice)
    value = tl.where(product + bias < 0.0, -size, size)
    return value, 1.0 - value * value


@triton.jit
def some_features(items, rows, known, features, width):
    """Items (T, D) at some features, as float32; 0 where there are none."""
    mask = known[:, None] & (features < width)[None, :]
    places = rows[:, None] * items[1] + features[None, :]
    return tl.load(items[0] + places, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def grow(query, key, grown_query, grown_key, extremes, sizes, BT: tl.constexpr, BH: tl.constexpr):
    """e^(2x) of queries and keys (B, H, T, D), as float32 without gaps, and the largest |x| of each block."""
    lead, block = tl.program_id(2).to(tl.int64), tl.program_id(0)
    batch, head = lead // sizes.heads, lead % sizes.heads
    features, of_queries = tl.program_id(1) * BH + tl.arange(0, BH), tl.cdiv(sizes.queries, BT)
    known = (features < sizes.width)[None, :]
    extreme = extremes + (lead * tl.num_programs(0) + block) * tl.num_programs(1) + tl.program_id(1)
    if block < of_queries:
        rows = block * BT + tl.arange(0, BT)
        mask = (rows < sizes.queries)[:, None] & known
        places = batch * query.batch + head * query.head + rows[:, None] * query.row + features[None, :]
        x = tl.load(query.at + places, mask=mask, other=0.0).to(tl.float32)
        out = (lead * sizes.queries + rows[:, None]) * sizes.width + features[None, :]
        tl.store(grown_query + out, tl.exp2(x * TWICE_LOG2_E), mask=mask)
        tl.store(extreme, tl.max(tl.abs(x)))
    else:
        rows = (block - of_queries) * BT + tl.arange(0, BT)
        mask = (rows < sizes.keys)[:, None] & known
        places = batch * key.batch + head * key.head + rows[:, None] * key.row + features[None, :]
        x = tl.load(key.at + places, mask=mask, other=0.0).to(tl.float32)
        out = (lead * sizes.keys + rows[:, None]) * sizes.width + features[None, :]
        tl.store(grown_key + out, tl.exp2(x * TWICE_LOG2_E), mask=mask)
        tl.store(extreme, tl.max(tl.abs(x)))


@triton.jit
def largest_of(extremes, first, number):
    """The largest of some extremes."""
    most = tl.zeros((16,), tl.float32)
    for at in range(0, number, 16):
        place = at + tl.arange(0, 16)
        most = tl.maximum(most, tl.load(extremes + first + place, mask=place < number, other=0.0))
    return tl.max(most)


@triton.jit
def additive(
    query, key, grown_query, grown_key, largest, weight, rows, real, columns, inside, width,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Σ_h v_h tanh(a_h + b_h) of a tile (BM, BN), by shared reciprocals as in `pairs`; items are (pointer, row)."""
    total, constant = tl.zeros((BM, BN, LANES), tl.float32), tl.zeros((LANES,), tl.float32)
    if largest > LARGEST:
        for at in range(0, width, LANES):
            features = at + tl.arange(0, LANES)
            v = tl.load(weight + features, mask=features < width, other=0.0).to(tl.float32)
            constant += v
            a = some_features(query, rows, real, features, width)
            b = some_features(key, columns, inside, features, width)
            power = tl.minimum((a[:, None, :] + b[None, :, :]) * TWICE_LOG2_E, CEILING)
            total += v[None, None, :] * reciprocal(1.0 + tl.exp2(power))
    else:
        first = tl.arange(0, LANES)
        next_queries = some_features(grown_query, rows, real, first, width)
        next_keys = some_features(grown_key, columns, inside, first, width)
        second_queries = some_features(grown_query, rows, real, first + LANES, width)
        second_keys = some_features(grown_key, columns, inside, first + LANES, width)
        for at in range(0, width, 2 * LANES):
            first = at + tl.arange(0, LANES)
            second, ahead = first + LANES, first + 2 * LANES
            v = tl.load(weight + first, mask=first < width, other=0.0).to(tl.float32)
            w = tl.load(weight + second, mask=second < width, other=0.0).to(tl.float32)
            a, b, c, d = next_queries, next_keys, second_queries, second_keys
            next_queries = some_features(grown_query, rows, real, ahead, width)  # while these are computed
            next_keys = some_features(grown_key, columns, inside, ahead, width)
            second_queries = some_features(grown_query, rows, real, ahead + LANES, width)
            second_keys = some_features(grown_key, columns, inside, ahead + LANES, width)
            constant += v + w
            x = 1.0 + a[:, None, :] * b[None, :, :]
            y = 1.0 + c[:, None, :] * d[None, :, :]
            total += (v[None, None, :] * y + w[None, None, :] * x) * reciprocal(x * y)
    return tl.sum(constant) - 2.0 * tl.sum(total, 2)
