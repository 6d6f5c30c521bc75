"""The whole recipe of a run: the user's values, the defaults of the task, and what follows from the training part."""

from collections.abc import Mapping, Sequence

from atento.data.builtin.catalogue import BUILTIN
from atento.data.records import counted
from atento.models.names import ModelName, ModelPart
from atento.spec import Chosen, Recipe
from atento.tasks.task import Task

BY_USER = "set by the user"
WRITTEN_IN_FULL = ("data.future_covariates",)  # `weekday` becomes `weekday=Fr,weekday=Mo`, for a file with no Friday

KIN = {  # families that learn with the values of another, which steps as they do and has been measured
    "jordan": "rnn",
    "gru-before": "gru",
    "mgu": "gru",
    "mingru": "gru",
    "minlstm": "lstm",
}


def compared(task: Task, data: str) -> tuple[str, ...]:
    """What `compare` trains on a set when none are named."""
    return (BUILTIN[data].models if data in BUILTIN else ()) or task.defaults.models


def fill_defaults(
    task: Task, explicit: Mapping[str, object], *, data: str, where: str = "", why: str | Mapping[str, str] = BY_USER
) -> Recipe:
    """The recipe of a run: the task's defaults for this model, then the user's values with `why`."""
    name = str(explicit.get("model.name", "auto"))
    recipe = Recipe().with_values({"task": task.name}, why="guessed from the file" if data not in BUILTIN else "")
    if name == "auto":
        name = (BUILTIN[data].model if data in BUILTIN else "") or task.defaults.model
        recipe = recipe.with_values({"model.name": name}, why=f"default model of {task.name}")
    model = measured_kin(ModelName.parse(name))
    general = task.defaults.values("", model)
    measured = f"{task.name} default for {model.family}"
    values = {
        key: Chosen(value, measured if general.get(key) == value else f"chosen for {data}")
        for key, value in task.defaults.values(data, model).items()
    }
    given = {key: value for key, value in explicit.items() if key != "model.name" or value != "auto"}
    return recipe.with_values({**values, **given, "task": task.name}, where=where, why=why)


def measured_kin(model: ModelName) -> ModelName:
    """The model whose default values a model takes: its own name, or the same name with a family that has values."""
    family = KIN.get(model.family, model.family)
    return ModelName((*model.parts[:-1], ModelPart(family, model.decoder.added)))


def fill_sizes(
    task: Task, recipe: Recipe, explicit: Mapping[str, object], train: Sequence[object], *, device: str = "cpu"
) -> Recipe:
    """The recipe with what follows from the training part, where the user set no value. Future covariates are written
    in full even where the user named them, as other files need their categories.
    """
    found = {} if task.defaults.data_values is None else task.defaults.data_values(recipe, train, device)
    values = {key: value for key, value in found.items() if key not in explicit or key in WRITTEN_IN_FULL}
    return recipe.with_values(values, why=f"from the training data: {counted(len(train), 'example')}")
