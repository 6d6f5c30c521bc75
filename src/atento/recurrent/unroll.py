"""Running a cell over a sequence, with padding anywhere in each row and without packing.

`unroll` feeds the cell its own states. It takes a kernel for a whole sequence where there is one (torch's, cuDNN on a
GPU, or the scan and the walks of this package) and goes step by step otherwise; all give the same numbers.
`teacher_forced_outputs` feeds a `JordanCell` the true outputs instead, all steps in parallel. `chunks` and `map_state`
serve truncated back-propagation through time (Williams & Peng, 1990), which `atento.training.gradients` runs.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Generic, NamedTuple

import torch
from torch import Tensor

from atento.errors import InputError
from atento.layers.activations import RELU, TANH, Activation
from atento.layers.masking import clean, is_known, require_items, valid_first
from atento.layers.products import is_watched, lstm
from atento.recurrent.cells import Cell, ElmanCell, GRUCell, HiddenState, JordanCell, LSTMCell, LSTMState, State
from atento.recurrent.cpu.elman import elman_walk
from atento.recurrent.cpu.gru import gru_walk
from atento.recurrent.cpu.lstm import library_is_faster, lstm_walk
from atento.recurrent.cpu.steps import StepOrder
from atento.recurrent.gpu.plan import decline_reason
from atento.recurrent.parallel_cells import MinGRUCell, MinLSTMCell, ParallelCell
from atento.recurrent.scan import linear_recurrence

# Axes: B batch, T time, I input, H hidden, O output of a cell.

SATURATED = 1e4  # at a gate's input: its sigmoid is then 1.0 exactly (or, negated, 0.0)

warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")


class UnrollOutput(NamedTuple, Generic[State]):
    """The outputs and the final state of a cell run over a sequence."""

    outputs: Tensor  # (B, T, O) zero at padding
    last: State  # the state after each row's own last valid step


def unroll(
    cell: Cell[State],
    inputs: Tensor,
    start: State | None = None,
    *,
    valid: Tensor | None = None,
    backward: bool = False,
) -> UnrollOutput[State]:
    """Run a cell over inputs (B, T, I), from right to left when `backward`, each row independent of the others.

    Padding may stand anywhere in `valid` (B, T); None: nothing is padded. `start` None: the cell's initial state.
    """
    require_items("inputs", inputs, valid, width=cell.input_size, axes="B, T")
    state = cell.start(inputs[:, 0]) if start is None else start
    if walks_on_cpu(cell, inputs, valid):
        return UnrollOutput(*run_walk(cell, inputs, state, valid, backward=backward))
    if valid is None:
        inputs = inputs.flip(1) if backward else inputs
        outputs, last = run_forward(cell, inputs, state, None)
        return UnrollOutput(outputs.flip(1) if backward else outputs, last)
    if not backward and ends_with_padding(valid):
        outputs, last = run_forward(cell, clean(inputs, valid), state, valid)
        return UnrollOutput(clean(outputs, valid), last)
    order = valid_first(valid.flip(1) if backward else valid)  # (B, T)
    order = valid.size(1) - 1 - order if backward else order
    inputs, ordered = gather_steps(clean(inputs, valid), order), valid.gather(1, order)
    outputs, last = run_forward(cell, inputs, state, ordered)
    return UnrollOutput(gather_steps(clean(outputs, ordered), order.argsort(dim=1)), last)


def ends_with_padding(valid: Tensor) -> bool:
    """Whether all padding stands after the real items, as far as it can be asked without waiting for a GPU."""
    if valid.device.type != "cpu" or torch.compiler.is_compiling() or not is_known(valid.size(1)):
        return False
    return bool((valid[:, 1:] <= valid[:, :-1]).all())


def gather_steps(values: Tensor, order: Tensor) -> Tensor:
    """Values (B, T, D) with the steps of each row in the given order (B, T)."""
    first = torch.arange(order.size(0), device=order.device).unsqueeze(1) * order.size(1)  # (B, 1) of each row
    return values.flatten(0, 1).index_select(0, (order + first).flatten()).view_as(values)


def run_forward(cell: Cell[State], inputs: Tensor, state: State, valid: Tensor | None) -> tuple[Tensor, State]:
    """Outputs (B, T, O) and the final state, forward in time with padding on the right, by a kernel or step by step."""
    fast = run_kernel(cell, inputs, state, valid)
    if fast is not None:
        return fast
    reads = cell.read(inputs)  # one product for the whole sequence
    if not is_known(inputs.size(1)):
        return scan_steps(cell, reads, state, valid)
    outputs = []
    for time, read in enumerate(reads.unbind(1)):  # the way back of reads[:, time] fills a whole sequence at each step
        moved = cell.advance(read, state)
        state = moved if valid is None else hold_state(moved, state, valid[:, time])
        outputs.append(state.hidden)
    return torch.stack(outputs, dim=1), state


def scan_steps(cell: Cell[State], reads: Tensor, state: State, valid: Tensor | None) -> tuple[Tensor, State]:
    """The same for a number of steps that an exported program leaves open: one loop in the program, not its steps."""
    kind, scan = type(state), find_scan()

    def step(before: tuple[Tensor, ...], now: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Tensor]:
        moved = cell.advance(now[0], kind(*before))
        moved = moved if valid is None else hold_state(moved, kind(*before), now[1])
        return tuple(part.clone() for part in moved), moved.hidden.clone()  # torch wants nothing that is there twice

    start = tuple(part.clone() for part in state)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor that is not a leaf")  # scan's own
        last, outputs = scan(step, start, (reads,) if valid is None else (reads, valid), dim=1)
    return outputs, kind(*last)


def find_scan() -> Any:
    """torch's loop over a sequence, which is in no public module of it yet."""
    try:
        from torch._higher_order_ops import scan
    except ImportError:
        raise InputError(
            f"torch {torch.__version__} cannot record a loop over a number of steps that is left open.",
            found="torch has no scan",
            fix="export with a fixed number of steps: leave the time axis out of dynamic_shapes",
        ) from None
    return scan


