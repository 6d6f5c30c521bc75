"""Prepare: from what a user typed to a model that can be trained, in the same way for every command.

`gather_values` and `assemble` make the recipe; `read_data` reads the three parts and fills in the sizes that follow
from them; `prepare` learns the codec, builds the module and gives it its first weights.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from atento.api.starting.warm_start import take_codec, take_weights
from atento.bundle import Bundle, Json
from atento.data.builtin.catalogue import is_builtin
from atento.data.examples.splitting import parse_shares
from atento.data.files.memory import is_in_memory
from atento.data.records import counted
from atento.data.sources.splits import find_splits
from atento.data.tables.table import parsed_once
from atento.errors import InputError
from atento.predictor import find_device
from atento.reprs import repr_html
from atento.spec import DEFAULT, Chosen, DataRecipe, Recipe, parse_duration, parse_settings, read_reasons, read_values
from atento.spec.recipe import Settings, Values
from atento.tasks.baselines import baseline_makers, is_baseline, require_model, with_baseline
from atento.tasks.embed.vectors import start_words
from atento.tasks.encoding import learn_codec
from atento.tasks.filling import BY_USER, fill_defaults, fill_sizes
from atento.tasks.finding import find_task
from atento.tasks.sealed import seal
from atento.tasks.task import Dataset, Task
from atento.training.callbacks import Callback
from atento.training.events import EventCallback, no_callback
from atento.training.loop import validate_training
from atento.training.machine import require_memory

LIMITS = ("train.steps", "train.epochs", "train.budget")
DEFAULT_BUDGET = 600.0
MOST_LISTED = 5  # rows that were left out, told one by one
LEAST_TESTED = 2  # test rows from which there is an interval
MOST_NAMES = 200  # columns of the training file that are written down


def gather_values(
    source: str, *, task: str, model: str, settings: Settings, seed: int | None, budget: str | float | None
) -> Values:
    """Everything the user gave, as recipe keys: the file first, then --set, then options of their own."""
    values: Values = read_values(Path(source)) if source.endswith(".toml") else {"data.train": source}
    values |= parse_settings(settings)
    if task != "auto":
        values["task"] = task
    if model != "auto":
        values["model.name"] = model
    if seed is not None:
        values["train.seed"] = seed
    if budget is not None:
        values["train.budget"] = parse_duration(budget, where="--budget") if isinstance(budget, str) else budget
        if not values["train.budget"]:
            raise InputError("--budget 0 leaves no time to learn.", found=str(budget), fix="--budget 5m")
    if not values.get("data.train"):
        raise InputError(
            f"{source}: the recipe names no data.", found="data.train is empty", fix="--set data.train=FILE"
        )
    return values


class Assembled(NamedTuple):
    """A task, a whole recipe, and what was guessed, in words."""

    task: Task
    recipe: Recipe
    notes: list[str]


def assemble(values: Mapping[str, Any], *, where: str = "") -> Assembled:
    """The task, the recipe with the task's defaults filled in, and what was guessed."""
    bare = Recipe().with_values(dict(values), where=where)
    parts, found = find_splits(bare.data)
    bare = bare.with_values(parts)
    task, guess = find_task(bare.task, bare.data)
    known = recipe_for(task, {**values, **parts}, where=where)
    return known._replace(notes=[*found, *([guess] if guess else []), *known.notes])


def recipe_for(task: Task, values: Mapping[str, Any], *, where: str = "") -> Assembled:
    """The same for a task that is known; the data is not looked at."""
    bare = Recipe().with_values(dict(values), where=where)
    task = with_baseline(task, bare.model.name)
    name = bare.data.train if is_builtin(bare.data.train) else Path(bare.data.train).name
    recipe = fill_defaults(task, values, data=name, where=where, why=reasons_for(values, where))
    require_model(task, recipe.model.name)  # a wrong name is refused before a large file is read
    notes = []
    limited = bool(bare.train.steps or bare.train.epochs or bare.train.budget)
    if limited:  # the user's limits stand alone
        others = {key: 0 for key in LIMITS if key not in values}
        recipe = recipe.with_values(others, why="off: the user's own limit stands alone")
    elif not recipe.train.budget:
        recipe = recipe.with_values({"train.budget": DEFAULT_BUDGET}, why="default budget; --budget changes it")
    if "model.name" not in values:
        notes.append(f"model: {recipe.model.name} (the default; `atento models` lists all)")
    if not limited and bare.model.name not in baseline_makers(task):
        notes.append(f"training for at most {recipe.train.budget:.0f} s (--budget changes it)")
    named = {"tokens.vectors": str(Path(recipe.tokens.vectors).absolute()) if recipe.tokens.vectors else ""}
    return Assembled(task, recipe.with_values({**absolute(recipe.data), **named}), notes)


def reasons_for(values: Mapping[str, Any], file: str) -> dict[str, str]:
    """Where each value came from: as the recipe file says, where it still has the file's value, else from the user."""
    reasons = {key: BY_USER for key, value in values.items() if value != ""}
    if file:
        written, then = read_values(Path(file)), read_reasons(Path(file))
        reasons |= {key: why for key, why in then.items() if key in values and values[key] == written[key]}
    return reasons


def absolute(data: DataRecipe) -> dict[str, str]:
    """File names that hold from any folder, so that a run's own recipe repeats it."""
    named = {}
    for key in ("train", "valid", "test"):
        value = getattr(data, key)
        if value and not is_builtin(value) and not is_in_memory(value):
            paths = [value] if Path(value).exists() else value.split(",")
            value = ",".join(str(Path(path.strip()).absolute()) for path in paths)
        named[f"data.{key}"] = value
    return named


