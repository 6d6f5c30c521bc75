"""From what a user typed to a whole recipe."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from atento.data.builtin.catalogue import is_builtin
from atento.data.sources.siblings import find_splits
from atento.errors import InputError
from atento.models.names import ModelName
from atento.spec import DataRecipe, Recipe, parse_duration, parse_settings, read_reasons, read_values, require_key
from atento.tasks.filling import BY_USER, fill_defaults
from atento.tasks.finding import find_task
from atento.tasks.task import Task

Settings = Iterable[str] | Mapping[str, Any]
LIMITS = ("train.steps", "train.epochs", "train.budget")
DEFAULT_BUDGET = 600.0


def gather_values(
    source: str, *, task: str, model: str, settings: Settings, seed: int | None, budget: str | float | None
) -> dict[str, Any]:
    """Everything the user gave, as recipe keys: the file first, then --set, then options of their own."""
    values: dict[str, Any] = read_values(Path(source)) if source.endswith(".toml") else {"data.train": source}
    if isinstance(settings, Mapping):
        for key in settings:
            require_key(key)
        values.update(settings)
    else:
        values.update(parse_settings(settings))
    if task != "auto":
        values["task"] = task
    if model != "auto":
        values["model.name"] = model
    if seed is not None:
        values["train.seed"] = seed
    if budget is not None:
        values["train.budget"] = parse_duration(budget, where="--budget") if isinstance(budget, str) else budget
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
    name = bare.data.train if is_builtin(bare.data.train) else Path(bare.data.train).name
    recipe = fill_defaults(task, values, data=name, where=where, why=reasons_for(values, where))
    task.learning.check_name(ModelName.parse(recipe.model.name))  # a wrong name is refused before a large file is read
    notes = []
    limited = bool(bare.train.steps or bare.train.epochs or bare.train.budget)
    if limited:  # the user's limits stand alone
        others = {key: 0 for key in LIMITS if key not in values}
        recipe = recipe.with_values(others, why="off: the user's own limit stands alone")
    elif not recipe.train.budget:
        recipe = recipe.with_values({"train.budget": DEFAULT_BUDGET}, why="default budget; --budget changes it")
    if "model.name" not in values:
        notes.append(f"model: {recipe.model.name} (the default; `atento models` lists all)")
    if not limited:
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
        if value and not is_builtin(value):
            paths = [value] if Path(value).exists() else value.split(",")
            value = ",".join(str(Path(path.strip()).absolute()) for path in paths)
        named[f"data.{key}"] = value
    return named
