"""Plugs: one step of a cell, and its derivative, for a tile of rows and units.

A step in one product (Elman, GRU, LSTM) is a pair of functions:
  first(x0 … x3, p0 … p3, before) -> hidden, exact, k0 … k3
  undo_first(d_hidden, d_exact, k0 … k3, before, exact, hidden) -> d0 … d3, content, keep
A step in two products, one after the other (GRU with the reset before the product, MGU, Jordan), has two pairs more:
  first(x0, x1, p0, p1, before) -> middle, k0, k1
  second(x, p, k0, k1, before) -> hidden, k2
  undo_second(d_hidden, k0, k1, k2, before, hidden) -> d_second
  undo_first(d_hidden, d_middle, k0, k1, k2, before, middle) -> d0, d1, keep

x: products with the input; p: products with the state, or with `middle`; k: kept for the way back; before: the exact
state of the step before, in float32: the carry of an LSTM, else the hidden vector; d: gradients of the products p, and
`content` that of the last x where it differs; keep: the gradient of `before` that passes no product. What a cell has no
use for is 0.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl


class CellPlug(NamedTuple):
    """A cell of the walk."""

    gates: int  # parts of the first product
    kept: int  # tensors kept for the way back
    first: Any
    undo_first: Any
    second: Any = None  # None: a step is one product
    undo_second: Any = None
    has_carry: bool = False  # the exact state is a carry beside the hidden vector
    has_content: bool = False  # the gradients of the last x and p differ
    second_reads: bool = False  # the second product is added to a part of x


@triton.jit
def tanh(x):
    """2 σ(2x) − 1, which is finite everywhere."""
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def activate(x, name: tl.constexpr):
    """g(x)."""
    if name == "tanh":
        y = tanh(x)
    elif name == "relu":
        y = tl.maximum(x, 0.0)
    elif name == "sigmoid":
        y = tl.sigmoid(x)
    elif name == "leaky-relu":
        y = tl.where(x > 0.0, x, 0.1 * x)
    elif name == "elu":
        y = tl.where(x > 0.0, x, tl.exp(tl.minimum(x, 0.0)) - 1.0)
    else:
        y = x
    return y


@triton.jit
def slope(y, name: tl.constexpr):
    """g′(x), given y = g(x)."""
    if name == "tanh":
        found = 1.0 - y * y
    elif name == "relu":
        found = tl.where(y > 0.0, 1.0, 0.0)
    elif name == "sigmoid":
        found = y * (1.0 - y)
    elif name == "leaky-relu":
        found = tl.where(y > 0.0, 1.0, 0.1)
    elif name == "elu":
        found = tl.where(y > 0.0, 1.0, y + 1.0)
    else:
        found = y * 0.0 + 1.0
    return found


@triton.jit
def elman(x0, x1, x2, x3, p0, p1, p2, p3, before, plugs):
    """h = g(x + U h)."""
    hidden = activate(x0 + p0, plugs.activation)
    return hidden, hidden, hidden, hidden, hidden, hidden


@triton.jit
def undo_elman(d_hidden, d_exact, k0, k1, k2, k3, before, exact, hidden, plugs):
    """The slope is read off the output."""
    d0 = d_hidden * slope(hidden, plugs.activation)
    return d0, d0, d0, d0, d0, d0 * 0.0


@triton.jit
def lstm(x0, x1, x2, x3, p0, p1, p2, p3, before, plugs):
    """c = f c + i g; h = o tanh(c)."""
    write, keep, output = tl.sigmoid(x0 + p0), tl.sigmoid(x1 + p1), tl.sigmoid(x3 + p3)
    content = activate(x2 + p2, plugs.activation)
    carry = keep * before + write * content
    return output * tanh(carry), carry, write, keep, content, output


@triton.jit
def undo_lstm(d_hidden, d_exact, k0, k1, k2, k3, before, exact, hidden, plugs):
    """The gradient of c comes from h and from the step after."""
    squashed = tanh(exact)
    d_carry = d_exact + d_hidden * k3 * (1.0 - squashed * squashed)
    d0 = d_carry * k2 * k0 * (1.0 - k0)
    d1 = d_carry * before * k1 * (1.0 - k1)
    d2 = d_carry * k0 * slope(k2, plugs.activation)
    d3 = d_hidden * squashed * k3 * (1.0 - k3)
    return d0, d1, d2, d3, d2, d_carry * k1


@triton.jit
def gru(x0, x1, x2, x3, p0, p1, p2, p3, before, plugs):
    """n = g(x + r (U h + c)); h = z h + (1 − z) n."""
    reset, update = tl.sigmoid(x0 + p0), tl.sigmoid(x1 + p1)
    content = activate(x2 + reset * p2, plugs.activation)
    hidden = content + update * (before - content)
    return hidden, hidden, reset, update, content, p2


@triton.jit
def undo_gru(d_hidden, d_exact, k0, k1, k2, k3, before, exact, hidden, plugs):
    """The product of the content is kept, as r multiplies it."""
    content = d_hidden * (1.0 - k1) * slope(k2, plugs.activation)
    d0 = content * k3 * k0 * (1.0 - k0)
    d1 = d_hidden * (before - k2) * k1 * (1.0 - k1)
    return d0, d1, content * k0, content, content, d_hidden * k1


@triton.jit
def gru_before(x0, x1, p0, p1, before, plugs):
    """r h, and the gates r and z."""
    reset, update = tl.sigmoid(x0 + p0), tl.sigmoid(x1 + p1)
    return reset * before, reset, update


@triton.jit
def end_gru_before(x, p, k0, k1, before, plugs):
    """n = g(x + U (r h) + c); h = z h + (1 − z) n."""
    content = activate(x + p, plugs.activation)
    return content + k1 * (before - content), content


@triton.jit
def undo_end_gru_before(d_hidden, k0, k1, k2, before, hidden, plugs):
    """The gradient of n before its activation."""
    return d_hidden * (1.0 - k1) * slope(k2, plugs.activation)


@triton.jit
def undo_gru_before(d_hidden, d_middle, k0, k1, k2, before, middle, plugs):
    """The gradients of r and z before their sigmoid."""
    d0 = d_middle * before * k0 * (1.0 - k0)
    d1 = d_hidden * (before - k2) * k1 * (1.0 - k1)
    return d0, d1, d_hidden * k1 + d_middle * k0


@triton.jit
def mgu(x0, x1, p0, p1, before, plugs):
    """f h, and the gate f."""
    forget = tl.sigmoid(x0 + p0)
    return forget * before, forget, forget


@triton.jit
def end_mgu(x, p, k0, k1, before, plugs):
    """n = g(x + U (f h) + c); h = (1 − f) h + f n."""
    content = activate(x + p, plugs.activation)
    return before + k0 * (content - before), content


@triton.jit
def undo_end_mgu(d_hidden, k0, k1, k2, before, hidden, plugs):
    """The gradient of n before its activation; n is kept in the second place."""
    return d_hidden * k0 * slope(k1, plugs.activation)


@triton.jit
def undo_mgu(d_hidden, d_middle, k0, k1, k2, before, middle, plugs):
    """The gate resets and updates, so its gradient has two parts."""
    d0 = (d_hidden * (k1 - before) + d_middle * before) * k0 * (1.0 - k0)
    return d0, d0, d_hidden * (1.0 - k0) + d_middle * k0


@triton.jit
def jordan(x0, x1, p0, p1, before, plugs):
    """h = g(x + U o)."""
    hidden = activate(x0 + p0, plugs.activation)
    return hidden, hidden, hidden


@triton.jit
def end_jordan(x, p, k0, k1, before, plugs):
    """o = g₂(V h + c)."""
    output = activate(p, plugs.output_activation)
    return output, output


@triton.jit
def undo_end_jordan(d_hidden, k0, k1, k2, before, hidden, plugs):
    """The slope is read off the output."""
    return d_hidden * slope(hidden, plugs.output_activation)


@triton.jit
def undo_jordan(d_hidden, d_middle, k0, k1, k2, before, middle, plugs):
    """No state passes a step but through both products."""
    d0 = d_middle * slope(middle, plugs.activation)
    return d0, d0, d0 * 0.0


ELMAN = CellPlug(1, 0, elman, undo_elman)
LSTM_STEP = CellPlug(4, 4, lstm, undo_lstm, has_carry=True)
GRU_STEP = CellPlug(3, 4, gru, undo_gru, has_content=True)
GRU_BEFORE = CellPlug(2, 3, gru_before, undo_gru_before, end_gru_before, undo_end_gru_before, second_reads=True)
MGU = CellPlug(1, 2, mgu, undo_mgu, end_mgu, undo_end_mgu, second_reads=True)
JORDAN = CellPlug(1, 0, jordan, undo_jordan, end_jordan, undo_end_jordan)
