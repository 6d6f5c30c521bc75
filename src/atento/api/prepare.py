"""Prepare: from a whole recipe to a model that can be trained, in the same way for every command.

`read_data` reads the three parts and fills in the sizes that follow from them; `prepare` learns the codec, builds the
module and gives it its first weights. Each command takes the halves it needs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from atento.api.recipes import Assembled
from atento.api.starting import take_codec, take_weights
from atento.bundle import Bundle
from atento.checks.leaks import require_no_leak
from atento.spec import Recipe
from atento.tasks.embed.vectors import start_words
from atento.tasks.task import Reading, Task, fill_sizes, learn_codec
from atento.training.events import Watcher, no_watcher
from atento.training.loop import require_sense


@dataclass(frozen=True)
class Data:
    """A data set in three parts, and the recipe with the sizes that follow from it."""

    task: Task
    recipe: Recipe
    reading: Reading
    notes: tuple[str, ...]  # what was guessed, in words


@dataclass(frozen=True)
class Prepared:
    """A model with its first weights, and all that its training needs."""

    task: Task
    recipe: Recipe
    reading: Reading
    codec: Any
    module: nn.Module
    notes: tuple[str, ...]
    started: bool  # whether the first weights are those of another run
    solved: bool  # whether they are a simple model in closed form


def read_data(chosen: Assembled, values: Mapping[str, Any], *, device: str = "cpu") -> Data:
    """Read the parts; sizes follow from them where `values`, what the user said, leave them open."""
    task, recipe, guesses = chosen
    reading = task.read(recipe.data, recipe.split_seed)
    recipe = fill_sizes(task, recipe, values, reading.train, device=device)
    return Data(task, recipe, reading, (*reading.notes, *guesses))


def prepare(data: Data, *, codec: Any = None, before: Bundle | None = None, on_event: Watcher = no_watcher) -> Prepared:
    """A module with its first weights: drawn, solved in closed form, or those of the run `before`. The codec is learned
    from the training part unless one is given. Notes are told as they arise.
    """
    task, recipe, reading = data.task, data.recipe, data.reading
    if codec is None:
        codec = learn(data) if before is None else take_codec(task, recipe, reading.train, before)
    tell((*data.notes, *codec.notes), on_event, refused=reading.refused)
    torch.manual_seed(recipe.train.seed)
    module = build(task, recipe, codec)
    if recipe.train.balance and task.weigh is not None:
        task.weigh(module, codec, recipe.train.balance)
    if before is not None:
        begun = [take_weights(module, before)]
    else:
        solved = task.start(module, codec, reading.train) if task.start is not None else ""
        begun = [solved] if solved else []
    tell(begun, on_event)
    words = start_words(module, codec, recipe, started=before is not None)
    tell(words, on_event)
    notes = (*data.notes, *codec.notes, *begun, *words)
    started = before is not None
    return Prepared(task, recipe, reading, codec, module, notes, started=started, solved=bool(begun) and not started)


def learn(data: Data) -> Any:
    """The codec of the training part, which must know nothing that only held-out rows say."""
    codec = learn_codec(data.task, data.recipe, data.reading.train)
    require_no_leak(codec, data.reading)
    return codec


def build(task: Task, recipe: Recipe, codec: Any) -> nn.Module:
    """The module, refused where it cannot be built or taught."""
    module = task.build(recipe.model, codec)
    require_sense(task, module, recipe.train)
    return module


def facts_of(reading: Reading, notes: Iterable[str]) -> dict[str, Any]:
    """A data set in words and numbers, for the folder of a run or a comparison."""
    return {
        "name": reading.name,
        "parts": {"train": len(reading.train), "valid": len(reading.valid), "test": len(reading.test)},
        "refused": [str(refusal) for refusal in reading.refused],
        "notes": list(notes),
        "fingerprint": reading.fingerprint,
    }


def tell(notes: Iterable[str], on_event: Watcher, *, refused: Iterable[object] = ()) -> None:
    """Notes, and the rows that were refused, as events."""
    for note in notes:
        on_event({"event": "note", "text": note})
    for refusal in refused:
        on_event({"event": "refused", "text": str(refusal)})
