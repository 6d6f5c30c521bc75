"""Tiles of the template: the scores of a block of queries with some keys, and the walk over all of them."""

import triton
import triton.language as tl

from atento.attention.fast.gpu.extents import near_centre
from atento.attention.fast.gpu.scores import additive, largest_of

# Axes: BM queries of a block, BN keys of a tile, BD and BV their widths, next powers of two.

UNBOUNDED = tl.constexpr(1 << 30)


@triton.jit
def key_range(query_at, here, table, centres, slack, keys, plugs, BN: tl.constexpr):
    """The keys [low, high) that the queries may see, and [inner, inner_end) where all of them see all."""
    low, high = 0, keys
    earliest = tl.min(tl.where(here, query_at, 2147483647))
    latest = tl.max(tl.where(here, query_at, -1))
    if plugs.before < UNBOUNDED:
        low = tl.maximum(earliest - plugs.before, 0)
    if plugs.after < UNBOUNDED:
        high = tl.minimum(latest + plugs.after + 1, keys)
    if plugs.span:
        reach = tl.ceil(tl.load(table) + tl.load(table + 1)).to(tl.int32)
        low = tl.maximum(low, earliest - reach)
        high = tl.minimum(high, latest + reach + 1)
    if plugs.reach > 0:
        low = tl.maximum(tl.min(tl.where(here, centres, 1e9)).to(tl.int32) - plugs.reach, 0)
        high = tl.minimum(tl.max(tl.where(here, centres, -1.0)).to(tl.int32) + plugs.reach + 2 + slack, keys)
    low, high = low // BN * BN, tl.maximum(high, 0)
    inner, inner_end = low, high
    if plugs.has_valid or plugs.shaped or plugs.span or plugs.reach > 0:
        inner_end = low
    else:
        if plugs.before < UNBOUNDED:
            inner = tl.minimum(tl.maximum(low, (latest - plugs.before + BN - 1) // BN * BN), (high + BN - 1) // BN * BN)
        if plugs.after < UNBOUNDED:
            inner_end = tl.maximum(inner, tl.minimum(high, earliest + plugs.after + 1) // BN * BN)
        elif not plugs.even:
            inner_end = tl.maximum(inner, high // BN * BN)
    return low, high, inner, inner_end


@triton.jit
def finish_tile(product, query_at, key_at, real, here, place, plugs, MASKED: tl.constexpr):
    """Scores of a tile in the distribution's unit, −inf where hidden; and their slopes by product and learned bias.

    Instead of the latter, the factor of the weights and its slope, where a predicted position has one; the factor
    stands for the second scores of de-attention, too.
    Positions broadcast against each other: queries may be the rows of the tile, or the columns.
    """
    first, table, offset, order, centre = here
    scores, slope = plugs.finish(product, offset)
    bias_slope, factor = scores, scores
    if plugs.source == "opposed":
        factor = centre  # the distances of the tile
    if plugs.biased:
        added, bias_slope = plugs.bias(query_at, key_at, table)
        scores += added
    if plugs.unit != 1.0:
        scores *= plugs.unit
    if plugs.order == 0.0:
        scores *= order
    if MASKED:
        visible = real
        if plugs.before < UNBOUNDED:
            visible = visible & (key_at >= query_at - plugs.before)
        if plugs.after < UNBOUNDED:
            visible = visible & (key_at <= query_at + plugs.after)
        if plugs.shaped:
            visible = visible & plugs.pattern(query_at - first, key_at - first, plugs.first_size, plugs.second_size)
        if plugs.reach > 0:
            factor, bias_slope, near = near_centre(centre, place, plugs.reach)
            visible = visible & near
        scores = tl.where(visible, scores, float("-inf"))
    return scores, slope, bias_slope, factor


@triton.jit
def tile(
    q, key, here, facts, sizes, plugs, start, MASKED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr
):
    """The scores (BM, BN) of a block of queries with the keys from `start` on."""
    rows, query_at, first, table, offset, order, batch, head, centre = here
    columns = start + tl.arange(0, BN)
    inside = columns < sizes.keys
    if plugs.source == "additive" or plugs.source == "stored":
        row = (batch * sizes.heads + head) * facts.rows + rows - facts.first_row
        real = rows < facts.end_row
        stored, within = facts.scores + row[:, None] * sizes.keys + columns[None, :], real[:, None] & inside[None, :]
        if plugs.source == "additive":
            lead = batch * sizes.heads + head
            grown_query = facts.grown_query + lead * sizes.queries * sizes.width, sizes.width
            grown_key = facts.grown_key + lead * sizes.keys * sizes.width, sizes.width
            of_queries, of_keys = tl.cdiv(sizes.queries, BM), tl.cdiv(sizes.keys, BM)
            own = lead * (of_queries + of_keys) * facts.parts
            block = tl.min(rows) // BM
            largest = tl.maximum(
                largest_of(facts.extremes, own + block * facts.parts, facts.parts),
                largest_of(facts.extremes, own + of_queries * facts.parts, of_keys * facts.parts),
            )
            product = additive(
                q, key, grown_query, grown_key, largest, facts.weight, rows, real, columns, inside, sizes.width, BM, BN
            )
            tl.store(stored, product, mask=within)  # the backward pass reads them
        else:
            product = tl.load(stored, mask=within, other=0.0)
    else:
        features = tl.arange(0, BD)
        places = columns[None, :] * key[1] + features[:, None]
        if MASKED:
            k = tl.load(key[0] + places, mask=inside[None, :] & (features < sizes.width)[:, None], other=0.0)
        else:
            k = tl.load(key[0] + places, mask=(features < sizes.width)[:, None], other=0.0)
        product = tl.dot(q, k, input_precision=plugs.precision) * facts.scale
    if plugs.has_valid and MASKED:
        places = batch * facts.valid_batch + head * facts.valid_head + columns
        inside = inside & (tl.load(facts.valid + places, mask=inside, other=0) != 0)
    place = columns
    if plugs.source == "opposed":
        places = ((batch * sizes.heads + head) * sizes.queries + rows[:, None]) * sizes.keys + columns[None, :]
        within = (rows < sizes.queries)[:, None] & (columns < sizes.keys)[None, :]
        centre = tl.load(facts.scores + places, mask=within, other=0.0)
    if plugs.reach > 0:
        if plugs.has_valid:
            place = tl.load(facts.places + (batch * sizes.heads + head) * sizes.keys + columns, mask=inside, other=0)
        centre = centre[:, None]
    of_row = first, table, offset, order, centre
    return finish_tile(
        product, query_at[:, None], columns[None, :], inside[None, :], of_row, place[None, :], plugs, MASKED
    )


@triton.jit
def values_at(value, start, sizes, MASKED: tl.constexpr, BN: tl.constexpr, BV: tl.constexpr):
    """The values (BN, BV) from `start` on."""
    columns, outputs = start + tl.arange(0, BN), tl.arange(0, BV)
    mask = (outputs < sizes.value_width)[None, :]
    if MASKED:
        mask = mask & (columns < sizes.keys)[:, None]
    return tl.load(value[0] + columns[:, None] * value[1] + outputs[None, :], mask=mask, other=0.0)


@triton.jit
def walk(
    body: tl.constexpr, state, given, edges, plugs,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """`state = body(state, given, start)` for each tile of keys; tiles that hide nothing are not masked."""
    low, high, inner, inner_end = edges
    if plugs.has_valid or plugs.shaped or plugs.span or plugs.reach > 0:
        for start in range(low, high, BN):
            state = body(state, given, start, plugs, True, BM, BN, BD, BV)
    else:
        if plugs.before < UNBOUNDED:
            for start in range(low, tl.minimum(inner, high), BN):
                state = body(state, given, start, plugs, True, BM, BN, BD, BV)
        for start in range(inner, inner_end, BN):
            state = body(state, given, start, plugs, False, BM, BN, BD, BV)
        if plugs.after < UNBOUNDED or not plugs.even:
            for start in range(inner_end, high, BN):
                state = body(state, given, start, plugs, True, BM, BN, BD, BV)
    return state


@triton.jit
def place_of(rows, real, lead, batch, head, facts, sizes, plugs):
    """Rows with their positions, and the numbers of their batch row and head."""
    query_at = rows
    if plugs.has_positions:
        query_at = tl.load(facts.positions + rows, mask=real, other=0).to(tl.int32)
    first = 0
    if plugs.has_first:
        first = tl.load(facts.first + lead)
    offset, order = 0.0, plugs.order
    if plugs.has_offset:
        offset = tl.load(facts.bias)
    if plugs.order == 0.0:
        order = tl.load(facts.orders + head)
    centre = 0.0
    if plugs.reach > 0:
        centre = tl.load(facts.centres + lead * sizes.queries + rows, mask=real, other=0.0)
    return rows, query_at, first, facts.table + head * facts.table_row, offset, order, batch, head, centre
