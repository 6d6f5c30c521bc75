"""An attentive decoder over a known target: tensors in, contexts and hidden vectors out, with their gradient.

One kernel takes all rows through all steps, and one takes the gradients back. Everything that no step waits for is one
product or kernel over all steps: the products with the inputs before, the gradients of weights, keys and values after.
"""

import functools
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from atento.attention.attention import Attention
from atento.attention.extents.extents import PreparedKeys
from atento.models.backbones.gpu.attending import key_gradient
from atento.models.backbones.gpu.backward import decode_backward
from atento.models.backbones.gpu.forward import decode_forward
from atento.models.backbones.gpu.together import WalkShape
from atento.recurrent.cells import Cell, HiddenState, LSTMState
from atento.recurrent.gpu.plan import NAMES, refuse_second_derivatives, walk_dtype
from atento.recurrent.gpu.steps import CellPlug
from atento.recurrent.gpu.walk import PLUGS

# Axes: B batch, T target time, N keys, I input, H hidden, G gates side by side, A width of scores, S width of values.

KEY_TILE = 8192  # numbers of a tile of keys or values
ROWS, UNITS, COLUMNS = 32, 16, 32  # of a tile: units with all their gates, columns of anything else
WARPS, STAGES = 4, 4


class WalkedSteps(NamedTuple):
    """The walk of an attentive decoder over a known target."""

    contexts: Tensor  # (T, B, S)
    hidden: Tensor  # (T, B, H)
    state: Any  # of the cell after the last step


class DecoderForm(NamedTuple):
    """What the kernels of a decoder depend on besides its tensors."""

    plug: CellPlug
    activation: str


class DecoderTensors(NamedTuple):
    """The tensors of one walk; None where there is no such."""

    reads: Tensor  # (T, B, G) products with the inputs
    hidden: Tensor  # (B, H) at first
    carry: Tensor | None  # (B, H)
    joint: Tensor  # (A + G, H) [W_q; U]
    bias: Tensor  # (G,) of U
    from_context: Tensor  # (G, S)
    keys: Tensor  # (B, N, A)
    values: Tensor  # (B, N, S)
    collapse: Tensor  # (A,) v
    valid: Tensor | None  # (B, N)


def walk_decoder(
    cell: Cell[Any], attention: Attention, from_context: Tensor, reads: Tensor, state: Any, source: PreparedKeys
) -> WalkedSteps:
    """All steps of a cell whose products with the inputs are `reads` (B, T, G), and that reads its own context."""
    score: Any = attention.score
    plug, dtype = PLUGS[type(cell)], walk_dtype(reads, cell)
    joint = torch.cat([score.project_query.weight, cell.recur.weight])
    carry = state.carry.float() if plug.has_carry else None
    given = (
        reads.transpose(0, 1), state.hidden, joint, cell.recur.bias, from_context, source.key, source.value,
        score.collapse.weight.squeeze(0),
    )  # fmt: skip
    first, hidden, *others = (part.to(dtype).contiguous() for part in given)
    form = DecoderForm(plug, NAMES[cell.activation])
    found = DecoderWalk.apply(form, first, hidden, carry, *others, source.valid)
    contexts, states, last_carry = found
    last = states[-1]
    return WalkedSteps(contexts, states, LSTMState(last, last_carry.to(dtype)) if plug.has_carry else HiddenState(last))


