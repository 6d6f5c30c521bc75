"""Which cells and batches the walk of this package takes, and why it leaves the others. Triton is not imported here.

A cell is recognised by its exact type: a subclass may compute something else."""

import functools
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.errors import InputError
from atento.layers.activations import ACTIVATIONS, MAXOUT, RELU, TANH, Activation
from atento.recurrent.cells import Cell, ElmanCell, GRUCell, GRUResetBeforeCell, JordanCell, LSTMCell, MGUCell

# Axes: B batch, T time, H hidden.

WIDEST = 1024  # hidden size: beyond it a step waits for its weights, and cuBLAS step by step is as fast
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
NAMES = {activation: name for name, activation in ACTIVATIONS.items() if activation != MAXOUT}
KNOWN = (ElmanCell, JordanCell, LSTMCell, GRUCell, GRUResetBeforeCell, MGUCell)
IN_CUDNN: tuple[tuple[type[Cell[Any]], Activation], ...] = (
    (LSTMCell, TANH),
    (GRUCell, TANH),
    (ElmanCell, TANH),
    (ElmanCell, RELU),
)
WIDEST_BESIDE_CUDNN = 512  # hidden size up to which the walk is faster than cuDNN, on full batches too
MOST_ROWS = 1024  # of a batch: beyond it the products of a step are large enough for cuDNN


class WalkPlan(NamedTuple):
    """Whether the walk of this package runs a cell over a sequence, and why."""

    path: str  # walk, cuDNN, steps, or those of the CPU
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


def plan_walk(cell: Cell[Any], inputs: Tensor) -> WalkPlan:
    """The path of a cell over inputs (B, T, I)."""
    reason = decline_reason(cell, inputs)
    if reason is None:
        return WalkPlan("walk", "one Triton kernel takes all rows through all their steps")
    if not inputs.is_cuda:
        return WalkPlan("CPU", reason)
    return WalkPlan("cuDNN" if (type(cell), cell.activation) in IN_CUDNN else "steps", reason)


def decline_reason(cell: Cell[Any], inputs: Tensor) -> str | None:
    """Why the walk does not take this call; None: it does."""
    if not inputs.is_cuda:
        return f"the walk runs on a GPU, and the inputs are on the {inputs.device.type}"
    if torch.compiler.is_compiling():
        return "the call is being recorded"
    return device_reason(inputs.device) or cell_reason(cell) or batch_reason(cell, inputs)


@functools.lru_cache(maxsize=64)
def device_reason(device: torch.device) -> str | None:
    """Why there are no kernels for a GPU; None: there are."""
    if find_spec("triton") is None:
        return "Triton, in which the kernels are written, is not installed"
    if torch.version.hip is not None or torch.cuda.get_device_capability(device) < (8, 0):
        return "the kernels are for NVIDIA GPUs of compute capability 8.0 and later"
    return None


def cell_reason(cell: Cell[Any]) -> str | None:
    """Why the walk has no plug for a cell; None: it has one."""
    if type(cell) not in KNOWN:
        return f"the walk has no plug for {type(cell).__name__}"
    if cell.activation not in NAMES:
        return f"the walk has no plug for the activation {cell.activation.formula}"
    if isinstance(cell, JordanCell):
        if cell.output.activation not in NAMES:
            return f"the walk has no plug for the activation {cell.output.activation.formula}"
        if cell.output_size != cell.hidden_size:
            return "the output of this Jordan cell is of another size than its hidden vector"
    return None if cell.hidden_size <= WIDEST else f"the walk takes up to {WIDEST} units, and this cell has more"


def batch_reason(cell: Cell[Any], inputs: Tensor) -> str | None:
    """Why the walk does not take these inputs; None: it does."""
    if not inputs.numel():
        return "there is nothing to compute"
    dtype = walk_dtype(inputs, cell)
    if dtype not in DTYPES:
        return f"the walk computes in short floats and float32, not in {dtype}"
    if (type(cell), cell.activation) in IN_CUDNN:
        if cell.hidden_size > WIDEST_BESIDE_CUDNN:
            return f"cuDNN has this cell, and is faster beyond {WIDEST_BESIDE_CUDNN} units"
        if inputs.size(0) > MOST_ROWS:
            return f"cuDNN has this cell, and is faster beyond {MOST_ROWS} rows"
    return None


def walk_dtype(inputs: Tensor, cell: Cell[Any]) -> torch.dtype:
    """The dtype in which matrix products of these would run, under autocast too."""
    if torch.is_autocast_enabled(inputs.device.type):
        return torch.get_autocast_dtype(inputs.device.type)
    return torch.promote_types(inputs.dtype, cell.read.weight.dtype)


def refuse_second_derivatives() -> None:
    """Raise in a backward pass that is itself recorded: its kernels would be taken for constants."""
    if torch.is_grad_enabled():
        raise InputError(
            "the kernels of recurrent networks on a GPU have first derivatives only.",
            found="a gradient with create_graph=True",
            fix="compute it in float64, which goes step by step: module.double()",
        )
