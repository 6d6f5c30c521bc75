"""The gradient of one batch: by plain back-propagation, by truncated BPTT, or of stateful batches.

Truncated BPTT cuts the target of a batch into chunks in time. Stateful batches are consecutive windows of one long
sequence: each continues from the state of the one before, whose gradient is not followed.
"""

from typing import TypedDict

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from atento.errors import InputError
from atento.layers.losses import l2_penalty
from atento.layers.products import has_bf16_instructions
from atento.layers.regularization import ActivationPenalty
from atento.models.protocols import Decoder
from atento.native.library import find_library
from atento.recurrent.unroll import map_state
from atento.spec import TrainRecipe
from atento.tasks.task import Task, TruncatedBPTT
from atento.training.distributed.strategies import Together, full
from atento.training.learner import Learner

Batch = tuple[Tensor, ...]
ONE_PROCESS = Together()


def backpropagate(
    task: Task,
    module: nn.Module,
    batch: Batch,
    recipe: TrainRecipe,
    device: torch.device,
    *,
    together: Together = ONE_PROCESS,
    idle: bool = False,
) -> Tensor:
    """Compute the gradient of the mean loss with the penalties; return the mean loss without them.

    Where processes share the batch, it is the mean over the items of all of them; one that is `idle` has no example of
    it, and its batch counts for nothing.
    """
    precision = mixed_precision(recipe.precision, device)
    if recipe.bptt_steps and task.learning.truncated_bptt is not None:
        bptt = task.learning.truncated_bptt
        return backpropagate_truncated(bptt, module, batch, recipe, precision, together=together, idle=idle)

    def compute() -> tuple[Tensor, Tensor]:
        with precision:
            losses = task.learning.loss(module, batch, recipe.label_smoothing)
            share, loss = together.mean(losses.total, loss_items(batch, losses.items, recipe), idle=idle)
            return add_penalties(share, module, l2=recipe.l2), loss

    cost, loss = together.run(compute)
    cost.backward()
    return loss


def backpropagate_truncated(
    bptt: TruncatedBPTT,
    module: nn.Module,
    batch: Batch,
    recipe: TrainRecipe,
    precision: torch.autocast,
    *,
    together: Together = ONE_PROCESS,
    idle: bool = False,
) -> Tensor:
    """Truncated back-propagation through time (Williams & Peng, 1990): one chunk after the other.

    Only one chunk is in memory; the state passes on, detached. What comes before all steps (an encoder, the keys of an
    attention) serves every chunk; its gradient is accumulated and back-propagated once, at the end. With one chunk it
    is plain back-propagation.
    """
    items = loss_items(batch, bptt.items(batch), recipe)

    def compute() -> tuple[Tensor, Tensor]:
        with precision:
            start = bptt.start(module, batch)
        first = map_state(detached_leaf, start)
        state, total = first, torch.zeros((), device=next(module.parameters()).device)
        over = together.divisor(items, total, idle=idle)
        for chunk in bptt.cut(batch, recipe.bptt_steps):
            with precision:
                loss, state = bptt.loss(module, chunk, state, recipe.label_smoothing)
                share = loss.total / over
            share.backward()  # type: ignore[no-untyped-call]
            state, total = map_state(detached, state, first), total + share.detach()
        backward_from_leaves(start, first)
        mean = together.ranks.sum(total.clone()) / together.ranks.size
        return add_penalties(torch.zeros_like(total), module, l2=recipe.l2) + together.touched(module), mean

    cost, loss = together.run(compute)
    if cost.requires_grad:
        cost.backward()
    return loss


def detached_leaf(part: Tensor) -> Tensor:
    """A detached copy that accumulates a gradient; a tensor without gradient as it is."""
    return part.detach().requires_grad_() if part.requires_grad else part


def detached(part: Tensor, first: Tensor) -> Tensor:
    """A tensor of a state, detached; one that no step has changed stays the leaf of the start."""
    return part if part is first else part.detach()


def backward_from_leaves(start: object, first: object) -> None:
    """Back-propagate the gradients accumulated at the leaves through the start state."""
    roots: list[Tensor] = []
    gradients: list[Tensor] = []

    def gather(root: Tensor, leaf: Tensor) -> Tensor:
        if root.requires_grad and leaf.grad is not None:
            roots.append(root)
            gradients.append(leaf.grad)
        return root

    map_state(gather, start, first)
    if roots:
        torch.autograd.backward(roots, gradients)


def loss_items(batch: Batch, items: int, recipe: TrainRecipe) -> int:
    """What the loss is averaged over: the task's items, or the sequences of the batch."""
    return len(batch[0]) if recipe.loss_over == "sequences" else items


def add_penalties(loss: Tensor, module: nn.Module, *, l2: float = 0.0) -> Tensor:
    """The loss plus `l2` times the squared weights, plus the `penalty()` of each submodule that has one."""
    if l2:
        loss = loss + l2 * l2_penalty(module)
    for part in module.modules():
        penalty = getattr(part, "penalty", None)
        if callable(penalty):
            loss = loss + penalty()
    return loss


