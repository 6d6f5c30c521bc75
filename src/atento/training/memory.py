"""A state that goes on from batch to batch, through one long sequence: its gradient ends where a batch begins."""

from typing import Any

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.models.protocols import Decoder
from atento.recurrent.truncate import mapped
from atento.spec import TrainRecipe
from atento.tasks.task import InStretches, Task
from atento.training.gradients import add_penalties, products_in
from atento.training.learner import Learner


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
