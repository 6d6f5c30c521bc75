"""Plugs: distributions of the template. Each is one function (scores, statistic, order) -> weights, slopes.

The weights are p_i = f(s_i, t) with a statistic t of the row, the gradient is ds_i = r_i (dp_i − δ) with slopes r_i.
How t and δ come about is the kind of the distribution:

online      t is log Σ exp(s), summed while the context is; δ = Σ p_i dp_i (softmax)
pointwise   there is no t, and δ = 0 (sigmoid)
threshold   t is such that Σ p_i = 1, found by Newton's method; δ = Σ r_i dp_i / Σ r_i (sparsemax, entmax)
drawn       one key is drawn by a softmax, whose gradient is taken instead: the straight-through estimate
argmax      the key with the highest score, without a gradient

Scores arrive in units of the plug: of 1, or of ln 2 where they are exponents of two. Hidden ones are −inf."""

from typing import Any, NamedTuple

import triton
import triton.language as tl

LOG2_E = 1.4426950408889634


class DistributionPlug(NamedTuple):
    """A distribution of the template."""

    kind: str  # online, pointwise, threshold, drawn or argmax
    weigh: Any  # (scores, statistic, order) -> weights, slopes
    unit: float = 1.0  # what a score is multiplied by
    order: float = 1.0  # α − 1 of a threshold; 0: each head has its own


@triton.jit
def softmax(scores, statistic, order):
    """p = 2^(s − t), and r = p."""
    weights = tl.exp2(scores - statistic)
    return weights, weights


@triton.jit
def sigmoid(scores, statistic, order):
    """p = 1 / (1 + 2^(−s)), and r = p (1 − p)."""
    weights = 1.0 / (1.0 + tl.exp2(-scores))
    return weights, weights * (1.0 - weights)


@triton.jit
def sigmoid_by_tanh(scores, statistic, order):
    """p = ½ + ½ tanh(s), by the hardware's tanh, which is right to eleven bits: enough for short floats."""
    squashed = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [scores], tl.float32, True, 1)
    weights = 0.5 * squashed + 0.5
    return weights, weights * (1.0 - weights)


@triton.jit
def sparsemax(scores, statistic, order):
    """p = max(s − t, 0), and r = 1 where p > 0."""
    above = tl.maximum(scores - statistic, 0.0)
    return above, (above > 0.0).to(tl.float32)


@triton.jit
def entmax15(scores, statistic, order):
    """p = max(s / 2 − t, 0)², and r = √p; the unit is ½."""
    above = tl.maximum(scores - statistic, 0.0)
    return above * above, above


@triton.jit
def entmax(scores, statistic, order):
    """p = max((α − 1) s − t, 0)^(1 / (α − 1)), and r = p^(2 − α); the unit is the order α − 1 of the head."""
    above = tl.maximum(scores - statistic, 0.0)
    inside = above > 0.0
    safe = tl.where(inside, above, 1.0)
    slopes = tl.where(inside, tl.exp2(tl.log2(safe) * (1.0 / order - 1.0)), 0.0)
    return slopes * above, slopes


@triton.jit
def tanh(x, FAST: tl.constexpr):
    """tanh by the hardware, right to eleven bits, or by an exponential."""
    if FAST:
        found = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], tl.float32, True, 1)
    else:
        shrunk = tl.exp2(tl.abs(x) * (-2.8853900817779268))
        size = (1.0 - shrunk) / (1.0 + shrunk)
        found = tl.where(x < 0.0, -size, size)
    return found


@triton.jit
def opposed(scores, near, FAST: tl.constexpr):
    """p = tanh(E) 2σ(N) from a similarity E and minus a distance N, and its slope by E; that by N is p (1 − σ(N))."""
    similar, close = tanh(scores, FAST), 1.0 + tanh(0.5 * near, FAST)
    visible = scores > float("-inf")
    weights = tl.where(visible, similar * close, 0.0)
    return weights, tl.where(visible, (1.0 - similar * similar) * close, 0.0)


@triton.jit
def de_attention(scores, near, order):
    """Weights and slopes of two scores: the second takes the place of the statistic."""
    return opposed(scores, near, False)


@triton.jit
def de_attention_by_tanh(scores, near, order):
    """The same by the hardware's tanh: enough for short floats."""
    return opposed(scores, near, True)


SOFTMAX = DistributionPlug("online", softmax, LOG2_E)
SIGMOID = DistributionPlug("pointwise", sigmoid, LOG2_E)
SIGMOID_BY_TANH = DistributionPlug("pointwise", sigmoid_by_tanh, 0.5)
SPARSEMAX = DistributionPlug("threshold", sparsemax)
ENTMAX15 = DistributionPlug("threshold", entmax15, 0.5, 0.5)
ENTMAX = DistributionPlug("threshold", entmax, 1.0, 0.0)
ARGMAX = DistributionPlug("argmax", softmax)
DE_ATTENTION = DistributionPlug("pointwise", de_attention)
DE_ATTENTION_BY_TANH = DistributionPlug("pointwise", de_attention_by_tanh)
DRAWN = DistributionPlug("drawn", softmax, LOG2_E)
