"""The forward kernel of the template: the context of one block of queries, tile after tile of keys.

Nothing of the size of the weights is stored. A distribution with a threshold reads the keys several times: once for a
first bound, then for each step of Newton's method, until the weights of every row of the block nearly sum to 1. The
last step is the walk that sums the context: Σ p v is moved by the remaining gap along its derivative."""

import triton
import triton.language as tl

from atento.attention.fast.gpu.tiles import key_range, place_of, tile, values_at, walk

# Axes: BM queries of a block, BN keys of a tile, BD and BV their widths, next powers of two.

STEPS = tl.constexpr(32)  # of Newton's method at most; three to eight were seen


@triton.jit
def add_online(
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
    """Context, peak and total with one more tile: weights are added up, rescaled where the peak rises.

    Totals of a distribution from which a key is drawn are those of each place in a tile, (BM, BN).
    """
    context, peak, total = state
    q, keys_here, values_here, here, facts, sizes = given
    scores, _, _, factor = tile(q, keys_here, here, facts, sizes, plugs, start, MASKED, BM, BN, BD)
    if plugs.kind == "online" or plugs.kind == "drawn":
        higher = tl.maximum(peak, tl.max(scores, 1))
        shift = tl.where(higher == float("-inf"), 0.0, higher) if MASKED else higher
        weights, _ = plugs.weigh(scores, shift[:, None], here[5])
        shrink = tl.exp2(peak - shift)
        total = total * shrink[:, None] + weights if plugs.kind == "drawn" else total * shrink + tl.sum(weights, 1)
        context = context * shrink[:, None]
        peak = higher
    else:
        weights, _ = plugs.weigh(scores, factor if plugs.source == "opposed" else 0.0, here[5])
    if plugs.reach > 0:
        weights *= factor
    v = values_at(values_here, start, sizes, MASKED, BN, BV)
    context = tl.dot(weights.to(v.dtype), v, context, input_precision=plugs.precision)
    return context, peak, total


@triton.jit
def add_highest(
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
    """The highest score of each place in a tile, (BM, BN), and the tile where it was found."""
    best, found_at = state
    q, keys_here, _, here, facts, sizes = given
    scores, _, _, _ = tile(q, keys_here, here, facts, sizes, plugs, start, MASKED, BM, BN, BD)
    found_at = tl.where(scores > best, start, found_at)
    return tl.maximum(best, scores), found_at


@triton.jit
def add_mass(
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
    """Σ p and Σ r over each place in a tile, (BM, BN), at a threshold."""
    mass, total, threshold = state
    q, keys_here, _, here, facts, sizes = given
    scores, _, _, _ = tile(q, keys_here, here, facts, sizes, plugs, start, MASKED, BM, BN, BD)
    weights, slopes = plugs.weigh(scores, threshold[:, None], here[5])
    return mass + weights, total + slopes, threshold


@triton.jit
def add_above(
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
    """Σ p v, Σ r v, Σ p and Σ r with one more tile, at a threshold."""
    context, slanted, mass, total, threshold = state
    q, keys_here, values_here, here, facts, sizes = given
    scores, _, _, _ = tile(q, keys_here, here, facts, sizes, plugs, start, MASKED, BM, BN, BD)
    weights, slopes = plugs.weigh(scores, threshold[:, None], here[5])
    v = values_at(values_here, start, sizes, MASKED, BN, BV)
    context = tl.dot(weights.to(v.dtype), v, context, input_precision=plugs.precision)
    slanted = tl.dot(slopes.to(v.dtype), v, slanted, input_precision=plugs.precision)
    return context, slanted, mass + tl.sum(weights, 1), total + tl.sum(slopes, 1), threshold


@triton.jit
def raised(threshold, mass, total, order):
    """The threshold after one step of Newton's method for (Σ p)^(α − 1), which never passes the root."""
    safe = tl.maximum(mass, 1.0)  # below 1 by rounding alone, or without any visible key
    step = (safe - tl.exp2(tl.log2(safe) * (1.0 - order))) / tl.maximum(total, 1e-30)
    return threshold + step


@triton.jit
def threshold_within(scores, close, order, plugs):
    """The threshold of each row of scores that are at hand, (BM, BN)."""
    threshold = tl.maximum(tl.max(scores, 1) - 1.0, -1e30)
    gap = tl.max(threshold) * 0.0 + 1e30  # by how much the weights of any row exceed 1; a number of the loop, not fixed
    for step in range(STEPS):  # noqa: B007
        if gap > close:
            weights, slopes = plugs.weigh(scores, threshold[:, None], order)
            mass = tl.sum(weights, 1)
            threshold = raised(threshold, mass, tl.sum(slopes, 1), order)
            gap = tl.max(mass) - 1.0
    return threshold


@triton.jit
def attend_above(given, edges, plugs, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr):
    """Context, Σ r v / Σ r and threshold of a distribution whose weights are above a threshold.

    The highest score of each place in a tile is kept in a first walk. The threshold of these few keys is a lower bound
    of the row's, and so close that one or two steps of Newton's method over all keys suffice.
    """
    facts, order = given[4], given[3][5]
    lowest = tl.full((BM, BN), float("-inf"), tl.float32), tl.zeros((BM, BN), tl.int32)
    best = walk(add_highest, lowest, given, edges, plugs, BM, BN, BD, BV)[0]
    threshold = threshold_within(best, 1e-3, order, plugs)
    gap = tl.max(threshold) * 0.0 + 1e30
    nothing = tl.zeros((BM, BN), tl.float32)
    for step in range(STEPS):  # noqa: B007
        if gap > facts.close:
            state = walk(add_mass, (nothing, nothing, threshold), given, edges, plugs, BM, BN, BD, BV)
            mass = tl.sum(state[0], 1)
            threshold = raised(threshold, mass, tl.sum(state[1], 1), order)
            gap = tl.max(mass) - 1.0
    empty, zero = tl.zeros((BM, BV), tl.float32), tl.zeros((BM,), tl.float32)
    start = empty, empty, zero, zero, threshold
    context, slanted, mass, total, _ = walk(add_above, start, given, edges, plugs, BM, BN, BD, BV)
    seen = total > 0.0
    centre = slanted / tl.where(seen, total, 1.0)[:, None]
    gap_left = tl.where(seen, mass - 1.0, 0.0)
    return context - gap_left[:, None] * centre, centre, threshold + gap_left * order / tl.where(seen, total, 1.0)


@triton.jit
def attend_one(given, edges, plugs, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr):
    """The value of the visible key with the highest score, the first of several; zeros if there is none."""
    values_here, sizes = given[2], given[5]
    lowest = tl.full((BM, BN), float("-inf"), tl.float32), tl.zeros((BM, BN), tl.int32)
    best, found_at = walk(add_highest, lowest, given, edges, plugs, BM, BN, BD, BV)
    peak = tl.max(best, 1)
    places = tl.where(best == peak[:, None], found_at + tl.arange(0, BN)[None, :], 2147483647)
    chosen, outputs = tl.min(places, 1), tl.arange(0, BV)
    mask = (peak > float("-inf"))[:, None] & (outputs < sizes.value_width)[None, :]
    return tl.load(
        values_here[0] + chosen[:, None].to(tl.int64) * values_here[1] + outputs[None, :], mask=mask, other=0.0
    )


@triton.jit
def add_drawn(
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
    """For each place in a tile, the weights so far and the tile in which they pass what is left to be passed."""
    passed, found_at, left, peak = state
    q, keys_here, _, here, facts, sizes = given
    scores, _, _, _ = tile(q, keys_here, here, facts, sizes, plugs, start, MASKED, BM, BN, BD)
    weights, _ = plugs.weigh(scores, peak[:, None], here[5])
    found_at = tl.where((passed <= left[:, None]) & (weights > 0.0), start, found_at)
    return passed + weights, found_at, left, peak


@triton.jit
def attend_drawn(given, edges, uniform, plugs, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr):
    """The expected context, log Σ exp and a drawn key of each row, from one random number of the row; −1: no key.

    A place in a tile is drawn by the weights of all keys at such places, then one of these keys in a second walk.
    """
    peak, totals = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM, BN), tl.float32)
    state = tl.zeros((BM, BV), tl.float32), peak, totals
    context, peak, totals = walk(add_online, state, given, edges, plugs, BM, BN, BD, BV)
    sums, place = tl.cumsum(totals, 1), tl.arange(0, BN)[None, :]
    total = tl.max(sums, 1)
    seen = total > 0.0
    aim = (uniform * total)[:, None]
    reached = ((sums > aim) | (sums == total[:, None])) & (totals > 0.0)  # rounding may lift the aim up to the total
    column = tl.min(tl.where(reached, place, BN), 1)
    here = place == column[:, None]
    left = tl.sum(tl.where(here, aim - (sums - totals), 0.0), 1)
    safe = tl.where(seen, peak, 0.0)
    passing = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.int32), left, safe
    _, found_at, _, _ = walk(add_drawn, passing, given, edges, plugs, BM, BN, BD, BV)
    chosen = tl.sum(tl.where(here, found_at + place, 0), 1)
    context = context / tl.where(seen, total, 1.0)[:, None]
    logarithm = tl.where(seen, peak + tl.log2(tl.where(seen, total, 1.0)), float("inf"))
    return context, logarithm, tl.where(seen, chosen, -1)


@triton.jit
def forward(
    query, key, value, output, centre, statistic, facts, sizes, plugs,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """The context of a block of queries, and the statistic of each row for the backward pass."""
    lead = tl.program_id(1)
    batch, head = (lead // sizes.heads).to(tl.int64), (lead % sizes.heads).to(tl.int64)
    block = tl.num_programs(0) - 1 - tl.program_id(0)  # causal: the rows with the most keys first
    rows = facts.first_row + block * BM + tl.arange(0, BM)
    features, outputs = tl.arange(0, BD), tl.arange(0, BV)
    real = rows < facts.end_row
    here = place_of(rows, real, lead, batch, head, facts, sizes, plugs)
    slack = 0
    if plugs.reach > 0 and plugs.has_valid:
        slack = tl.load(facts.slack + lead)
    edges = key_range(here[1], real, here[3], here[8], slack, sizes.keys, plugs, BN)
    q = (query.at + batch * query.batch + head * query.head, query.row)  # additive scores read it piece by piece
    if plugs.source == "product" or plugs.source == "opposed":
        places = batch * query.batch + head * query.head + rows[:, None] * query.row + features[None, :]
        q = tl.load(query.at + places, mask=real[:, None] & (features < sizes.width)[None, :], other=0.0)
    keys_here = (key.at + batch * key.batch + head * key.head, key.row)
    values_here = (value.at + batch * value.batch + head * value.head, value.row)
    at = (lead * sizes.queries + rows).to(tl.int64)
    out = batch * output.batch + head * output.head + rows[:, None] * output.row + outputs[None, :]
    mask = real[:, None] & (outputs < sizes.value_width)[None, :]
    given = q, keys_here, values_here, here, facts, sizes
    if plugs.kind == "threshold":
        context, slanted, threshold = attend_above(given, edges, plugs, BM, BN, BD, BV)
        tl.store(statistic + at, threshold, mask=real)
        tl.store(centre + at[:, None] * sizes.value_width + outputs[None, :], slanted, mask=mask)
    elif plugs.kind == "drawn":
        uniform = tl.load(facts.uniform + at, mask=real, other=0.0)
        expected, logarithm, chosen = attend_drawn(given, edges, uniform, plugs, BM, BN, BD, BV)
        tl.store(statistic + at, logarithm, mask=real)
        tl.store(facts.chosen + at, chosen, mask=real)
        tl.store(centre + at[:, None] * sizes.value_width + outputs[None, :], expected, mask=mask)
        places = tl.maximum(chosen, 0)[:, None].to(tl.int64) * value.row + outputs[None, :]
        context = tl.load(values_here[0] + places, mask=mask & (chosen >= 0)[:, None], other=0.0)
    elif plugs.kind == "argmax":
        context = attend_one(given, edges, plugs, BM, BN, BD, BV)
    else:
        peak, total = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
        state = tl.zeros((BM, BV), tl.float32), peak, total
        context, peak, total = walk(add_online, state, given, edges, plugs, BM, BN, BD, BV)
        if plugs.kind == "online":
            seen = total > 0.0
            context = context / tl.where(seen, total, 1.0)[:, None]
            logarithm = tl.where(seen, peak + tl.log2(tl.where(seen, total, 1.0)), float("inf"))
            tl.store(statistic + at, logarithm, mask=real)
    tl.store(output.at + out, context.to(output.at.dtype.element_ty), mask=mask)
