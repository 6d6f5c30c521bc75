"""Starting from a trained run (`--from`): the same task goes on, another task takes over what fits."""

import re
from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from atento.bundle import Bundle
from atento.errors import InputError
from atento.models.names import ModelName
from atento.spec import Recipe, TokensRecipe
from atento.spec.recipe import Values
from atento.tasks.baselines import is_baseline
from atento.tasks.catalogue import TASKS
from atento.tasks.embed.vectors import vocabulary_of
from atento.tasks.encoding import learn_codec, suited
from atento.tasks.task import Task

OWN = (  # what each task decides for itself
    *("dropout", "directions", "pooling", "context", "attend", "characters"),
    *("locked_dropout", "recurrent_dropout", "embedding_dropout", "activation_penalty", "temporal_penalty"),
    "sampled_softmax",
)
FRAME = ("look_back", "horizon")  # of series: what the weights were made for
HALF = re.compile(r".*\b(?:encoder|decoder)\.")


def continue_model(values: Values, before: Bundle) -> Values:
    """The model of the run started from; what the user says of the rest stands."""
    if is_baseline(before.module):
        raise InputError(
            f"--from {before.folder}: a simple baseline has no weights to start from.",
            found=before.recipe.model.name,
            fix="leave --from out",
        )
    task = values.get("task", "auto")
    task = before.recipe.task if task == "auto" else task
    known = {f"model.{key}": value for key, value in before.recipe.model.model_dump().items()}
    if task != before.recipe.task:
        known = {key: value for key, value in known.items() if key.removeprefix("model.") not in OWN}
        known |= read_as(before, task)
    cut, usual = before.recipe.tokens.model_dump(), TokensRecipe().model_dump()
    for key, value in values.items():
        name = key.removeprefix("tokens.")
        if key.startswith("tokens.") and str(value) not in (str(cut[name]), str(usual[name])):
            raise InputError(
                f"--from {before.folder}: the vocabulary is the run's own.",
                found=f"{key}={value}",
                fix=f"leave {key} out",
            )
        if (
            key in known
            and key != "model.dropout"
            and not agrees(key, value, known[key], other=task != before.task.name)
        ):
            raise InputError(
                f"--from {before.folder}: {key} is already decided.",
                found=f"{key}={value}, the run has {known[key]}",
                fix=f"leave {key} out",
            )
    frame = {f"data.{key}": getattr(before.recipe.data, key) for key in FRAME} if task == before.recipe.task else {}
    return {**known, **{key: steps for key, steps in frame.items() if steps}, **values, "task": task}


def read_as(before: Bundle, task: str) -> Values:
    """In which directions another task reads: a model that learned the next token has seen the past alone."""
    objective = getattr(before.codec, "objective", "")
    if TASKS[task].reading.kind == "documents" or objective == "masked":
        return {}
    return {"model.directions": 1} if objective == "next" else {"model.directions": before.recipe.model.directions}


def agrees(key: str, value: Any, known: Any, *, other: bool) -> bool:
    """The same choice; of a name for another task, the same family; the directions are the user's to choose there."""
    if other and key == "model.directions":
        return True
    if other and key == "model.name":
        value, known = (ModelName.parse(str(name)).bare for name in (value, known))
    return str(value) == str(known)


def take_codec(task: Task, recipe: Recipe, pairs: Sequence[tuple[str, str]], before: Bundle) -> Any:
    """The run's own codec; for another task, or other text, one with the run's vocabulary."""
    if task.name == before.task.name and task.learning.bind is None:
        return before.codec
    if (
        task.name == before.task.name and task.learning.with_vocabulary is None
    ):  # no vocabulary: scales of its own series
        return learn_codec(task, recipe, pairs)
    vocabulary = vocabulary_of(before.codec)
    if task.learning.with_vocabulary is None or vocabulary is None:
        raise InputError(
            f"--from {before.folder}: the task {task.name} cannot start from a model of the task {before.task.name}.",
            found=f"a run of {before.task.name}",
            fix="start from a run of generate, or of the same task",
        )
    return suited(task, task.learning.with_vocabulary(recipe.tokens, pairs, vocabulary), recipe)


def take_weights(module: nn.Module, before: Bundle) -> str:
    """Put the run's weights where names and shapes agree; a note that says how many."""
    mine = module.state_dict()
    named = before.module.state_dict()
    theirs = {tail(name): tensor for name, tensor in named.items()}
    fitting: dict[str, Tensor] = {}
    for name, tensor in mine.items():
        found = named.get(name, theirs.get(tail(name)))  # both halves of a translator have parts of one name
        if found is not None and found.shape == tensor.shape:
            fitting[name] = found
    if not fitting:
        raise InputError(
            f"--from {before.folder}: none of its weights fit this model.",
            found=f"{before.recipe.model.name} of the task {before.task.name}",
            fix=f"leave --model out, or name one of the family {ModelName.parse(before.recipe.model.name).bare}",
        )
    module.load_state_dict({**mine, **fitting})
    fresh = sorted({name.partition(".")[0] if "." in name else name for name in mine if name not in fitting})
    rest = f"; {', '.join(fresh)} starts fresh" if fresh else ""
    return f"{len(fitting)} of {len(mine)} tensors start from {before.folder}{rest}"


def tail(name: str) -> str:
    """What a weight is called inside its half: an encoder reads by the very parts a decoder writes with."""
    return HALF.sub("", name)
