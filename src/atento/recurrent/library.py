"""Kernels that take a whole walk at once: torch's own (cuDNN on a GPU) and ours, for the cells they know."""

import warnings
from typing import Any

import torch
from torch import Tensor

from atento.layers.activations import RELU, TANH, Activation
from atento.recurrent.cells import Cell, Hidden, Memory
from atento.recurrent.gated import GRU, LSTM
from atento.recurrent.kernels.gru import gru_walk
from atento.recurrent.simple import Elman

# Axes: B batch, T time, I input, H hidden.

warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")

SURE = 1e4  # a gate with this at its input is open (or, negated, shut) exactly: sigmoid gives 1.0 (or 0.0)


def library_walk(cell: Cell[Any], inputs: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any] | None:
    """Outputs (B, T, H) and the state after the last real step; None where no kernel knows the cell's very form."""
    kernel = KERNELS.get((type(cell), cell.activation))
    if kernel is None:
        return None
    if inputs.device.type == "cpu" and torch.is_autocast_enabled("cpu"):  # few processors have these in bfloat16
        with torch.autocast("cpu", enabled=False):
            return kernel(cell, inputs.float(), type(state)(*(part.float() for part in state)), valid)
    return kernel(cell, inputs, state, valid)


def walk_lstm(cell: LSTM, inputs: Tensor, state: Memory, valid: Tensor | None) -> tuple[Tensor, Memory]:
    """The kernel tells the carry after its last step only, so padding must leave it alone.

    One more input feature, 1 at padding, opens the forget gate and shuts the input gate there.
    """
    read, recur = cell.read, cell.recur
    weight = read.weight
    if valid is not None:
        hidden = cell.hidden_size
        freeze = weight.new_zeros(4 * hidden, 1)
        freeze[:hidden], freeze[hidden : 2 * hidden] = -SURE, SURE
        weight = torch.cat([weight, freeze], dim=1)
        inputs = torch.cat([inputs, valid.logical_not().unsqueeze(-1).to(inputs.dtype)], dim=-1)
    weights = [weight, recur.weight, read.bias, recur.bias]
    start = (state.hidden.unsqueeze(0).contiguous(), state.carry.unsqueeze(0).contiguous())  # a GPU's kernel asks it
    outputs, hidden_last, carry_last = torch.lstm(inputs, start, weights, True, 1, 0.0, cell.training, False, True)
    if valid is None:
        return outputs, Memory(hidden_last.squeeze(0), carry_last.squeeze(0))
    return outputs, Memory(last_real(outputs, state.hidden, valid), carry_last.squeeze(0))


def walk_gru(cell: GRU, inputs: Tensor, state: Hidden, valid: Tensor | None) -> tuple[Tensor, Hidden]:
    """The state is the output, so the last real one is picked out. On a processor our own kernel is faster."""
    if inputs.device.type != "cpu":
        return walk_hidden(torch.gru, cell, inputs, state, valid)
    outputs = gru_walk(cell.read(inputs), state.hidden, cell.recur.weight, cell.recur.bias)
    last = outputs[:, -1] if valid is None else last_real(outputs, state.hidden, valid)
    return outputs, Hidden(last)


def walk_elman(cell: Elman, inputs: Tensor, state: Hidden, valid: Tensor | None) -> tuple[Tensor, Hidden]:
    """As for the GRU; there is one kernel for each of two activations."""
    kernel = torch.rnn_relu if cell.activation == RELU else torch.rnn_tanh
    return walk_hidden(kernel, cell, inputs, state, valid)


def walk_hidden(
    kernel: Any, cell: Cell[Hidden], inputs: Tensor, state: Hidden, valid: Tensor | None
) -> tuple[Tensor, Hidden]:
    """A kernel whose state is its output."""
    weights = [cell.read.weight, cell.recur.weight, cell.read.bias, cell.recur.bias]
    start = state.hidden.unsqueeze(0).contiguous()  # a GPU's kernel asks it
    outputs, last = kernel(inputs, start, weights, True, 1, 0.0, cell.training, False, True)
    return outputs, Hidden(last.squeeze(0) if valid is None else last_real(outputs, state.hidden, valid))


def last_real(outputs: Tensor, start: Tensor, valid: Tensor) -> Tensor:
    """The output of each row's last real step; the start where a row has none."""
    steps = valid.sum(dim=1)  # (B,)
    index = (steps - 1).clamp(min=0).view(-1, 1, 1).expand(-1, 1, outputs.size(-1))
    return torch.where(steps.unsqueeze(-1) > 0, outputs.gather(1, index).squeeze(1), start)


KERNELS: dict[tuple[type, Activation], Any] = {
    (LSTM, TANH): walk_lstm,
    (GRU, TANH): walk_gru,
    (Elman, TANH): walk_elman,
    (Elman, RELU): walk_elman,
}
