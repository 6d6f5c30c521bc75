"""The backward kernels of the template: gradients of the queries, block by block, then of keys and values.

Weights are computed again from scores and statistic: p, r = f(s, t). With dp = do · v and δ = Σ r dp / Σ r, which is
do · centre, ds = r (dp − δ), dq = Σ ds k, dk = Σ ds q, dv = Σ p do."""

import triton
import triton.language as tl

from atento.attention.fast.gpu.distributions import tanh
from atento.attention.fast.gpu.tiles import UNBOUNDED, finish_tile, key_range, place_of, tile, values_at, walk

OWN = tl.constexpr(64)  # queries of a block of stored gradients of scores
AT_ONCE = tl.constexpr(4)  # of whose keys `pair_gradient` takes so many in one turn

# Axes: BM queries of a block, BN keys of a tile, BD and BV their widths, next powers of two.


@triton.jit
def slopes_of(
    given, start, plugs, MASKED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr
):
    """Weights, the gradients of products and of a learned bias, and p ln p (dp − δ); all (BM, BN).

    The gradient of a bias is that of a predicted position or of a distance, where there is one.
    """
    q, keys_here, values_here, upstream, shift, delta, here, facts, sizes = given
    scores, slope, bias_slope, factor = tile(q, keys_here, here, facts, sizes, plugs, start, MASKED, BM, BN, BD)
    weights, slopes = plugs.weigh(scores, factor if plugs.source == "opposed" else shift[:, None], here[5])
    v = values_at(values_here, start, sizes, MASKED, BN, BV)
    change = tl.dot(upstream, tl.trans(v), input_precision=plugs.precision)
    of_bias = change
    if plugs.source == "opposed":
        of_bias = change * weights * (0.5 - 0.5 * tanh(0.5 * factor, False))
    if plugs.reach > 0:
        of_bias = change * weights * bias_slope
        weights *= factor
        change *= factor
    if plugs.kind != "pointwise":
        change -= delta[:, None]
    entropy_change = change
    if plugs.order == 0.0:
        entropy_change = change * weights * tl.log(tl.where(weights > 0.0, weights, 1.0))
    change = slopes * change
    if plugs.source != "opposed" and plugs.reach == 0:
        of_bias = change * bias_slope
    return weights, change * slope, of_bias, entropy_change


@triton.jit
def add_gradient(
    state,
    given,
    start,
    plugs,
    MASKED: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BD: tl.constexpr,
    BV: tl.constexpr,
):
    """Σ ds k, Σ ds, the gradient of the bias and Σ p ln p (dp − δ) with one more tile."""
    gradient, of_offset, of_bias, of_order = state
    keys_here, sizes = given[1], given[8]
    _, change, bias_change, entropy_change = slopes_of(given, start, plugs, MASKED, BM, BN, BD, BV)
    if plugs.has_offset:
        of_offset += tl.sum(change, 1)
    if plugs.span or plugs.reach > 0:
        of_bias += tl.sum(bias_change, 1)
    if plugs.source == "opposed":
        keep_change(bias_change, start, given, BN)
    if plugs.relative > 0:
        add_to_table(bias_change, start, given, plugs, BN)
    if plugs.order == 0.0:
        of_order += tl.sum(entropy_change, 1)
    columns, features = start + tl.arange(0, BN), tl.arange(0, BD)
    mask = (features < sizes.width)[None, :]
    if MASKED:
        mask = mask & (columns < sizes.keys)[:, None]
    k = tl.load(keys_here[0] + columns[:, None] * keys_here[1] + features[None, :], mask=mask, other=0.0)
    gradient = tl.dot(change.to(k.dtype), k, gradient, input_precision=plugs.precision)
    return gradient, of_offset, of_bias, of_order


