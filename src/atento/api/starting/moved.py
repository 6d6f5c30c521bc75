"""A run whose data was moved or renamed: it goes on from the new place, if what lies there is what it began with."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atento.bundle import CHECKPOINT, METRICS, RECIPE, is_finished, read_json
from atento.data.builtin.catalogue import is_builtin
from atento.data.files.memory import is_in_memory
from atento.errors import InputError
from atento.spec import Recipe, read_recipe
from atento.training.checkpoints import check_checkpoint, vouch_also
from atento.writing import write_atomically

PLACES = ("data.train", "data.valid", "data.test")  # keys that name files


def fingerprint_of(folder: Path) -> str:
    """The fingerprint of the data that a run began with; empty where it has saved nothing yet."""
    if is_finished(folder):
        return str(read_json(folder, METRICS)["data"]["fingerprint"])
    return check_checkpoint(folder).get("fingerprint", "") if (folder / CHECKPOINT).exists() else ""


def moved_keys(folder: Path, recipe: Recipe) -> tuple[str, ...]:
    """The keys whose files a recipe names elsewhere than the run began with."""
    then, now = read_recipe(folder / RECIPE).flat(), recipe.flat()
    return tuple(key for key in PLACES if now[key] != then[key] and is_file_name(now[key]) and is_file_name(then[key]))


def require_same_data(folder: Path, recipe: Recipe, moved: tuple[str, ...], fingerprint: str) -> None:
    """Refuse a new place that holds other data than the run began with."""
    began = fingerprint_of(folder) if moved else ""
    if began and began != fingerprint:
        raise InputError(
            f"--resume: {recipe.flat()[moved[0]]} does not hold the data that {folder} began with.",
            found=f"fingerprint {fingerprint[:12]}… where the run began with {began[:12]}…",
            fix=f"name the place of the same data: --set {moved[0]}=FILE, or start a new run with another --out",
        )


def is_file_name(value: str) -> bool:
    """Whether a value names a file or several, not a built-in set or data in memory."""
    return bool(value) and not is_builtin(value) and not is_in_memory(value)


def write_moved(folder: Path, recipe: Recipe) -> None:
    """Write the recipe with the new places; a kill at any moment leaves a run that can be resumed."""
    content = recipe.to_toml().encode()
    if (folder / CHECKPOINT).exists():
        vouch_also(folder, RECIPE, content)
    write_atomically(folder / RECIPE, content)


def require_present(folder: Path, values: Mapping[str, Any]) -> None:
    """Refuse to resume a run whose data is not where it was, with what to type if it was moved."""
    if not (folder / RECIPE).exists() or is_finished(folder):
        return
    for key in PLACES:
        names = str(values.get(key) or "")
        there = not is_file_name(names) or Path(names).exists() or "!" in names or "://" in names
        if there or all(Path(name.strip()).exists() for name in names.split(",")):
            continue
        again = shlex.join(["atento", "train", str(folder / RECIPE), "--out", str(folder), "--resume"])
        raise InputError(
            f"--resume: the data of {folder} is no longer where it was.",
            found=f"no file {names}",
            fix=f"put it back, or name its new place: {again} --set {key}=FILE",
        )
