"""A cell over a whole sequence by the kernels of this package: tensors in, outputs and last state out."""

import functools
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from atento.recurrent.cells import (
    Cell,
    ElmanCell,
    GRUCell,
    GRUResetBeforeCell,
    HiddenState,
    JordanCell,
    LSTMCell,
    LSTMState,
    MGUCell,
)
from atento.recurrent.gpu import steps
from atento.recurrent.gpu.backward import walk_backward
from atento.recurrent.gpu.forward import walk_forward
from atento.recurrent.gpu.plan import NAMES, refuse_second_derivatives
from atento.recurrent.gpu.products import WalkPlugs
from atento.recurrent.gpu.steps import CellPlug

# Axes: B batch, T time, H hidden, G parts of the input's product side by side.

PLUGS: dict[type[Cell[Any]], CellPlug] = {
    ElmanCell: steps.ELMAN,
    JordanCell: steps.JORDAN,
    LSTMCell: steps.LSTM_STEP,
    GRUCell: steps.GRU_STEP,
    GRUResetBeforeCell: steps.GRU_BEFORE,
    MGUCell: steps.MGU,
}
ROWS = 16  # of a tile, the fewest that a product on tensor cores takes
NARROW = 128  # units up to which one program takes a tile of rows


class WalkForm(NamedTuple):
    """What the kernels of a cell depend on besides its tensors."""

    plug: CellPlug
    activation: str
    output_activation: str
    size: int


class WalkTensors(NamedTuple):
    """The tensors of one walk; None where a cell has no such."""

    reads: Tensor  # (B, T, G)
    hidden: Tensor  # (B, H) at first
    carry: Tensor | None  # (B, H)
    weight: Tensor  # (gates·H, H)
    bias: Tensor  # (gates·H,)
    second_weight: Tensor | None  # (H, H)
    second_bias: Tensor | None  # (H,)
    lengths: Tensor | None  # (B,) None: all steps of all rows


def walk(cell: Cell[Any], inputs: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any]:
    """Outputs (B, T, H) and the state after each row's last valid step; padding stands on the right."""
    plug, reads = PLUGS[type(cell)], cell.read(inputs)
    size, dtype = cell.hidden_size, reads.dtype
    if isinstance(cell, JordanCell):
        products = [cell.recur.weight, cell.recur.bias, cell.output.map.weight, cell.output.map.bias]
    else:
        split = plug.gates * size
        products = [cell.recur.weight[:split], cell.recur.bias[:split]]
        products += [cell.recur.weight[split:], cell.recur.bias[split:]] if plug.second else []
    output_activation = NAMES[cell.output.activation] if isinstance(cell, JordanCell) else "identity"
    form = WalkForm(plug, NAMES[cell.activation], output_activation, size)
    first = [part.to(dtype) for part in products] + [None] * (4 - len(products))
    carry = state.carry.float() if plug.has_carry else None
    lengths = None if valid is None else valid.sum(dim=1, dtype=torch.int32)
    outputs, hidden, last_carry = WalkFunction.apply(form, reads, state.hidden.to(dtype), carry, *first, lengths)
    return outputs, LSTMState(hidden, last_carry.to(dtype)) if plug.has_carry else HiddenState(hidden)