@triton.jit
def keep_change(change, start, given, BN: tl.constexpr):
    """Store gradients of distances in blocks of queries, as `pair_gradient` reads them; no key after the last."""
    here, facts, sizes = given[6], given[7], given[8]
    rows, columns = here[0], start + tl.arange(0, BN)
    lead = here[6] * sizes.heads + here[7]
    stored, blocks = tl.cdiv(sizes.keys, AT_ONCE) * AT_ONCE, tl.cdiv(sizes.queries, OWN)
    within = (rows < sizes.queries)[:, None] & (columns < sizes.keys)[None, :]
    out = ((lead * blocks + rows[:, None] // OWN) * stored + columns[None, :]) * OWN + (rows % OWN)[:, None]
    tl.store(facts.changes + out, tl.where(within, change, 0.0), mask=within)


@triton.jit
def add_to_table(change, start, given, plugs, BN: tl.constexpr):
    """Add the gradient of a learned table of offsets; keys that are all beyond its reach share one number."""
    here, facts, sizes = given[6], given[7], given[8]
    at = facts.to_table + here[7] * facts.table_row + 1 + plugs.relative
    rows, query_at = here[0], here[1]
    real = (rows < sizes.queries)[:, None]
    before = tl.min(tl.where(rows < sizes.queries, query_at, 2147483647)) - (start + BN - 1) >= plugs.relative
    after = start - tl.max(tl.where(rows < sizes.queries, query_at, -1)) >= plugs.relative
    if before | after:
        tl.atomic_add(at + tl.where(before, -plugs.relative, plugs.relative), tl.sum(tl.where(real, change, 0.0)))
    else:
        offset = start + tl.arange(0, BN)[None, :] - query_at[:, None]
        offset = tl.minimum(tl.maximum(offset, -plugs.relative), plugs.relative)
        tl.atomic_add(at + offset, change, mask=real & (change != 0.0))


@triton.jit
def block_of_queries(
    query, upstream, centre, statistic, deltas, rows, real, lead, batch, head, sizes, plugs,
    BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """Queries, upstream gradients, statistics and δ of a block; δ is stored for the gradient of the keys."""
    features, outputs = tl.arange(0, BD), tl.arange(0, BV)
    q = 0.0
    if plugs.source == "product" or plugs.source == "opposed":
        places = batch * query.batch + head * query.head + rows[:, None] * query.row + features[None, :]
        q = tl.load(query.at + places, mask=real[:, None] & (features < sizes.width)[None, :], other=0.0)
    mask = real[:, None] & (outputs < sizes.value_width)[None, :]
    places = batch * upstream.batch + head * upstream.head + rows[:, None] * upstream.row + outputs[None, :]
    given = tl.load(upstream.at + places, mask=mask, other=0.0)
    at = (lead * sizes.queries + rows).to(tl.int64)
    delta, shift = tl.zeros_like(rows).to(tl.float32), tl.zeros_like(rows).to(tl.float32)
    if plugs.kind != "pointwise":
        places = batch * centre.batch + head * centre.head + rows[:, None] * centre.row + outputs[None, :]
        delta = tl.sum(given.to(tl.float32) * tl.load(centre.at + places, mask=mask, other=0.0).to(tl.float32), 1)
        shift = tl.load(statistic + at, mask=real, other=float("inf"))
        tl.store(deltas + at, delta, mask=real)
    return q, given, shift, delta


@triton.jit
def backward_of_queries(
    query, key, value, upstream, centre, statistic, deltas, to_query, to_offset, to_bias, to_order, step,
    facts, sizes, plugs,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """dq of a block of queries, its part of the gradients of offset and bias, and δ."""
    lead = tl.program_id(1)
    batch, head = (lead // sizes.heads).to(tl.int64), (lead % sizes.heads).to(tl.int64)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    real = rows < sizes.queries
    here = place_of(rows, real, lead, batch, head, facts, sizes, plugs)
    slack = 0
    if plugs.reach > 0 and plugs.has_valid:
        slack = tl.load(facts.slack + lead)
    q, given, shift, delta = block_of_queries(
        query, upstream, centre, statistic, deltas, rows, real, lead, batch, head, sizes, plugs, BD, BV
    )
    keys_here = (key.at + batch * key.batch + head * key.head, key.row)
    values_here = (value.at + batch * value.batch + head * value.head, value.row)
    edges = key_range(here[1], real, here[3], here[8], slack, sizes.keys, plugs, BN)
    nothing = tl.zeros((BM,), tl.float32)
    state = tl.zeros((BM, BD), tl.float32), nothing, nothing, nothing
    known = q, keys_here, values_here, given, shift, delta, here, facts, sizes
    gradient, of_offset, of_bias, of_order = walk(add_gradient, state, known, edges, plugs, BM, BN, BD, BV)
    features = tl.arange(0, BD)
    places = batch * to_query.batch + head * to_query.head + rows[:, None] * to_query.row + features[None, :]
    mask = real[:, None] & (features < sizes.width)[None, :]
    tl.store(to_query.at + places, (gradient * step).to(to_query.at.dtype.element_ty), mask=mask)
    program = lead * tl.num_programs(0) + tl.program_id(0)
    if plugs.has_offset:
        tl.store(to_offset + program, tl.sum(tl.where(real, of_offset, 0.0)))
    if plugs.span:
        tl.store(to_bias + program, tl.sum(tl.where(real, of_bias, 0.0)))
    if plugs.reach > 0:
        tl.store(to_bias + lead.to(tl.int64) * sizes.queries + rows, of_bias, mask=real)
    if plugs.order == 0.0:
        tl.store(to_order + program, tl.sum(tl.where(real, of_order, 0.0)))


@triton.jit
def add_to_keys(
    state, known, start, lead, batch, head, query, upstream, statistic, deltas, facts, sizes, plugs,
    BM: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """dk and dv of a tile of keys with one more block of queries."""
    to_k, to_v = state
    k, v, columns, inside, place = known
    features, outputs = tl.arange(0, BD), tl.arange(0, BV)
    rows = start + tl.arange(0, BM)
    real = rows < sizes.queries
    _, query_at, first, table, offset, order, _, _, centre = place_of(
        rows, real, lead, batch, head, facts, sizes, plugs
    )
    queries_at = query.at + batch * query.batch + head * query.head
    given_at = upstream.at + batch * upstream.batch + head * upstream.head
    mask = real[:, None] & (features < sizes.width)[None, :]
    q = tl.load(queries_at + rows[:, None] * query.row + features[None, :], mask=mask, other=0.0)
    mask = real[:, None] & (outputs < sizes.value_width)[None, :]
    given = tl.load(given_at + rows[:, None] * upstream.row + outputs[None, :], mask=mask, other=0.0)
    at = (lead * sizes.queries + rows).to(tl.int64)
    shift, delta = tl.zeros((BM,), tl.float32), tl.zeros((BM,), tl.float32)
    if plugs.kind != "pointwise":
        shift = tl.load(statistic + at, mask=real, other=float("inf"))
        delta = tl.load(deltas + at, mask=real, other=0.0)
    product = tl.dot(k, tl.trans(q), input_precision=plugs.precision) * facts.scale
    if plugs.source == "opposed":
        places = (at[None, :] * sizes.keys) + columns[:, None]
        centre = tl.load(facts.scores + places, mask=real[None, :] & (columns < sizes.keys)[:, None], other=0.0)
    elif plugs.reach > 0:
        centre = centre[None, :]
    of_row = first, table, offset, order, centre
    scores, slope, _, factor = finish_tile(
        product, query_at[None, :], columns[:, None], inside[:, None], of_row, place[:, None], plugs, True
    )
    weights, slopes = plugs.weigh(scores, factor if plugs.source == "opposed" else shift[None, :], order)
    change = tl.dot(v, tl.trans(given), input_precision=plugs.precision)
    if plugs.reach > 0:
        weights *= factor
        change *= factor
    if plugs.kind == "drawn":
        weights = (tl.load(facts.chosen + at, mask=real, other=-1)[None, :] == columns[:, None]).to(tl.float32)
    to_v = tl.dot(weights.to(given.dtype), given, to_v, input_precision=plugs.precision)
    if plugs.kind != "pointwise":
        change -= delta[None, :]
    change = slopes * change * slope
    to_k = tl.dot(change.to(q.dtype), q, to_k, input_precision=plugs.precision)
    return to_k, to_v


@triton.jit
def backward_of_keys(
    query, key, value, upstream, statistic, deltas, to_key, to_value, step, facts, sizes, plugs,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """dk and dv of a tile of keys. Tiles are (BN, BM): keys are rows, so that nothing is transposed on the way."""
    lead = tl.program_id(1)
    batch, head = (lead // sizes.heads).to(tl.int64), (lead % sizes.heads).to(tl.int64)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    features, outputs = tl.arange(0, BD), tl.arange(0, BV)
    inside = columns < sizes.keys
    key_mask = inside[:, None] & (features < sizes.width)[None, :]
    value_mask = inside[:, None] & (outputs < sizes.value_width)[None, :]
    places = batch * key.batch + head * key.head + columns[:, None] * key.row + features[None, :]
    k = tl.load(key.at + places, mask=key_mask, other=0.0)
    places = batch * value.batch + head * value.head + columns[:, None] * value.row + outputs[None, :]
    v = tl.load(value.at + places, mask=value_mask, other=0.0)
    if plugs.has_valid:
        places = batch * facts.valid_batch + head * facts.valid_head + columns
        inside = inside & (tl.load(facts.valid + places, mask=inside, other=0) != 0)
    place = columns
    if plugs.reach > 0 and plugs.has_valid:
        place = tl.load(facts.places + lead.to(tl.int64) * sizes.keys + columns, mask=columns < sizes.keys, other=0)
    lowest, highest = tl.min(place).to(tl.float32), tl.max(place).to(tl.float32)
    low, high = query_range(tl.program_id(0) * BN, facts.table + head * facts.table_row, sizes.queries, plugs, BM, BN)
    state = tl.zeros((BN, BD), tl.float32), tl.zeros((BN, BV), tl.float32)
    known = k, v, columns, inside, place
    for start in range(low, high, BM):
        if plugs.reach > 0:  # queries are in the order of their positions: most blocks are not near these keys
            rows = start + tl.arange(0, BM)
            centre = tl.load(facts.centres + lead * sizes.queries + rows, mask=rows < sizes.queries, other=-1e9)
            latest, earliest = tl.max(centre), tl.min(tl.where(centre >= 0.0, centre, 1e9))
            if (latest + plugs.reach >= lowest) & (earliest - plugs.reach <= highest):
                state = add_to_keys(
                    state, known, start, lead, batch, head, query, upstream, statistic, deltas, facts, sizes, plugs,
                    BM, BD, BV,
                )  # fmt: skip
        else:
            state = add_to_keys(
                state, known, start, lead, batch, head, query, upstream, statistic, deltas, facts, sizes, plugs,
                BM, BD, BV,
            )  # fmt: skip
    to_k, to_v = state
    places = batch * to_key.batch + head * to_key.head + columns[:, None] * to_key.row + features[None, :]
    tl.store(to_key.at + places, (to_k * step).to(to_key.at.dtype.element_ty), mask=key_mask)
    places = batch * to_value.batch + head * to_value.head + columns[:, None] * to_value.row + outputs[None, :]
    tl.store(to_value.at + places, to_v.to(to_value.at.dtype.element_ty), mask=value_mask)


@triton.jit
def query_range(first_key, table, queries, plugs, BM: tl.constexpr, BN: tl.constexpr):
    """The queries [low, high) that may see a tile of keys; all of them where their positions are given."""
    low, high = 0, queries
    if not plugs.has_positions:
        if plugs.after < UNBOUNDED:
            low = tl.maximum(first_key - plugs.after, 0)
        if plugs.before < UNBOUNDED:
            high = tl.minimum(first_key + BN + plugs.before, queries)
        if plugs.span:
            reach = tl.ceil(tl.load(table) + tl.load(table + 1)).to(tl.int32)
            low = tl.maximum(low, first_key - reach)
            high = tl.minimum(high, first_key + BN + reach)
    return low // BM * BM, high
