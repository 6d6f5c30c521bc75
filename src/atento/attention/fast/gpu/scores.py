"""Plugs: scores of the template. A product of query and key is finished by one function (product, b) -> score, slope.

The slope is what a gradient of the score is multiplied by. Scores that are no products are computed beforehand for some
queries at a time, and read by the template: see `pairs` for additive ones."""

import triton
import triton.language as tl

TWICE_LOG2_E = tl.constexpr(2.8853900817779268)


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
