"""The recipe: a frozen, validated tree of choices. It holds no size that follows from data."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w
from pydantic import Field, PrivateAttr, ValidationError
from pydantic.fields import FieldInfo

from atento.errors import InputError, is_machine_fault, nearest
from atento.lines import lines_of
from atento.reprs import repr_html
from atento.spec.renamed import RENAMED
from atento.spec.sections import DataRecipe, DecodeRecipe, ModelRecipe, Section, TokensRecipe, TrainRecipe

Values = dict[str, Any]  # recipe keys and their values
Settings = Iterable[str] | Mapping[str, Any]  # as `--set` has them, or keys and values
DEFAULT = "default"
LONGEST_SHOWN = 80  # characters of a wrong value
COMMENT = re.compile(r"^(?P<key>\w+) = (?P<value>.*?)  # (?P<why>.+)$")  # as `to_toml` writes a line


class Chosen(NamedTuple):
    """A value of a recipe, and the reason it was chosen for."""

    value: Any
    why: str


class Recipe(Section):
    """Everything a run needs to know. Every value remembers where it came from; two recipes are equal when their values
    are.
    """

    task: str = Field("auto", description="what to learn; auto: guessed from the file")
    data: DataRecipe = DataRecipe()
    tokens: TokensRecipe = TokensRecipe()
    model: ModelRecipe = ModelRecipe()
    train: TrainRecipe = TrainRecipe()
    decode: DecodeRecipe = DecodeRecipe()
    _origins: dict[str, str] = PrivateAttr(default_factory=dict)

    _repr_html_ = repr_html

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.flat() == other.flat()

    def __hash__(self) -> int:
        return hash(tuple(self.flat().items()))

    def with_values(self, values: Mapping[str, Any], *, where: str = "", why: str | Mapping[str, str] = "") -> "Recipe":
        """The same recipe with keys such as `model.hidden` changed. A `Chosen` value brings its reason; of other values
        `why` is the reason, for all or by key, and without one the value keeps the reason it had.
        """
        tree, origins = self.model_dump(), dict(self._origins)
        for key, value in values.items():
            require_key(key, where=where)
            reason = why if isinstance(why, str) else why.get(key, "")
            if isinstance(value, Chosen):
                value, reason = value
            if reason:
                origins[key] = reason
            section, _, name = key.rpartition(".")
            (tree[section] if section else tree)[name] = value
        recipe = validate(tree, where=where)
        recipe._origins = origins
        return recipe

    def why(self, key: str) -> str:
        """Where the value of a key came from, in words."""
        return self._origins.get(key, DEFAULT)

    @property
    def split_seed(self) -> int:
        """What decides the split and generated sets: one for all models and seeds of a comparison."""
        return self.data.seed if self.data.seed >= 0 else self.train.seed

    def flat(self) -> Values:
        """{"task": "translate", "model.hidden": 128, ...}."""
        return flatten(self.model_dump())

    def to_toml(self) -> str:
        """What `read_recipe` reads; behind each value, as a comment, where it came from."""
        section, lines = "", []
        for line in lines_of(tomli_w.dumps(self.model_dump())):
            if line.startswith("["):
                section = line.strip("[]") + "."
            key, sign, _ = line.partition(" = ")
            lines.append(f"{line}  # {self.why(section + key)}" if sign else line)
        return "\n".join(lines) + "\n"


class Key(NamedTuple):
    """One line of the schema."""

    name: str
    kind: str
    default: Any
    description: str


@cache
def key_fields() -> dict[str, FieldInfo]:
    """Every recipe key in order, with its field."""
    fields: dict[str, FieldInfo] = {}
    for name, field in Recipe.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            fields |= {f"{name}.{key}": part for key, part in section.model_fields.items()}
        else:
            fields[name] = field
    return fields


def keys() -> tuple[Key, ...]:
    """Every recipe key in order, with its kind, default and meaning."""
    return tuple(
        Key(name, kind_of(field.annotation), field.default, field.description or "")
        for name, field in key_fields().items()
    )


def kind_of(annotation: Any) -> str:
    """int, str, or the allowed words."""
    choices = getattr(annotation, "__args__", None)
    return " | ".join(map(str, choices)) if choices else str(annotation.__name__)


def accepted(key: str) -> str:
    """What a key takes: `float, at least 0 and less than 1`."""
    field = key_fields().get(key)
    if field is None:
        return "a section"
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    limits = [
        f"{words[sign]} {getattr(limit, sign)}" for sign in words for limit in field.metadata if hasattr(limit, sign)
    ]
    return ", ".join([kind_of(field.annotation), *([" and ".join(limits)] if limits else [])])


def require_key(key: str, *, where: str = "") -> None:
    """An unknown key names its nearest neighbour."""
    known = list(key_fields())
    if key in known:
        return
    if key in RENAMED:
        raise InputError(
            f"{where + ': ' if where else ''}the recipe key {key!r} is called {RENAMED[key]!r} now.",
            found=key,
            fix=f"write {RENAMED[key]}",
        )
    tails = {name.rpartition(".")[2]: name for name in reversed(known)}  # the first of a kind: train.seed
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
        given = shown(first["input"]) if not isinstance(first["input"], Mapping) else "so: its keys do not go together"
        raise InputError(
            f"{where + ': ' if where else ''}{key} cannot be {given}.",
            found=own.problem if own else str(first["msg"]),
            fix=own.fix if own else f"{key} takes {accepted(key)}",
        ) from None


def shown(value: object) -> str:
    """A value as it is written, at most LONGEST_SHOWN characters of it."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({len(text):,} characters)"