def mixed_precision(precision: str, device: torch.device) -> torch.autocast:
    """Autocast to bfloat16 where asked, or on a GPU; weights stay float32."""
    low = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=low)


def rounds_products(precision: str, device: torch.device) -> bool:
    """Whether large products round their factors to bfloat16: on a CPU that has instructions for it."""
    return precision == "auto" and device.type == "cpu" and has_bf16_instructions()


def uses_bf16(precision: str, device: torch.device) -> bool:
    """Whether training computes anything in bfloat16."""
    by_default = device.type == "cuda" or rounds_products(precision, device)
    return precision == "bf16" or (precision == "auto" and by_default)


class Arithmetic(TypedDict):
    """What computes a training, of which the last digits depend."""

    bf16: bool  # products in bfloat16
    c_kernels: bool  # compiled for this machine


def arithmetic_of(precision: str, device: torch.device) -> Arithmetic:
    """What computes a training on this machine; C kernels are compiled for it now if they were not before."""
    compiled = device.type == "cpu" and find_library(may_compile=True) is not None
    return {"bf16": uses_bf16(precision, device), "c_kernels": compiled}


def decoder_of(module: nn.Module) -> Decoder[tuple[object, ...]] | None:
    """The decoder in a module; None without one."""
    return next((part for part in module.modules() if isinstance(part, Decoder)), None)


def validate_truncation(task: Task, module: nn.Module, recipe: TrainRecipe) -> None:
    """Refuse truncated BPTT where no gradient flows back through time."""
    decoder = decoder_of(module)
    if recipe.bptt_steps and any(isinstance(part, ActivationPenalty) for part in module.modules()):
        raise InputError(
            "penalties of activations need the whole sequence, and train.bptt_steps cuts it.",
            found=f"train.bptt_steps={recipe.bptt_steps}, model.activation_penalty or model.temporal_penalty",
            fix="leave train.bptt_steps out, or set both penalties to 0",
        )
    if not recipe.bptt_steps or (task.learning.truncated_bptt is not None and decoder and decoder.is_recurrent):
        return
    why = f"the task {task.name} learns no sequence step by step"
    if decoder is not None and not decoder.is_recurrent:
        why = f"a {type(decoder).__name__} takes all steps at once, and no gradient goes back in time"
    raise InputError(
        f"train.bptt_steps has no meaning here: {why}.",
        found=f"train.bptt_steps={recipe.bptt_steps}",
        fix="leave it out, or name a recurrent decoder, e.g. --model lstm+additive",
    )


def backpropagate_stateful(
    bptt: TruncatedBPTT,
    learner: Learner,
    batch: Batch,
    recipe: TrainRecipe,
    device: torch.device,
    *,
    together: Together = ONE_PROCESS,
    idle: bool = False,
) -> Tensor:
    """Compute the gradient of a batch that continues from the state of the last one; each epoch starts from zero."""
    module = learner.module
    if learner.progress.position == 0:
        learner.state = []

    def compute() -> tuple[Tensor, Tensor]:
        with mixed_precision(recipe.precision, device):
            state = restored_state(bptt.start(module, batch), learner.state, device)
            losses, state = bptt.loss(module, batch, state, recipe.label_smoothing)
            share, loss = together.mean(losses.total, losses.items, idle=idle)
            learner.state = state_tensors(state)
            return add_penalties(share, module, l2=recipe.l2), loss

    cost, loss = together.run(compute)
    cost.backward()
    return loss


def state_tensors(state: object) -> list[Tensor]:
    """The tensors of a nested state in order, detached."""
    found: list[Tensor] = []
    map_state(lambda part: found.append(part.detach()), state)
    return found


def restored_state(state: object, tensors: list[Tensor], device: torch.device) -> object:
    """A nested state with its tensors replaced by these, in order; without any, the state as it is."""
    if not tensors:
        return state
    remaining = iter(tensors)
    return map_state(lambda part: next(remaining).to(device), state)


def validate_stateful(task: Task, module: nn.Module, recipe: TrainRecipe) -> None:
    """Refuse stateful batches where the model has no recurrent state."""
    decoder = decoder_of(module)
    carries = task.learning.truncated_bptt is not None and decoder is not None and decoder.is_recurrent
    if recipe.stateful and recipe.objective == "next" and not carries:
        raise InputError(
            "train.stateful has no meaning here: the model has no recurrent state.",
            found=f"train.stateful=true, task {task.name}, {type(decoder or module).__name__}",
            fix="leave it out, or take a recurrent model of plain text, e.g. --model lstm",
        )


def clip_gradients(module: nn.Module, recipe: TrainRecipe) -> Tensor | None:
    """Clip the gradient by value, which may change its direction, then by norm (Pascanu et al., 2013); its norm before
    the latter, None where the recipe does not clip by norm.
    """
    if recipe.clip_value:
        clip_grad_value_(module.parameters(), recipe.clip_value)
    return full(clip_grad_norm_(module.parameters(), recipe.clip)) if recipe.clip else None
