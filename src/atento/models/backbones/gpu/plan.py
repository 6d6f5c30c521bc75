"""Which attentive decoders are walked by kernels, and why the others go step by step. Triton is not imported here.

A part is recognised by its exact type: a subclass may compute something else."""

from typing import NamedTuple

import torch
from torch import Tensor

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Softmax
from atento.attention.extents.extents import Everything, PreparedKeys
from atento.attention.scores.learned import Additive
from atento.layers.activations import TANH
from atento.recurrent.cells import Cell, ElmanCell, GRUCell, LSTMCell
from atento.recurrent.gpu.plan import DTYPES, cell_reason, device_reason, walk_dtype
from atento.recurrent.stack import Stack

# Axes: B batch, T target time, N source time, I input.

MOST_KEYS = 1024  # a program holds the scores of all keys of a row
KNOWN = (ElmanCell, GRUCell, LSTMCell)  # a step is one product with the state


class DecoderPlan(NamedTuple):
    """How an attentive decoder goes over a known target, and why."""

    path: str  # walk or steps
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


def plan_decoder(stack: Stack, attention: Attention, inputs: Tensor, source: PreparedKeys) -> DecoderPlan:
    """The fastest path over inputs (B, T, I) that gives the result of the formula."""
    reason = decline_reason(stack, attention, inputs, source)
    if reason is None:
        return DecoderPlan("walk", "four kernels a step, and the gradients of weights in one product each")
    return DecoderPlan("steps", reason)


def decline_reason(stack: Stack, attention: Attention, inputs: Tensor, source: PreparedKeys) -> str | None:
    """Why the walk does not take this call; None: it does."""
    if not inputs.is_cuda:
        return f"the walk runs on a GPU, and the inputs are on the {inputs.device.type}"
    if torch.compiler.is_compiling():
        return "the call is being recorded"
    parts = device_reason(inputs.device) or parts_reason(stack, attention)
    return parts or inputs_reason(stack.cell(0), inputs, source)


def parts_reason(stack: Stack, attention: Attention) -> str | None:
    """Why the walk does not take these parts, whatever the inputs; None: it does."""
    if stack.layers > 1:
        return "the walk takes one layer, and the stack has more"
    if type(stack.cell(0)) not in KNOWN:
        return f"the walk has no plug for {type(stack.cell(0)).__name__}"
    score, parts = attention.score, (type(attention.distribution), type(attention.extent))
    if type(attention) is not Attention or parts != (Softmax, Everything):
        return "the walk attends by a softmax over all keys"
    if type(score) is not Additive or score.activation not in (torch.tanh, TANH):
        return "the walk compares by additive scores with tanh"
    return cell_reason(stack.cell(0))


def inputs_reason(cell: Cell[object], inputs: Tensor, source: PreparedKeys) -> str | None:  # type: ignore[type-var]
    """Why the walk does not take these inputs; None: it does."""
    if inputs.size(1) < 2 or not inputs.size(0):
        return "a single step is no walk"
    if source.key.dim() != 3 or source.key.size(0) != inputs.size(0) or not 0 < source.key.size(1) <= MOST_KEYS:
        return f"the walk takes 1 to {MOST_KEYS} keys for each row"
    dtype = walk_dtype(inputs, cell)
    return None if dtype in DTYPES else f"the walk computes in short floats and float32, not in {dtype}"
