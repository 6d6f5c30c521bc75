"""One batch forward and back: whole, or stretch by stretch in time.

A state that goes on from batch to batch, through one long sequence: its gradient ends where a batch begins.
"""

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.losses import squared_weights
from atento.models.protocols import Decoder
from atento.recurrent.truncated import mapped
from atento.spec import TrainRecipe
from atento.tasks.task import InStretches, Task
from atento.training.learner import Learner


def learn(task: Task, module: nn.Module, batch: Any, recipe: TrainRecipe, device: torch.device) -> Tensor:
    """Leave the gradient of the mean loss, and of what the module's parts ask for themselves; the mean loss alone
    comes back.
    """
    products = products_in(recipe.precision, device)
    if recipe.truncate and task.stretches is not None:
        return learn_in_stretches(task.stretches, module, batch, recipe, products)
    with products:
        judged = task.loss(module, batch, recipe.label_smoothing)
        loss = judged.shared_by(items_of(batch, judged.items, recipe)).mean
        cost = add_penalties(loss, module, l2=recipe.l2)
    cost.backward()  # type: ignore[no-untyped-call]
    return loss.detach()


def learn_in_stretches(
    stretches: InStretches, module: nn.Module, batch: Any, recipe: TrainRecipe, products: AbstractContextManager[Any]
) -> Tensor:
    """Truncated back-propagation through time (Williams & Peng, 1990): each stretch goes back by itself, so that one
    is held in memory; the state goes on, without its past. What comes before all steps (an encoder, the keys of an
    attention) serves every stretch and is gone back through once, at the end: a stretch as long as the whole is plain
    back-propagation.
    """
    items = max(items_of(batch, stretches.items(batch), recipe), 1)
    with products:
        start = stretches.start(module, batch)
    first = mapped(as_leaf, start)
    state, total = first, torch.zeros((), device=next(module.parameters()).device)
    for stretch in stretches.cut(batch, recipe.truncate):
        with products:
            loss, state = stretches.loss(module, stretch, state, recipe.label_smoothing)
            share = loss.total / items
        share.backward()  # type: ignore[no-untyped-call]
        state, total = let_go(state, first), total + share.detach()
    go_back(start, first)
    penalty = add_penalties(torch.zeros_like(total), module, l2=recipe.l2)
    if penalty.requires_grad:
        penalty.backward()  # type: ignore[no-untyped-call]
    return total


def as_leaf(part: Tensor) -> Tensor:
    """The same numbers, where a gradient stops and is gathered; what needs none stays itself."""
    return part.detach().requires_grad_() if part.requires_grad else part


def let_go(state: Any, first: Any) -> Any:
    """The nested state without its past; parts that no step has changed still lead to the start."""
    if state is first:
        return state
    if isinstance(state, Tensor):
        return state.detach()
    if isinstance(state, tuple):
        parts = [let_go(part, before) for part, before in zip(state, first, strict=True)]
        return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
    return state


def go_back(start: Any, first: Any) -> None:
    """From the gradients gathered at the leaves through what made them."""
    roots: list[Tensor] = []
    gathered: list[Tensor] = []

    def gather(root: Tensor, leaf: Tensor) -> Tensor:
        if root.requires_grad and leaf.grad is not None:
            roots.append(root)
            gathered.append(leaf.grad)
        return root

    mapped(gather, start, first)
    if roots:
        torch.autograd.backward(roots, gathered)


def items_of(batch: Any, items: int, recipe: TrainRecipe) -> int:
    """What the loss is the mean over: the task's own items, or the sequences of the batch."""
    return len(batch[0]) if recipe.loss_over == "sequences" else items


def add_penalties(loss: Tensor, module: nn.Module, *, l2: float = 0.0) -> Tensor:
    """The loss, what each part of the module that has a `penalty()` adds to it, and `l2` times its squared weights."""
    if l2:
        loss = loss + l2 * squared_weights(module)
    for part in module.modules():
        penalty = getattr(part, "penalty", None)
        if callable(penalty):
            loss = loss + penalty()
    return loss


def products_in(precision: str, device: torch.device) -> AbstractContextManager[Any]:
    """Matrix products in bfloat16 where asked, or on a GPU; weights stay float32."""
    low = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=low)


def require_steps(task: Task, module: nn.Module, recipe: TrainRecipe) -> None:
    """Truncation cuts a gradient that goes back step by step; where there is none it has no meaning."""
    parallel = next((part for part in module.modules() if isinstance(part, Decoder) and not part.recurs), None)
    if not recipe.truncate or (task.stretches is not None and parallel is None):
        return
    why = f"the task {task.name} learns no sequence step by step"
    if parallel is not None:
        why = f"a {type(parallel).__name__} takes all steps at once, and no gradient goes back in time"
    raise InputError(
        f"train.truncate has no meaning here: {why}.",
        found=f"train.truncate={recipe.truncate}",
        fix="leave it out, or name a recurrent decoder, e.g. --model lstm+additive",
    )


def learn_on(stretches: InStretches, learner: Learner, batch: Any, recipe: TrainRecipe, device: torch.device) -> Tensor:
    """Leave the gradient of the mean loss of a batch that goes on from the last one's state; an epoch begins anew."""
    module = learner.module
    if learner.progress.position == 0:
        learner.carried = []
    with products_in(recipe.precision, device):
        state = refilled(stretches.start(module, batch), learner.carried, device)
        judged, state = stretches.loss(module, batch, state, recipe.label_smoothing)
        loss = judged.mean
        cost = add_penalties(loss, module, l2=recipe.l2)
    cost.backward()  # type: ignore[no-untyped-call]
    learner.carried = tensors_of(state)
    return loss.detach()


def tensors_of(state: Any) -> list[Tensor]:
    """The tensors of a nested state, in order, without their past."""
    found: list[Tensor] = []
    mapped(lambda part: found.append(part.detach()), state)
    return found


def refilled(state: Any, tensors: list[Tensor], device: torch.device) -> Any:
    """The nested state with these tensors in their order; with none it stays itself."""
    if not tensors:
        return state
    waiting = iter(tensors)
    return mapped(lambda part: next(waiting).to(device), state)


def require_memory(task: Task, module: nn.Module, recipe: TrainRecipe) -> None:
    """Only a model that steps through time has a state to go on with."""
    decoder = next((part for part in module.modules() if isinstance(part, Decoder)), None)
    if (
        recipe.carry
        and recipe.objective == "next"
        and (task.stretches is None or decoder is None or not decoder.recurs)
    ):
        raise InputError(
            "train.carry has no meaning here: there is no state to go on with.",
            found=f"train.carry=true, task {task.name}, {type(decoder or module).__name__}",
            fix="leave it out, or take a recurrent model of plain text, e.g. --model lstm",
        )
