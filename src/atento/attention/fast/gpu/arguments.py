"""The arguments of the kernels, in groups: what a call knows, and the plugs that are fixed when a kernel compiles."""

from typing import Any, NamedTuple

import triton.language as tl


class Items(NamedTuple):
    """A tensor (B, H, T, D) with its strides; features lie side by side."""

    at: Any
    batch: Any
    head: Any
    row: Any


class CallSizes(NamedTuple):
    """The sizes of a call."""

    heads: Any
    queries: Any
    keys: Any
    width: Any
    value_width: Any


class Facts(NamedTuple):
    """What else a call knows; a pointer that its plugs do not read may point anywhere."""

    scale: Any  # of products, in the distribution's unit
    close: Any  # how near to 1 the weights must sum before Newton's last step
    valid: Any  # (B, H, K) True: a real key
    valid_batch: Any
    valid_head: Any
    positions: Any  # (Q,) of the queries
    first: Any  # (B, H) the first real key
    table: Any  # (H, N) numbers of the bias
    table_row: Any
    to_table: Any  # (H, N) its gradient
    bias: Any  # (1,) of an activated score
    orders: Any  # (H,) α − 1
    centres: Any  # (B, H, Q) positions that queries predict
    places: Any  # (B, H, K) how many real keys stand before a key
    slack: Any  # (B, H) how many keys are padding
    uniform: Any  # (B, H, Q) random numbers in [0, 1)
    chosen: Any  # (B, H, Q) the drawn keys; −1: none
    first_row: Any  # the queries of this launch
    end_row: Any
    scores: Any  # (B, H, rows, K) of these queries, before finish, biases and masks, where they are no products
    rows: Any
    weight: Any  # (D,) v of additive scores
    changes: Any  # (B, H, Q / OWN, K, OWN) gradients of distances, written
    grown_query: Any  # (B, H, Q, D) e^(2 query), without gaps
    grown_key: Any  # (B, H, K, D)
    extremes: Any  # (B, H, blocks of queries, then of keys, parts) the largest |x| of each
    parts: Any


class Plugs(NamedTuple):
    """The plugs of a composition, all fixed when the kernel compiles."""

    source: (
        tl.constexpr
    )  # of scores: product; additive: computed and stored; stored: read; opposed: products, and distances are read
    finish: tl.constexpr
    kind: tl.constexpr
    weigh: tl.constexpr
    unit: tl.constexpr
    order: tl.constexpr  # 0: read from `orders`
    before: tl.constexpr
    after: tl.constexpr
    shaped: tl.constexpr
    pattern: tl.constexpr
    first_size: tl.constexpr
    second_size: tl.constexpr
    biased: tl.constexpr
    bias: tl.constexpr
    span: tl.constexpr  # the bias bounds the interval too
    reach: tl.constexpr  # of the windows around predicted positions; 0: there are none
    relative: tl.constexpr  # the bias is a learned table of offsets, clipped at so many; 0: it is not
    has_offset: tl.constexpr
    has_valid: tl.constexpr
    has_positions: tl.constexpr
    has_first: tl.constexpr
    even: tl.constexpr  # the keys fill their tiles
    precision: tl.constexpr