def read_recipe(path: Path) -> Recipe:
    """A recipe from a TOML file; what it leaves out has its default."""
    return Recipe().with_values(read_values(path), where=path.name, why=read_reasons(path))


def read_values(path: Path) -> Values:
    """Just what a TOML recipe says, as {"model.hidden": 256}."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise InputError(f"{path}: this recipe cannot be read.", found="no regular file", fix="write it to a file")
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        if is_machine_fault(error):
            raise
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
    except ValueError as error:  # a number of thousands of digits
        problem = f"{path.name}: this recipe holds a number that is too long."
        raise InputError(problem, found=str(error).split(";")[0], fix="write a smaller number") from None
    for name, value in tree.items():
        if name in Recipe.model_fields and isinstance(getattr(Recipe(), name), Section) and not isinstance(value, dict):
            raise InputError(
                f"{path.name}: {name} is a section.", found=f"{name} = {shown(value)}", fix=f"write [{name}]"
            )
    values = flatten(tree)
    for key in values:
        require_key(key, where=path.name)
    return values


def read_reasons(path: Path) -> dict[str, str]:
    """Where each value of a TOML recipe came from: what `to_toml` wrote behind it, else that this file names it."""
    section, reasons = "", dict.fromkeys(read_values(path), f"in {path.name}")
    for line in lines_of(path.read_text(encoding="utf-8")):
        if line.startswith("["):
            section = line.strip("[] ") + "."
        written = COMMENT.match(line)
        if written and section + written["key"] in reasons:
            reasons[section + written["key"]] = written["why"]
    return reasons


def flatten(tree: Mapping[str, Any]) -> Values:
    """{"model": {"hidden": 8}} -> {"model.hidden": 8}."""
    flat = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}.{key}": inner for key, inner in value.items()})
        else:
            flat[name] = value
    return flat


def parse_settings(settings: Settings) -> Values:
    """["model.hidden=256"] -> {"model.hidden": "256"}; of a mapping the keys are checked."""
    if isinstance(settings, Mapping):
        for key in settings:
            require_key(key)
        return dict(settings)
    values: Values = {}
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign:
            raise InputError(
                f"--set {setting}: there is no '='.", found=setting, fix="write --set key=value, e.g. model.hidden=256"
            )
        require_key(key.strip(), where="--set")
        values[key.strip()] = value.strip()
    return values
