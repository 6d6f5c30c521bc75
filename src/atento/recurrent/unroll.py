"""The walk over time. It knows nothing of gates.

Kernels that take a whole walk at once: torch's own (cuDNN on a GPU) and ours, for the cells they know.
"""

import warnings
from typing import Any, Generic, NamedTuple

import torch
from torch import Tensor

from atento.layers.activations import RELU, TANH, Activation
from atento.layers.masking import clean, require_items
from atento.recurrent.cells import GRU, LSTM, Cell, Elman, Hidden, Memory, State
from atento.recurrent.gru_kernel import gru_walk

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


# Axes: B batch, T time, I input, H hidden.


class Walk(NamedTuple, Generic[State]):
    """What a walk leaves behind."""

    outputs: Tensor  # (B, T, H) zero at padding
    last: State  # the state after each row's own last real step


def unroll(
    cell: Cell[State],
    inputs: Tensor,
    start: State | None = None,
    *,
    valid: Tensor | None = None,
    backward: bool = False,
) -> Walk[State]:
    """Walk a cell along inputs (B, T, I), from the right when `backward`; rows are walked as if each were alone.

    Padding may stand anywhere in `valid` (B, T); None: nothing is padded. Start None: the cell's own.
    """
    require_items("inputs", inputs, valid, width=cell.input_size, axes="B, T")
    state = cell.start(inputs[:, 0]) if start is None else start
    if valid is None:
        inputs = inputs.flip(1) if backward else inputs
        outputs, last = walk(cell, inputs, state, None)
        return Walk(outputs.flip(1) if backward else outputs, last)
    order = real_first(valid.flip(1) if backward else valid)  # (B, T)
    order = valid.size(1) - 1 - order if backward else order
    inputs, ordered = pick(clean(inputs, valid), order), valid.gather(1, order)
    outputs, last = walk(cell, inputs, state, ordered)
    return Walk(pick(clean(outputs, ordered), order.argsort(dim=1)), last)


def real_first(valid: Tensor) -> Tensor:
    """Positions (B, T) of the real items in order, then of the padding."""
    return torch.argsort(valid.logical_not().to(torch.uint8), dim=1, stable=True)


def pick(values: Tensor, order: Tensor) -> Tensor:
    """Values (B, T, D) along time in the given order (B, T)."""
    first = torch.arange(0, order.numel(), order.size(1), device=order.device).unsqueeze(1)  # (B, 1) of each row
    return values.flatten(0, 1).index_select(0, (order + first).flatten()).view_as(values)


def walk(cell: Cell[State], inputs: Tensor, state: State, valid: Tensor | None) -> tuple[Tensor, State]:
    """Forward in time, padding on the right: a library kernel where one knows the cell, else step by step."""
    fast = library_walk(cell, inputs, state, valid)
    if fast is not None:
        return fast
    reads = cell.read(inputs)  # one product for the whole sequence
    outputs = []
    for time in range(inputs.size(1)):
        moved = cell.advance(reads[:, time], state)
        state = moved if valid is None else hold(moved, state, valid[:, time])
        outputs.append(state.hidden)
    return torch.stack(outputs, dim=1), state


def hold(moved: Any, state: Any, real: Tensor) -> Any:
    """The moved state where the step was real (B,), the old one where it was padding."""
    return type(state)(*(torch.where(real.unsqueeze(-1), new, old) for new, old in zip(moved, state, strict=True)))