class WalkFunction(torch.autograd.Function):
    """The walk and its gradient."""

    @staticmethod
    def forward(context: Any, form: WalkForm, *tensors: Any) -> tuple[Tensor, Tensor, Tensor | None]:
        """Outputs (B, T, H), the last hidden vector and the last carry (B, H)."""
        context.set_materialize_grads(False)
        contiguous: list[Any] = [part if part is None else part.contiguous() for part in tensors]
        given = WalkTensors(*contiguous)
        order, lengths = rows_by_length(given)
        batch, time, _ = given.reads.shape
        like = given.reads
        empty = like.new_empty if given.lengths is None else like.new_zeros
        states = empty(batch, time + 1, form.size)
        states[:, 0] = given.hidden
        exact = states
        if form.plug.has_carry or like.dtype != torch.float32:
            exact = empty(batch, time + 1, form.size, dtype=torch.float32)
            exact[:, 0] = given.hidden if given.carry is None else given.carry
        kept = like.new_empty(batch, time, form.plug.kept * form.size)
        middles = empty(batch, time, form.size) if form.plug.second else states
        second = given.weight if given.second_weight is None else given.second_weight
        second_bias = given.bias if given.second_bias is None else given.second_bias
        launch(
            walk_forward, form, like,
            (like, states, exact, kept, middles, given.weight, given.bias, second, second_bias, order, lengths),
            batch, time,
        )  # fmt: skip
        context.form = form
        context.save_for_backward(states, exact, kept, middles, given.weight, second, order, lengths)
        context.ragged, context.optional = given.lengths is not None, [part is None for part in given]
        index = lengths.long().view(-1, 1, 1).expand(-1, 1, form.size)
        hidden = states.gather(1, index).squeeze(1)
        return states[:, 1:], hidden, exact.gather(1, index).squeeze(1) if form.plug.has_carry else None

    @staticmethod
    def backward(context: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        """The gradients of all tensors; those of weights by one product over all rows and steps."""
        refuse_second_derivatives()
        states, exact, kept, middles, weight, second, order, lengths = context.saved_tensors
        form: WalkForm = context.form
        plug, size = form.plug, form.size
        batch, time = states.size(0), states.size(1) - 1
        of_outputs, of_hidden, of_carry = upstream
        of_outputs = states.new_zeros(batch, time, size) if of_outputs is None else of_outputs.contiguous()
        d_hidden, d_exact, d_keep = (
            torch.zeros(batch, size, dtype=torch.float32, device=states.device)
            if part is None
            else part.float().clone()
            for part in (of_hidden, of_carry, None)
        )
        empty = states.new_zeros if context.ragged else states.new_empty
        d_products = empty(batch, time, plug.gates * size)
        d_content = empty(batch, time, size) if plug.has_content or plug.second else d_products
        launch(
            walk_backward, form, states,
            (of_outputs, states, exact, kept, middles, d_products, d_content, d_hidden, d_exact, d_keep, weight, second,
             order, lengths),
            batch, time,
        )  # fmt: skip
        d_reads = d_products
        if plug.has_content:
            d_reads = torch.cat([d_products[..., :-size], d_content], dim=-1)
        elif plug.second_reads:
            d_reads = torch.cat([d_products, d_content], dim=-1)
        flat = d_products.flatten(0, 1)
        d_weight, d_bias = flat.mT @ states[:, :-1].reshape(-1, size), flat.sum(dim=0)
        d_second = d_second_bias = None
        if plug.second:
            flat = d_content.flatten(0, 1)
            d_second, d_second_bias = flat.mT @ middles.flatten(0, 1), flat.sum(dim=0)
        carry = d_exact if plug.has_carry else None
        return None, d_reads, d_hidden.to(states.dtype), carry, d_weight, d_bias, d_second, d_second_bias, None


def rows_by_length(given: WalkTensors) -> tuple[Tensor, Tensor]:
    """The order of the rows by their lengths, and the lengths, (B,) each."""
    batch, time, _ = given.reads.shape
    if given.lengths is None:
        device = given.reads.device
        rows = torch.arange(batch, dtype=torch.int32, device=device)
        return rows, torch.full((batch,), time, dtype=torch.int32, device=device)
    return given.lengths.argsort(descending=True).int(), given.lengths


class BlockForm(NamedTuple):
    """How a kernel is cut: units of a tile, inner block of a product, programs for a tile of rows, warps, stages."""

    units: int
    inner: int
    splits: int
    warps: int
    stages: int


def block_form(size: int, dtype: torch.dtype, programs: int) -> BlockForm:
    """Blocks of weights that fit on the chip in several stages; `programs` that can share a tile of rows.

    Programs that share one wait for each other at every step, which narrow cells are too short for.
    """
    width, short = max(16, triton.next_power_of_2(size)), dtype != torch.float32
    if size <= NARROW or programs < 2:
        return BlockForm(min(width, 256 if short else 128), min(width, 64), 1, 8, 2)
    units = max(16, triton.next_power_of_2(triton.cdiv(size, programs)))
    inner = (128 if units <= 32 else 64) // (1 if short else 2)
    return BlockForm(min(units, 128), inner, triton.cdiv(size, units), 4, 3)


@functools.lru_cache(maxsize=256)
def fixed_plugs(form: WalkForm, blocks: BlockForm, precision: str) -> WalkPlugs:
    """The plugs as constants of the compiler."""
    plug = form.plug
    parts = plug.gates + int(plug.second_reads)
    fields = (
        plug.gates, plug.kept, plug.first, plug.undo_first, plug.second or plug.first,
        plug.undo_second or plug.undo_first, plug.second is not None, plug.has_carry, plug.has_content,
        plug.second_reads, form.activation, form.output_activation, precision, form.size, parts, ROWS, blocks.units,
        blocks.inner, blocks.splits,
    )  # fmt: skip
    return WalkPlugs(*(tl.constexpr(field) for field in fields))


def launch(kernel: Any, form: WalkForm, like: Tensor, tensors: tuple[Tensor, ...], batch: int, time: int) -> None:
    """One program for each tile of rows, or several, all on the chip at once; in Triton's interpreter one."""
    tiles, alone = triton.cdiv(batch, ROWS), triton.knobs.runtime.interpret
    chip = 1 if alone else torch.cuda.get_device_properties(like.device).multi_processor_count
    blocks = block_form(form.size, like.dtype, chip // tiles)
    precision = "tf32" if torch.backends.cuda.matmul.allow_tf32 or like.dtype != torch.float32 else "tf32x3"
    arrived = torch.zeros(tiles, dtype=torch.int32, device=like.device)
    options = {"num_warps": blocks.warps, "num_stages": blocks.stages}
    if blocks.splits > 1:
        options["launch_cooperative_grid"] = True
    plugs = fixed_plugs(form, blocks, precision)
    kernel[(tiles * blocks.splits,)](*tensors, arrived, batch, time, plugs, **options)
