"""The recipe: a frozen, validated tree of choices. It holds no size that follows from data."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from atento.errors import InputError, nearest

Level = Literal["auto", "char", "word", "subword"]


class Section(BaseModel):
    """Frozen, and strict about names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DataRecipe(Section):
    """Where examples come from."""

    train: str = Field("", description="a data file, two parallel files a.de,a.en, or a built-in name")
    valid: str = Field("", description="a file of its own for validation; empty: a share of train")
    test: str = Field("", description="a file of its own for the final test; empty: a share of train")
    source: str = Field("", description="column that is read (built-in numbers: a language); empty: guessed")
    target: str = Field("", description="column that is written (built-in numbers: a language); empty: guessed")
    split: str = Field("90/5/5", description="shares of train, validation and test, by distinct sources")
    header: Literal["auto", "yes", "no"] = Field("auto", description="whether the first line names the columns")
    bad_rows: Literal["stop", "skip"] = Field("stop", description="at a row that cannot be used")


class TokensRecipe(Section):
    """How text is cut."""

    source: Level = Field("auto", description="char, word, subword, or auto")
    target: Level = Field("auto", description="char, word, subword, or auto")
    size: int = Field(4000, ge=8, description="most tokens in a word or subword vocabulary")
    least_count: int = Field(1, ge=1, description="a rarer token is unknown")


class ModelRecipe(Section):
    """Which model, and how large."""

    name: str = Field("auto", description="`atento models` lists them; a composition such as lstm+additive+sparsemax")
    hidden: int = Field(128, ge=1, description="width of every family")
    layers: int = Field(1, ge=1, le=1000, description="layers of the encoder and of the decoder")
    heads: int = Field(4, ge=1, description="heads of multi-head attention; must divide hidden")
    feed_forward: int = Field(0, ge=0, description="width inside a Transformer layer; 0: four times hidden")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of values dropped while training")
    norm: Literal["pre", "post"] = Field("pre", description="Transformer layers normalise before or after each part")
    reach: int = Field(16, ge=0, description="how far a window extent sees")


class TrainRecipe(Section):
    """How to learn."""

    seed: int = Field(0, ge=0, description="one seed for split, weights, order and dropout")
    steps: int = Field(0, ge=0, description="stop after so many steps; 0: no such limit")
    epochs: int = Field(0, ge=0, description="stop after so many passes over the data; 0: no such limit")
    budget: float = Field(0, ge=0, description="stop after so much time, e.g. 90s or 5m; 0: no such limit")
    optimiser: Literal["adamw", "adam"] = Field("adamw", description="how gradients become steps")
    lr: float = Field(2e-3, gt=0, description="highest learning rate")
    weight_decay: float = Field(0.01, ge=0, description="pull of weights towards zero (adamw)")
    warmup: int = Field(100, ge=0, description="steps over which the rate rises")
    decay: Literal["linear", "cosine", "constant"] = Field("linear", description="how the rate falls to the end")
    clip: float = Field(1.0, ge=0, description="largest gradient norm; 0: no limit")
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="share of each label spread over all tokens")
    batch_tokens: int = Field(1536, ge=1, description="source and target tokens in a batch, padding included")
    precision: Literal["auto", "fp32", "bf16"] = Field("auto", description="auto: bf16 products on a GPU, else fp32")
    validations: int = Field(12, ge=1, description="how often to validate between start and end")
    validation_examples: int = Field(300, ge=1, description="most examples a validation decodes")
    patience: int = Field(6, ge=1, description="validations without a better one before stopping early")
    checkpoint_every: int = Field(200, ge=1, description="steps between checkpoints")
    threads: int = Field(0, ge=0, description="processor threads; 0: measured at the start")

    @field_validator("budget", mode="before")
    @classmethod
    def read_duration(cls, value: object) -> object:
        """90, 90s, 5m and 1h are all durations."""
        return parse_duration(value) if isinstance(value, str) else value


class DecodeRecipe(Section):
    """How to write an output."""

    beam: int = Field(1, ge=1, description="hypotheses kept side by side; 1: greedy")
    length_penalty: float = Field(1.0, ge=0, description="beam scores are divided by length to this power")
    longest: int = Field(0, ge=0, description="most tokens written; 0: from the training data")


class Recipe(Section):
    """Everything a run needs to know."""

    task: str = Field("auto", description="what to learn; auto: guessed from the file")
    data: DataRecipe = DataRecipe()
    tokens: TokensRecipe = TokensRecipe()
    model: ModelRecipe = ModelRecipe()
    train: TrainRecipe = TrainRecipe()
    decode: DecodeRecipe = DecodeRecipe()

    def with_values(self, values: Mapping[str, Any], *, where: str = "") -> "Recipe":
        """The same recipe with keys such as `model.hidden` changed."""
        tree = self.model_dump()
        for key, value in values.items():
            require_key(key, where=where)
            section, _, name = key.rpartition(".")
            (tree[section] if section else tree)[name] = value
        return validate(tree, where=where)

    def flat(self) -> dict[str, Any]:
        """{"task": "translate", "model.hidden": 128, ...}."""
        return flatten(self.model_dump())

    def to_toml(self) -> str:
        """What `read_recipe` reads."""
        return tomli_w.dumps(self.model_dump())