@dataclass(frozen=True)
class Data:
    """A data set in three parts, and the recipe with the sizes that follow from it."""

    task: Task
    recipe: Recipe
    reading: Dataset
    notes: tuple[str, ...]  # what was guessed, in words
    device: str = "cpu"  # where a model will be trained


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
    callbacks: Sequence[Callback] = ()  # what the user wants to be called


def read_data(chosen: Assembled, values: Mapping[str, Any], *, device: str = "cpu") -> Data:
    """Read the parts to learn from them: the test part is sealed until the final examination."""
    data = read_parts(chosen, values, device=device)
    return replace(data, reading=seal(data.reading))


def read_parts(chosen: Assembled, values: Mapping[str, Any], *, device: str = "cpu") -> Data:
    """Read the parts; sizes follow from them where `values`, which the user gave, leave them open."""
    task, recipe, guesses = chosen
    reading = task.reading.read(recipe.data, recipe.split_seed)
    recipe = fill_sizes(task, recipe, values, reading.train, device=device)
    return Data(task, recipe, reading, (*reading.notes, *guesses, *untested(task, reading, recipe.data)), device)


def untested(task: Task, reading: Dataset, recipe: DataRecipe) -> tuple[str, ...]:
    """A note where there are no test rows, with how many rows it takes to have some; series may be cut by counts."""
    if len(reading.test):
        return ()
    if task.reading.kind == "series":
        return (f"there will be no score: data.split={recipe.split} leaves nothing to test on",)
    *_, share = parse_shares(recipe.split)
    if not share:
        return (
            f"there will be no score: data.split={recipe.split} leaves no test rows; --set data.split=80/10/10 does",
        )
    needed = math.ceil(LEAST_TESTED / share)
    return (f"there will be no score: there are no test rows; {LEAST_TESTED} of them take {needed} rows in all",)


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

    def to_json(self) -> Json:
        """The same in dicts and lists."""
        return {"recipe": {key: one._asdict() for key, one in self.values().items()}, "notes": list(self.notes)}

    def _repr_html_(self) -> str:
        """The recipe with its reasons, for notebooks."""
        return repr_html(self.recipe)

    def __str__(self) -> str:
        return self.recipe.to_toml()

    def __repr__(self) -> str:
        recipe, many = self.recipe, len(self.chosen())
        return f"ExplainedRecipe(task={recipe.task!r}, model={recipe.model.name!r}, {many} values chosen: print it)"


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
    module = build(task, recipe, codec, device=data.device)
    if recipe.train.class_weight and task.learning.class_weights is not None:
        task.learning.class_weights(module, codec, recipe.train.class_weight)
    started, begun = before is not None, ""
    if before is not None:
        begun = take_weights(module, before)
        if task.learning.conformalize is not None:  # what was fitted to the old weights is forgotten
            task.learning.conformalize(module, codec, reading._replace(valid=()))
    elif task.learning.closed_form is not None and recipe.train.closed_form:
        begun = task.learning.closed_form(module, codec, reading.train)
    counted = "" if task.learning.count is None else task.learning.count(module, codec, reading.train)
    frozen = recipe.model.vectors == "frozen"
    words = start_words(module, codec, recipe, started=started) if recipe.tokens.vectors or frozen else []
    first = [*filter(None, (counted, begun)), *words]
    tell(first, on_event)
    notes = (*data.notes, *codec.notes, *first)
    return Prepared(task, recipe, reading, codec, module, notes, started=started, solved=bool(begun) and not started)


def learn(data: Data) -> Any:
    """The codec of the training part, which must know nothing that only validation rows say; test rows are sealed."""
    codec = learn_codec(data.task, data.recipe, data.reading.train)
    data.task.learning.require_no_leak(codec, data.reading._replace(test=()))
    return codec


def build(task: Task, recipe: Recipe, codec: Any, *, device: str) -> nn.Module:
    """The module, refused where it cannot be built or taught, or takes more memory than there is."""
    if recipe.model.members > 1:
        raise InputError(
            "an ensemble is not trained as one model; its members are trained one by one.",
            found=f"model.members={recipe.model.members}",
            fix=f"atento compare FILE --models {recipe.model.name} --seeds {recipe.model.members}",
        )
    require_memory(lambda model: task.learning.build(model, codec), recipe.model, recipe.train, device=device)
    module = task.learning.build(recipe.model, codec)
    if not is_baseline(module):
        validate_training(task, module, recipe.train)
    return module


def facts_of(reading: Dataset, notes: Iterable[str]) -> Json:
    """A data set in words and numbers, for the folder of a run or a comparison."""
    return {
        "name": reading.name,
        "parts": {"train": len(reading.train), "valid": len(reading.valid), "test": len(reading.test)},
        "refused": [str(refusal) for refusal in reading.refused],
        "notes": list(notes),
        "fingerprint": reading.fingerprint,
        "columns": dict(reading.columns),
        "header": list(reading.header[:MOST_NAMES]),
    }


def tell(notes: Iterable[str], on_event: EventCallback, *, refused: Iterable[object] = ()) -> None:
    """Notes, and the rows that were refused, as events."""
    for note in notes:
        on_event({"event": "note", "text": note})
    listed = list(refused)
    for refusal in listed[:MOST_LISTED]:
        on_event({"event": "refused", "text": str(refusal)})
    if len(listed) > MOST_LISTED:
        on_event({"event": "refused", "text": f"and {counted(len(listed) - MOST_LISTED, 'more row')}"})
