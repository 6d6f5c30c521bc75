"""What the bodies of requests hold, and the command, the TOML and the Python that do the same."""

import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from atento.bundle import Json
from atento.errors import NO_SETTINGS

Value = str | bool | int | float
Text = Annotated[str, Field(max_length=100_000)]
Name = Annotated[str, Field(max_length=4000)]
Settings = Annotated[dict[Name, Value], Field(max_length=500)]


class Body(BaseModel):
    """The body of a request: strict about names."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Nothing(Body):
    """No body but {}."""


class FileAsked(Body):
    """A data file, and how it is to be read."""

    file: Name
    task: Name = "auto"
    settings: Settings = {}

    def settings_given(self) -> dict[str, str]:
        """The settings as the command line has them."""
        return {key: written(value) for key, value in self.settings.items() if value != ""}


class ModelAsked(FileAsked):
    """One model to be trained."""

    model: Name = "auto"
    budget: Name | float | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    start_from: Name | None = None


class ComparisonAsked(FileAsked):
    """Several models to be compared."""

    models: Annotated[list[Name], Field(max_length=100)] = []
    budget: Name | float | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    seeds: Annotated[int, Field(ge=1, le=100)] = 1


class SourceAsked(Body):
    """A source to be answered and explained."""

    source: Text


def written(value: object) -> str:
    """A value as the command line takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def own_word(name: str) -> str:
    """A file whose name begins with a dash is no option."""
    return f"./{name}" if name.startswith("-") else name


def inspect_words(asked: FileAsked) -> list[str]:
    """`inspect` and its options."""
    return ["inspect", own_word(asked.file), *reading_words(asked)]


def train_words(asked: ModelAsked, *, before: str = "", out: str = "") -> list[str]:
    """`train` and its options."""
    words = ["train", own_word(asked.file), *reading_words(asked)]
    words += [] if asked.model == "auto" else ["--model", asked.model]
    words += learning_words(asked)
    words += ["--from", before] if before else []
    return [*words, *(["--out", out] if out else [])]


def compare_words(asked: ComparisonAsked, *, out: str = "") -> list[str]:
    """`compare` and its options."""
    words = ["compare", own_word(asked.file), *reading_words(asked)]
    words += ["--models", ",".join(asked.models)] if asked.models else []
    words += learning_words(asked)
    words += [] if asked.seeds == 1 else ["--seeds", str(asked.seeds)]
    return [*words, *(["--out", out] if out else [])]


def reading_words(asked: FileAsked) -> list[str]:
    """The options that say how a file is read, and every setting."""
    task = [] if asked.task == "auto" else ["--task", asked.task]
    return [*task, *(word for key, value in asked.settings_given().items() for word in ("--set", f"{key}={value}"))]


def learning_words(asked: ModelAsked | ComparisonAsked) -> list[str]:
    """The options of time and chance."""
    words = [] if asked.budget is None else ["--budget", budget_of(asked.budget)]
    return [*words, *([] if asked.seed is None else ["--seed", str(asked.seed)])]


def budget_of(budget: str | float) -> str:
    """A budget as the command line takes it; a number is seconds."""
    return budget if isinstance(budget, str) else f"{budget:g}s"


def same_as(words: Sequence[str], call: str, *, toml: str | None = None) -> Json:
    """What a user types, runs or writes instead of a click."""
    return {"command": shlex.join(["atento", *words]), "toml": toml, "python": f"import atento\n\n{call}"}


def call_of(function: str, *given: object, **options: object) -> str:
    """A call in Python; options that are None, empty or `auto` are left out."""
    named = [f"{key}={value!r}" for key, value in options.items() if value not in (None, "", "auto", {}, [])]
    return f"atento.{function}({', '.join([*map(repr, given), *named])})"


def inspect_call(asked: FileAsked) -> str:
    """The same in Python."""
    return f"print({call_of('inspect', asked.file, task=asked.task, settings=asked.settings_given())})"


def train_call(asked: ModelAsked, *, before: str = "", out: str = "") -> str:
    """The same in Python."""
    options = reading_options(asked) | learning_options(asked)
    return f"run = {call_of('fit', asked.file, model=asked.model, **options, start_from=before, out=out)}"


def compare_call(asked: ComparisonAsked, *, out: str = "") -> str:
    """The same in Python."""
    options = reading_options(asked) | learning_options(asked)
    seeds = None if asked.seeds == 1 else asked.seeds
    return f"board = {call_of('compare', asked.file, models=asked.models, **options, seeds=seeds, out=out)}"


def reading_options(asked: FileAsked) -> dict[str, Any]:
    """How a file is read, as arguments."""
    return {"task": asked.task, "settings": asked.settings_given()}


def learning_options(asked: ModelAsked | ComparisonAsked) -> dict[str, Any]:
    """Time and chance, as arguments."""
    return {"budget": None if asked.budget is None else budget_of(asked.budget), "seed": asked.seed}


def compared_by(words: Sequence[str]) -> ComparisonAsked:
    """What the words of `compare` ask for."""
    options = list(pairwise(words[2:]))
    single = {option.removeprefix("--"): value for option, value in options if option.startswith("--")}
    return ComparisonAsked(
        file=words[1],
        task=single.get("task", "auto"),
        models=single["models"].split(",") if "models" in single else [],
        settings={key: value for key, _, value in (two.partition("=") for one, two in options if one == "--set")},
        budget=single.get("budget"),
        seed=int(single["seed"]) if "seed" in single else None,
        seeds=int(single.get("seeds", "1")),
    )


def settings_in(command: str, *, known: Mapping[str, str] = NO_SETTINGS) -> tuple[dict[str, str], str | None] | None:
    """The settings and the task that a printed command adds to what is known; None where it is no command of ours, or
    adds nothing.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if len(words) < 3 or words[0] != "atento" or words[1] not in ("compare", "train", "inspect"):
        return None
    options = list(pairwise(words[2:]))
    pairs = [value.partition("=") for option, value in options if option == "--set"]
    settings = {key: value for key, _, value in pairs if known.get(key) != value}
    task = next((value for option, value in options if option == "--task"), None)
    return (settings, task) if settings or task else None