def hold_state(moved: Any, state: Any, valid: Tensor) -> Any:
    """The new state in rows whose step is valid (B,), the old one in rows where it is padding."""
    return type(state)(*(torch.where(valid.unsqueeze(-1), new, old) for new, old in zip(moved, state, strict=True)))


def run_kernel(cell: Cell[Any], inputs: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any] | None:
    """As `run_forward`, by a kernel; None where there is none for this cell and activation.

    Plain steps are recorded on a CPU, where torch.compile cannot differentiate torch's LSTM, and wherever the number of
    steps is open, which torch's kernels would fix.
    """
    if walks_on_gpu(cell, inputs):
        from atento.recurrent.gpu.walk import walk

        return walk(cell, inputs, state, valid)
    kernel = KERNELS.get((type(cell), cell.activation)) or KERNELS.get((type(cell), ANY))
    recorded = torch.compiler.is_compiling() and (inputs.device.type == "cpu" or not is_known(inputs.size(1)))
    if kernel is None or recorded:
        return None
    if walks_on_cpu(cell, inputs, valid):
        return run_walk(cell, inputs, state, valid)
    if inputs.device.type == "cpu" and torch.is_autocast_enabled("cpu"):  # few CPUs have these kernels in bfloat16
        with torch.autocast("cpu", enabled=False):
            return kernel(cell, inputs.float(), type(state)(*(part.float() for part in state)), valid)
    return kernel(cell, inputs, state, valid)


def walks_on_gpu(cell: Cell[Any], inputs: Tensor) -> bool:
    """Whether the kernels of `recurrent.gpu` take a call; never within `step_by_step`."""
    return bool(KERNELS) and inputs.is_cuda and decline_reason(cell, inputs) is None