class Key(Section):
    """One line of the schema."""

    name: str
    kind: str
    default: Any
    description: str


def keys() -> list[Key]:
    """Every recipe key in order, with its kind, default and meaning."""
    rows = []
    for name, field in Recipe.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Section):
            for key, part in inner.model_fields.items():
                rows.append(
                    Key(
                        name=f"{name}.{key}",
                        kind=kind_of(part.annotation),
                        default=part.default,
                        description=part.description or "",
                    )
                )
        else:
            rows.append(Key(name=name, kind=kind_of(inner), default=field.default, description=field.description or ""))
    return rows


def kind_of(annotation: Any) -> str:
    """int, str, or the allowed words."""
    choices = getattr(annotation, "__args__", None)
    return " | ".join(map(str, choices)) if choices else str(annotation.__name__)


def accepted(key: str) -> str:
    """What a key takes: `float, at least 0 and less than 1`."""
    section, _, name = key.rpartition(".")
    home = Recipe.model_fields[section].annotation if section in Recipe.model_fields else Recipe
    field = home.model_fields.get(name) if isinstance(home, type) and issubclass(home, Section) else None
    if field is None:
        return "a section"
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    limits = [
        f"{words[sign]} {getattr(limit, sign)}" for limit in field.metadata for sign in words if hasattr(limit, sign)
    ]
    return ", ".join([kind_of(field.annotation), *([" and ".join(limits)] if limits else [])])


def require_key(key: str, *, where: str = "") -> None:
    """An unknown key names its nearest neighbour."""
    known = [row.name for row in keys()]
    if key in known:
        return
    tails = {name.rpartition(".")[2]: name for name in known}
    near = tails.get(key.rpartition(".")[2]) or nearest(key, known)
    raise InputError(
        f"{where + ': ' if where else ''}there is no recipe key {key!r}.",
        found=key,
        fix=f"did you mean {near}? `atento schema` lists all keys",
    )


def validate(tree: Mapping[str, Any], *, where: str = "") -> Recipe:
    """A recipe from plain values; each wrong value is named with what is allowed."""
    try:
        return Recipe.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            require_key(key, where=where)
        inner = first.get("ctx", {}).get("error")
        own = inner if isinstance(inner, InputError) else None
        raise InputError(
            f"{where + ': ' if where else ''}{key} cannot be {first['input']!r}.",
            found=own.problem if own else str(first["msg"]),
            fix=own.fix if own else f"{key} takes {accepted(key)}",
        ) from None


def read_recipe(path: Path) -> Recipe:
    """A recipe from a TOML file; what it leaves out has its default."""
    return Recipe().with_values(read_values(path), where=path.name)


def read_values(path: Path) -> dict[str, Any]:
    """Just what a TOML recipe says, as {"model.hidden": 256}."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: this recipe cannot be read.", found=error.strerror or str(error), fix="check the path"
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        spot = f"{path.name}:{place[1]}:{place[2]}" if place else path.name
        raise InputError(
            f"{spot}: this is not TOML.", found=str(error), fix="write key = value, text in quotes"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name}: a recipe is UTF-8 text.", found=str(error), fix="save it as UTF-8") from None
    for name, value in tree.items():
        if name in Recipe.model_fields and isinstance(getattr(Recipe(), name), Section) and not isinstance(value, dict):
            raise InputError(f"{path.name}: {name} is a section.", found=f"{name} = {value!r}", fix=f"write [{name}]")
    values = flatten(tree)
    for key in values:
        require_key(key, where=path.name)
    return values


def flatten(tree: Mapping[str, Any]) -> dict[str, Any]:
    """{"model": {"hidden": 8}} -> {"model.hidden": 8}."""
    flat = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}.{key}": inner for key, inner in value.items()})
        else:
            flat[name] = value
    return flat


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """["model.hidden=256"] -> {"model.hidden": "256"}."""
    values = {}
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign:
            raise InputError(
                f"--set {setting}: there is no '='.", found=setting, fix="write --set key=value, e.g. model.hidden=256"
            )
        require_key(key.strip(), where="--set")
        values[key.strip()] = value.strip()
    return values


def parse_duration(text: str, *, where: str = "") -> float:
    """Seconds in 90, 90s, 5m or 1.5h."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text)
    if not match:
        problem = f"{where + ': ' if where else ''}{text!r} is not a duration."
        raise InputError(problem, found=text, fix="write 90s, 5m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