class DecoderWalk(torch.autograd.Function):
    """The walk and its gradient."""

    @staticmethod
    def forward(context: Any, form: DecoderForm, *tensors: Any) -> tuple[Tensor, Tensor, Tensor | None]:
        """Contexts (T, B, S), hidden vectors (T, B, H) and the last carry (B, H)."""
        context.set_materialize_grads(False)
        given = DecoderTensors(*tensors)
        time, batch, _ = given.reads.shape
        like, size, count = given.reads, given.hidden.size(1), given.keys.size(1)
        states, exact = (
            like.new_empty(time + 1, batch, size),
            like.new_empty(time + 1, batch, size, dtype=torch.float32),
        )
        states[0] = given.hidden
        exact[0] = given.hidden if given.carry is None else given.carry
        products = like.new_empty(time, batch, given.joint.size(0))
        contexts = like.new_empty(time, batch, given.values.size(2))
        weights = like.new_empty(time, batch, count, dtype=torch.float32)
        kept = like.new_empty(time, batch, 4 * size if form.plug.kept else 0)
        launch(
            decode_forward,
            (like, given.joint, given.bias, given.from_context, given.keys, given.values, valid_of(given),
             given.collapse, states, exact, products, contexts, weights, kept),
            shape_of(form, given), time, batch, count,
        )  # fmt: skip
        context.save_for_backward(*tensors, states, exact, products, contexts, weights, kept)
        context.form = form
        return contexts, states[1:], exact[-1] if form.plug.has_carry else None

    @staticmethod
    def backward(context: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        """The gradients of all tensors."""
        refuse_second_derivatives()
        *tensors, states, exact, products, contexts, weights, kept = context.saved_tensors
        form, given = context.form, DecoderTensors(*tensors)
        shape, (time, batch, _), count = shape_of(form, given), given.reads.shape, given.keys.size(1)
        of_contexts, of_hidden, of_carry = upstream
        of_contexts = torch.zeros_like(contexts) if of_contexts is None else of_contexts.contiguous()
        of_hidden = torch.zeros_like(states[1:]) if of_hidden is None else of_hidden.contiguous()
        d_keep = torch.zeros(2, batch, states.size(2), dtype=torch.float32, device=states.device)
        if of_carry is not None:
            d_keep[time % 2] = of_carry
        d_reads, d_products, d_contexts, d_scores = (
            torch.empty_like(part) for part in (given.reads, products, contexts, weights)
        )
        launch(
            decode_backward,
            (of_contexts, of_hidden, given.joint, given.from_context, given.keys, given.values, valid_of(given),
             given.collapse, states, exact, products, weights, kept, d_keep, d_reads, d_products, d_contexts, d_scores),
            shape, time, batch, count,
        )  # fmt: skip
        d_keys = torch.empty_like(given.keys)
        d_collapse = torch.empty(batch, given.keys.size(2), dtype=torch.float32, device=d_keys.device)
        key_gradient[(batch, triton.cdiv(given.keys.size(2), shape.columns.value))](
            products,
            given.keys,
            valid_of(given),
            given.collapse,
            d_scores,
            d_keys,
            d_collapse,
            time,
            batch,
            count,
            shape,
        )
        d_values = weights.permute(1, 2, 0).to(d_contexts.dtype) @ d_contexts.transpose(0, 1)
        flat, of_reads = d_products.flatten(0, 1), d_reads.flatten(0, 1)
        d_joint = flat.mT @ states[:-1].flatten(0, 1)
        d_bias = flat[:, given.keys.size(2) :].sum(dim=0)
        d_from_context = of_reads.mT @ contexts.flatten(0, 1)
        d_hidden, d_carry = d_products[0] @ given.joint, d_keep[0] if form.plug.has_carry else None
        if not form.plug.has_carry:
            d_hidden = (d_hidden + d_keep[0]).to(d_hidden.dtype)
        d_collapse = d_collapse.sum(dim=0).to(given.collapse.dtype)
        return None, d_reads, d_hidden, d_carry, d_joint, d_bias, d_from_context, d_keys, d_values, d_collapse, None


def valid_of(given: DecoderTensors) -> Tensor:
    """Which keys are real, as bytes; where all are, any tensor, which no kernel reads."""
    return given.keys if given.valid is None else given.valid.contiguous().view(torch.uint8)


def shape_of(form: DecoderForm, given: DecoderTensors) -> WalkShape:
    """The plugs and sizes of a call."""
    exact = given.keys.dtype == torch.float32
    precision = "tf32x3" if exact and not torch.backends.cuda.matmul.allow_tf32 else "tf32"
    sizes = given.hidden.size(1), given.keys.size(2), given.values.size(2)
    return walk_shape(
        form, sizes, max(16, triton.next_power_of_2(given.keys.size(1))), given.valid is not None, exact, precision
    )


@functools.lru_cache(maxsize=256)
def walk_shape(
    form: DecoderForm, sizes: tuple[int, int, int], keys: int, has_valid: bool, exact: bool, precision: str
) -> WalkShape:
    """The same as constants of the compiler."""
    plug, inner, short = form.plug, 64 if exact else 128, not exact and not triton.knobs.runtime.interpret
    fields = (
        plug.first, plug.undo_first, form.activation, plug.gates, plug.kept > 0, plug.has_carry, plug.has_content,
        has_valid, *sizes, keys, max(16, KEY_TILE // keys), ROWS, UNITS, COLUMNS, inner, short, precision,
    )  # fmt: skip
    return WalkShape(*(tl.constexpr(field) for field in fields))


def launch(kernel: Any, tensors: tuple[Tensor, ...], shape: WalkShape, time: int, batch: int, count: int) -> None:
    """One program for each multiprocessor, all on the chip at once; in Triton's interpreter a single one."""
    device = tensors[0].device
    arrived = torch.zeros(1, dtype=torch.int32, device=device)
    alone = triton.knobs.runtime.interpret
    programs = 1 if alone else torch.cuda.get_device_properties(device).multi_processor_count
    options = {} if alone else {"num_warps": WARPS, "num_stages": STAGES, "launch_cooperative_grid": True}
    kernel[(programs,)](*tensors, arrived, time, batch, count, shape, **options)