def run_lstm(cell: LSTMCell, inputs: Tensor, state: LSTMState, valid: Tensor | None) -> tuple[Tensor, LSTMState]:
    """torch.lstm, which gives the cell state after its last step only, so padding must leave it unchanged.

    One more input feature, 1 at padding, opens the forget gate and shuts the input gate there.
    """
    read, recur = cell.read, cell.recur
    weight = read.weight
    if valid is not None:
        hidden = cell.hidden_size
        freeze = weight.new_zeros(4 * hidden, 1)
        freeze[:hidden], freeze[hidden : 2 * hidden] = -SATURATED, SATURATED
        weight = torch.cat([weight, freeze], dim=1)
        inputs = torch.cat([inputs, valid.logical_not().unsqueeze(-1).to(inputs.dtype)], dim=-1)
    weights = [weight, recur.weight, read.bias, recur.bias]
    start = (state.hidden.unsqueeze(0).contiguous(), state.carry.unsqueeze(0).contiguous())  # cuDNN requires it
    outputs, hidden_last, carry_last = lstm(inputs, start, weights, True, 1, 0.0, cell.training, False, True)
    if valid is None:
        return outputs, LSTMState(hidden_last.squeeze(0), carry_last.squeeze(0))
    return outputs, LSTMState(last_valid_output(outputs, state.hidden, valid), carry_last.squeeze(0))


def run_gru(cell: GRUCell, inputs: Tensor, state: HiddenState, valid: Tensor | None) -> tuple[Tensor, HiddenState]:
    """torch.gru, on a GPU."""
    return run_hidden(torch.gru, cell, inputs, state, valid)


def walks_on_cpu(cell: Cell[Any], inputs: Tensor, valid: Tensor | None = None) -> bool:
    """Whether a walk on a CPU takes the sequence; it needs no order of the items, and passes over padding."""
    kind = (type(cell), cell.activation)
    is_recorded = is_watched() or not is_known(inputs.size(1))
    if inputs.device.type != "cpu" or kind not in WALKS or kind not in KERNELS or is_recorded:
        return False
    return type(cell) is not LSTMCell or library_is_faster(cell.read.weight, inputs, valid)


def run_walk(
    cell: Cell[State], inputs: Tensor, state: State, valid: Tensor | None, *, backward: bool = False
) -> tuple[Tensor, State]:
    """Outputs (B, T, H), zero at padding, and the final state, in float32 at least."""
    if torch.is_autocast_enabled("cpu"):
        with torch.autocast("cpu", enabled=False):
            state = type(state)(*(part.float() for part in state))
            return run_walk(cell, inputs.float(), state, valid, backward=backward)
    steps = StepOrder.of(inputs, valid, backward=backward)
    weights = cell.read.weight, cell.read.bias, cell.recur.weight, cell.recur.bias
    outputs, *last = WALKS[type(cell), cell.activation](steps, inputs, *state, *weights)
    return outputs, type(state)(*last)


def run_elman(cell: ElmanCell, inputs: Tensor, state: HiddenState, valid: Tensor | None) -> tuple[Tensor, HiddenState]:
    """torch.rnn_tanh or torch.rnn_relu, on a GPU."""
    kernel = torch.rnn_relu if cell.activation == RELU else torch.rnn_tanh
    return run_hidden(kernel, cell, inputs, state, valid)


def run_hidden(
    kernel: Any, cell: Cell[HiddenState], inputs: Tensor, state: HiddenState, valid: Tensor | None
) -> tuple[Tensor, HiddenState]:
    """A torch kernel whose output is its whole state."""
    weights = [cell.read.weight, cell.recur.weight, cell.read.bias, cell.recur.bias]
    start = state.hidden.unsqueeze(0).contiguous()  # cuDNN requires it
    outputs, last = kernel(inputs, start, weights, True, 1, 0.0, cell.training, False, True)
    return outputs, HiddenState(last.squeeze(0) if valid is None else last_valid_output(outputs, state.hidden, valid))


