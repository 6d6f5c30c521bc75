"""What a file is, what is wrong with it, the recipe it would be trained with, and the models there are."""

from threading import Lock

import torch

from atento import api
from atento.api.prepare import Assembled, assemble, gather_values, read_data
from atento.api.starting.warm_start import continue_model
from atento.bundle import Json, load_bundle
from atento.data.builtin.catalogue import BUILTIN
from atento.data.sources.splits import find_splits
from atento.data.tables.table import parsed_once
from atento.errors import unknown_name
from atento.models.names import FAMILIES, FORECASTERS, IMAGE_ENCODERS, SUFFIXES, ModelName
from atento.predictor import find_device
from atento.spec import Recipe
from atento.spec.recipe import Values
from atento.studio.asking import (
    FileAsked,
    ModelAsked,
    inspect_call,
    inspect_words,
    same_as,
    settings_in,
    train_call,
    train_words,
)
from atento.studio.workspace import require_found_files, require_own_files, run_folders
from atento.system import usable_cores
from atento.tasks.baselines import baseline_makers
from atento.tasks.catalogue import TASKS

READING = Lock()  # one file at a time: a large one takes much memory


def inspect_file(asked: FileAsked) -> Json:
    """What `atento inspect` says, and beside each problem the settings that mend it."""
    settings = asked.settings_given()
    require_named_files(asked)
    with READING:
        found = api.inspect(asked.file, task=asked.task, settings=settings).to_json()
    for problem in found["problems"]:
        added = settings_in(problem["command"], known=settings)
        problem["settings"], problem["task"] = (added[0] or None, added[1]) if added is not None else (None, None)
    open_questions = [settings_in(command, known=settings) for command in ([] if found["parts"] else found["next"])]
    choices = [one[0] for one in open_questions if one is not None and one[0]]
    found["choices"] = [choice for at, choice in enumerate(choices) if choice not in choices[:at]]
    return {**found, "same": same_as(inspect_words(asked), inspect_call(asked))}


def require_named_files(asked: FileAsked) -> None:
    """Nothing outside the workspace is read, nor a file beside the one that was named that is a link leading out."""
    settings = asked.settings_given()
    require_own_files(asked.file, settings)
    values = gather_values(asked.file, task="auto", model="auto", settings=settings, seed=None, budget=None)
    if str(values["data.train"]) not in BUILTIN:
        parts, _ = find_splits(Recipe().with_values(values).data)
        require_found_files(parts.values())


def values_of(asked: ModelAsked) -> Values:
    """The recipe keys that are asked for; a run to start from brings its own."""
    values = gather_values(
        asked.file,
        task=asked.task,
        model=asked.model,
        settings=asked.settings_given(),
        seed=asked.seed,
        budget=asked.budget,
    )
    if asked.start_from:
        folders = run_folders()
        if asked.start_from not in folders:
            raise unknown_name("run", asked.start_from, folders)
        values = continue_model(values, load_bundle(folders[asked.start_from]))
    return values


def assembled(asked: ModelAsked) -> Assembled:
    """The whole recipe that a training would use, sizes included; the data is read."""
    require_named_files(asked)
    with READING, parsed_once():
        values = values_of(asked)
        chosen = assemble(values, where=asked.file if asked.file.endswith(".toml") else "")
        found = read_data(chosen, values, device=find_device("auto").type)
    return Assembled(found.task, found.recipe, list(found.notes))


def explained_recipe(asked: ModelAsked) -> Json:
    """Every value of the recipe with its reason."""
    _, recipe, notes = assembled(asked)
    explained = api.ExplainedRecipe(recipe, tuple(notes))
    before = str(run_folders()[asked.start_from]) if asked.start_from else ""
    return {
        "values": {key: one._asdict() for key, one in explained.values().items()},
        "chosen": list(explained.chosen()),
        "notes": notes,
        "same": same_as(train_words(asked, before=before), train_call(asked, before=before), toml=recipe.to_toml()),
    }


def models_of(task: str) -> Json:
    """The models of a task: those that a comparison trains, the other families, and the simple baselines."""
    if task not in TASKS:
        raise unknown_name("task", task, TASKS)
    families = {**FAMILIES, **(FORECASTERS if TASKS[task].reading.kind == "series" else {})}
    compared = list(TASKS[task].defaults.models)
    names = dict.fromkeys([*compared, *(name for name in families if name not in compared)])
    found = [{"name": name, "summary": summary_of(name), "compared": name in compared} for name in names]
    simple = [
        {"name": name, "summary": "a simple baseline", "compared": False, "baseline": True}
        for name in baseline_makers(TASKS[task])
    ]
    return {"models": [*found, *simple]}


def summary_of(name: str) -> str:
    """A model's name in words."""
    known = {**FAMILIES, **FORECASTERS, **IMAGE_ENCODERS}
    said = []
    for part in ModelName.parse(name).parts:
        also = [SUFFIXES.get(word, f"{word} attention") for word in part.added]
        said.append("; ".join([known.get(part.family, part.family), *also]))
    return ", then ".join(said)


def catalogue() -> Json:
    """What there is without any file: tasks, built-in sets, and the machine."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {
        "builtin": [{"name": key, "task": one.task, "summary": one.summary} for key, one in BUILTIN.items()],
        "tasks": [{"name": name, "summary": task.summary} for name, task in TASKS.items()],
        "doctor": {"threads": usable_cores(), "gpu": gpu},
    }
