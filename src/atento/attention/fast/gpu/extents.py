"""Plugs: extents of the template. An extent is an interval of offsets key − query, a pattern and a bias.

The interval bounds the tiles that are computed. A pattern is a function (query_at, key_at, A, B) -> visible, a bias one
(query_at, key_at, table) -> bias, slope, in which positions broadcast against each other in either order and
`table` points to the numbers of the head. The slope is by how much the bias grows with the number learned, if any.

A window around positions that queries predict also multiplies the weights; see `near_centre`."""

from typing import Any, NamedTuple

import triton
import triton.language as tl

UNBOUNDED = 1 << 30


class ExtentPlug(NamedTuple):
    """An extent of the template."""

    before: int = UNBOUNDED  # how far before the query a key may be
    after: int = UNBOUNDED
    pattern: Any = None
    first_size: int = 1  # A and B of the pattern
    second_size: int = 1
    bias: Any = None
    span: bool = False  # the bias hides what is farther than the numbers of its head reach
    reach: int = 0  # of a window around predicted positions
    relative: int = 0  # the reach of a learned table of offsets

    def join(self, other: "ExtentPlug") -> "ExtentPlug":
        """Both; at most one of them has a pattern, and one a bias."""
        shaped = self if self.pattern else other
        return ExtentPlug(
            min(self.before, other.before),
            min(self.after, other.after),
            shaped.pattern,
            shaped.first_size,
            shaped.second_size,
            self.bias or other.bias,
            self.span or other.span,
            max(self.reach, other.reach),
            max(self.relative, other.relative),
        )


@triton.jit
def block_of(at, SIZE: tl.constexpr):
    """at // SIZE, rounded down also where padding before the first real key makes it negative."""
    return tl.where(at < 0, -((SIZE - 1 - at) // SIZE), at // SIZE)


@triton.jit
def strided(query_at, key_at, A: tl.constexpr, B: tl.constexpr):
    """The A nearest keys on either side, and every A-th key."""
    distance = tl.abs(key_at - query_at)
    return (distance <= A) | (distance % A == 0)


@triton.jit
def apart(query_at, key_at, A: tl.constexpr, B: tl.constexpr):
    """Keys at least A positions away."""
    return tl.abs(key_at - query_at) >= A


@triton.jit
def fixed(query_at, key_at, A: tl.constexpr, B: tl.constexpr):
    """The block of A keys of the query, and the last B keys of every block."""
    own = block_of(key_at, A)
    return (own == block_of(query_at, A)) | (key_at - own * A >= A - B)


@triton.jit
def block_local(query_at, key_at, A: tl.constexpr, B: tl.constexpr):
    """BlockSizes of A keys; the interval says how many, and B = before · 2¹⁶ + after."""
    distance = block_of(key_at, A) - block_of(query_at, A)
    return (distance >= -(B // 65536)) & (distance <= B % 65536)


@triton.jit
def linear_bias(query_at, key_at, table):
    """−m |key − query|, with the slope m of the head."""
    return -tl.load(table) * tl.abs(key_at - query_at).to(tl.float32), 0.0


@triton.jit
def soft_span(query_at, key_at, table):
    """log m with m = clip((R + z − |key − query|) / R, 0, 1), from the span z and the ramp R of the head."""
    span, ramp = tl.load(table), tl.load(table + 1)
    height = (ramp + span - tl.abs(key_at - query_at).to(tl.float32)) / ramp
    sloped = (height > 0.0) & (height <= 1.0)  # at 1 as torch.clamp does
    safe = tl.where(sloped, height, 1.0)
    bias = tl.where(height > 0.0, tl.log2(safe) * 0.6931471805599453, float("-inf"))
    return bias, tl.where(sloped, 1.0 / (safe * ramp), 0.0)


@triton.jit
def relative_bias(query_at, key_at, table):
    """The number learned for the offset key − query, clipped at ±R; the table begins with R."""
    reach = tl.load(table).to(tl.int32)
    offset = tl.minimum(tl.maximum(key_at - query_at, -reach), reach)
    return tl.load(table + 1 + reach + offset), 1.0


@triton.jit
def near_centre(centre, place, REACH: tl.constexpr):
    """exp(−2 ((place − p) / D)²) of keys at most D from a predicted position p, its slope by p, and which these are."""
    distance = place.to(tl.float32) - centre
    factor = tl.exp2((distance * distance) * (-2.0 * 1.4426950408889634 / (REACH * REACH)))
    return factor, factor * distance * (4.0 / (REACH * REACH)), tl.abs(distance) <= REACH
