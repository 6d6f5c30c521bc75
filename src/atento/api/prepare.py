"""Prepare: from a whole recipe to a model that can be trained, in the same way for every command.

`read_data` reads the three parts and fills in the sizes that follow from them; `prepare` learns the codec, builds the
module and gives it its first weights. Each command takes the halves it needs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from atento.api.recipes import Assembled, Settings, assemble, gather_values
from atento.api.run import find_device
from atento.api.warm_start import take_codec, take_weights
from atento.bundle import Bundle
from atento.data.tables.table import parsed_once
from atento.spec import DEFAULT, Chosen, Recipe
from atento.tasks.embed.vectors import start_words
from atento.tasks.filling import fill_sizes
from atento.tasks.task import Dataset, Task, learn_codec
from atento.training.events import EventCallback, no_callback
from atento.training.loop import validate_training


@dataclass(frozen=True)
class Data:
    """A data set in three parts, and the recipe with the sizes that follow from it."""

    task: Task
    recipe: Recipe
    reading: Dataset
    notes: tuple[str, ...]  # what was guessed, in words


@dataclass(frozen=True)
class Prepared:
    """A model with its first weights, and all that its training needs."""

    task: Task
    recipe: Recipe
    reading: Dataset
    codec: Any
    module: nn.Module
    notes: tuple[str, ...]
    started: bool  # whether the first weights are those of another run
    solved: bool  # whether they are a simple model in closed form


def read_data(chosen: Assembled, values: Mapping[str, Any], *, device: str = "cpu") -> Data:
    """Read the parts; sizes follow from them where `values`, which the user gave, leave them open."""
    task, recipe, guesses = chosen
    reading = task.reading.read(recipe.data, recipe.split_seed)
    recipe = fill_sizes(task, recipe, values, reading.train, device=device)
    return Data(task, recipe, reading, (*reading.notes, *guesses))


@dataclass(frozen=True)
class ExplainedRecipe:
    """The recipe a training would use, with where every value came from."""

    recipe: Recipe
    notes: tuple[str, ...]

    def chosen(self) -> dict[str, Chosen]:
        """The values that are not plain defaults, each with its reason."""
        return {key: value for key, value in self.values().items() if value.why != DEFAULT}

    def values(self) -> dict[str, Chosen]:
        """Every value with its reason."""
        return {key: Chosen(value, self.recipe.why(key)) for key, value in self.recipe.flat().items()}

    def to_json(self) -> dict[str, Any]:
        """The same in dicts and lists."""
        return {"recipe": {key: one._asdict() for key, one in self.values().items()}, "notes": list(self.notes)}

    def __repr__(self) -> str:
        return self.recipe.to_toml()


def explain_recipe(
    data: str | Path,
    *,
    task: str = "auto",
    model: str = "auto",
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
) -> ExplainedRecipe:
    """The recipe that `fit` would use for this data, explained; the data is read, nothing is trained."""
    values = gather_values(str(data), task=task, model=model, settings=settings, seed=seed, budget=budget)
    with parsed_once():
        chosen = assemble(values, where=str(data) if str(data).endswith(".toml") else "")
        found = read_data(chosen, values, device=find_device(device).type)
    return ExplainedRecipe(found.recipe, found.notes)


def prepare(
    data: Data, *, codec: Any = None, before: Bundle | None = None, on_event: EventCallback = no_callback
) -> Prepared:
    """A module with its first weights: drawn, solved in closed form, or those of the run `before`. The codec is learned
    from the training part unless one is given. Notes are sent as events as they arise.
    """
    task, recipe, reading = data.task, data.recipe, data.reading
    if codec is None:
        codec = learn(data) if before is None else take_codec(task, recipe, reading.train, before)
    tell((*data.notes, *codec.notes), on_event, refused=reading.refused)
    torch.manual_seed(recipe.train.seed)
    module = build(task, recipe, codec)
    if recipe.train.class_weight and task.learning.class_weights is not None:
        task.learning.class_weights(module, codec, recipe.train.class_weight)
    if before is not None:
        begun = [take_weights(module, before)]
    else:
        solved = (
            task.learning.closed_form(module, codec, reading.train) if task.learning.closed_form is not None else ""
        )
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
    data.task.learning.require_no_leak(codec, data.reading)
    return codec


def build(task: Task, recipe: Recipe, codec: Any) -> nn.Module:
    """The module, refused where it cannot be built or taught."""
    module = task.learning.build(recipe.model, codec)
    validate_training(task, module, recipe.train)
    return module


def facts_of(reading: Dataset, notes: Iterable[str]) -> dict[str, Any]:
    """A data set in words and numbers, for the folder of a run or a comparison."""
    return {
        "name": reading.name,
        "parts": {"train": len(reading.train), "valid": len(reading.valid), "test": len(reading.test)},
        "refused": [str(refusal) for refusal in reading.refused],
        "notes": list(notes),
        "fingerprint": reading.fingerprint,
    }


def tell(notes: Iterable[str], on_event: EventCallback, *, refused: Iterable[object] = ()) -> None:
    """Notes, and the rows that were refused, as events."""
    for note in notes:
        on_event({"event": "note", "text": note})
    for refusal in refused:
        on_event({"event": "refused", "text": str(refusal)})