def run_scan(
    cell: ParallelCell, inputs: Tensor, state: HiddenState, valid: Tensor | None
) -> tuple[Tensor, HiddenState]:
    """The scan of this package, in float32 at least: it multiplies many gates with each other."""
    reads = cell.read(inputs)
    dtype = torch.promote_types(reads.dtype, torch.float32)
    keep, write = cell.coefficients(reads.to(dtype))
    outputs = linear_recurrence(keep, write, state.hidden.to(dtype)).to(torch.result_type(reads, state.hidden))
    return outputs, HiddenState(outputs[:, -1] if valid is None else last_valid_output(outputs, state.hidden, valid))


def last_valid_output(outputs: Tensor, start: Tensor, valid: Tensor) -> Tensor:
    """The output of each row's last valid step, padding on the right; `start` in a row that has none."""
    steps = valid.sum(dim=1)  # (B,)
    index = (steps - 1).clamp(min=0).view(-1, 1, 1).expand(-1, 1, outputs.size(-1))
    return torch.where(steps.unsqueeze(-1) > 0, outputs.gather(1, index).squeeze(1), start)


ANY = None  # in place of an activation: the kernel takes every one

KERNELS: dict[tuple[type, Activation | None], Any] = {
    (LSTMCell, TANH): run_lstm,
    (GRUCell, TANH): run_gru,
    (ElmanCell, TANH): run_elman,
    (ElmanCell, RELU): run_elman,
    (MinGRUCell, ANY): run_scan,
    (MinLSTMCell, ANY): run_scan,
}


WALKS: dict[tuple[type, Activation], Any] = {  # on a CPU
    (GRUCell, TANH): gru_walk,
    (ElmanCell, TANH): elman_walk,
    (ElmanCell, RELU): partial(elman_walk, is_relu=True),
    (LSTMCell, TANH): lstm_walk,
}


@contextmanager
def step_by_step() -> Iterator[None]:
    """Within it no kernel is taken: every step of every cell calls `advance`, which can then be recorded."""
    kept = dict(KERNELS)
    KERNELS.clear()
    try:
        yield
    finally:
        KERNELS.update(kept)


def teacher_forced_outputs(
    cell: JordanCell, inputs: Tensor, targets: Tensor, start: HiddenState | None = None, *, valid: Tensor | None = None
) -> Tensor:
    """Outputs (B, T, O) of inputs (B, T, I) where each step reads the target (B, T, O) of the step before.

    h_t = g(W y_{t−1} + U x_t + b) depends on no output of the network, so all steps are one product and the depth of
    the graph does not grow with T. For inference on its own outputs use `unroll`.
    """
    if targets.shape != (*inputs.shape[:2], cell.output_size):
        raise InputError(
            "teacher_forced_outputs: targets must hold one output for each step.",
            found=f"inputs {tuple(inputs.shape)}, targets {tuple(targets.shape)}",
            fix=f"give targets of shape {(*inputs.shape[:2], cell.output_size)}",
        )
    order = None if valid is None else valid_first(valid)  # (B, T); padding may stand between two valid steps
    if order is not None:
        inputs, targets = gather_steps(clean(inputs, valid), order), gather_steps(clean(targets, valid), order)
    first = (cell.start(inputs[:, 0]) if start is None else start).hidden.unsqueeze(1)  # (B, 1, O)
    outputs = cell.advance(cell.read(inputs), HiddenState(torch.cat([first, targets[:, :-1]], dim=1))).hidden
    return outputs if order is None else clean(gather_steps(outputs, order.argsort(dim=1)), valid)


def chunks(length: int, chunk: int) -> Iterator[slice]:
    """Consecutive slices of `chunk` steps that cover `length` steps; the last may be shorter."""
    if chunk < 1:
        raise InputError("a chunk has at least one step.", found=f"chunk={chunk}", fix="chunk=32, for example")
    for first in range(0, length, chunk):
        yield slice(first, min(first + chunk, length))


def map_state(function: Any, *states: Any) -> Any:
    """Nested states with `function` applied to their tensors, position by position; what is no tensor stays."""
    first = states[0]
    if isinstance(first, Tensor):
        return function(*states)
    if isinstance(first, tuple):
        parts = [map_state(function, *some) for some in zip(*states, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return first
