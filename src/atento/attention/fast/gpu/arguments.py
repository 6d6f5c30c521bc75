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
    table: Any  # (H, 2) numbers of the bias
    bias: Any  # (1,) of an activated score
    orders: Any  # (H,) α − 1
    first_row: Any  # the queries of this launch
    end_row: Any
    scores: Any  # (B, H, rows, K) of these queries, before finish, biases and masks, where they are no products
    rows: Any


class Plugs(NamedTuple):
    """The plugs of a composition, all fixed when the kernel compiles."""

    given: tl.constexpr  # scores are read, not computed from products
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
    has_offset: tl.constexpr
    has_valid: tl.constexpr
    has_positions: tl.constexpr
    has_first: tl.constexpr
    even: tl.constexpr  # the keys fill their tiles
    precision: tl.constexpr
