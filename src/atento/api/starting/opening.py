"""The folder of a run: chosen, opened, or found as it was left, to go on; and the command that goes on."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from atento.api.folders import last_folder, new_folder
from atento.api.prepare import Prepared
from atento.api.starting.launch import ONE, FitRequest, Processes
from atento.api.starting.moved import moved_keys, require_same_data, write_moved
from atento.bundle import CHECKPOINT, EVENTS, RECIPE, VOCABULARY, damaged, read_json, write_json
from atento.errors import InputError
from atento.spec import Recipe, read_recipe
from atento.training.checkpoints import check_checkpoint
from atento.writing import write_atomically


def choose_folder(request: FitRequest, recipe: Recipe, *, restarted: bool) -> Path:
    """The folder that the user named, or a new one; processes that torchrun started again go on in the last one."""
    if request.out:
        return Path(request.out)
    choose = last_folder if restarted else new_folder
    return choose(recipe.data.train, recipe.model.name)


def open_run(folder: Path, prepared: Prepared, *, resume: bool) -> None:
    """Write down what the run will do, or check that it is the run that was begun."""
    codec = prepared.codec.to_json()
    saved = resume and is_saved(folder)  # the checkpoint vouches for the vocabulary
    if saved or (resume and is_begun(folder)):
        moved = moved_keys(folder, prepared.recipe)
        require_same_recipe(folder, prepared.recipe, but=moved)
        require_same_data(folder, prepared.recipe, moved, prepared.reading.fingerprint)
        if not saved and json.dumps(read_json(folder, VOCABULARY)) != json.dumps(codec):
            raise damaged(folder, VOCABULARY, "another one than the data gives")
        if moved:
            write_moved(folder, prepared.recipe)
        return
    (folder / CHECKPOINT).unlink(missing_ok=True)  # of a run that never wrote its recipe
    (folder / EVENTS).unlink(missing_ok=True)
    write_json(folder / VOCABULARY, codec)
    write_atomically(folder / RECIPE, prepared.recipe.to_toml().encode())


def is_saved(folder: Path) -> bool:
    """Whether a run has a checkpoint to go on from; one that is damaged, or whose other files are, is refused."""
    if not (folder / CHECKPOINT).exists():
        return False
    check_checkpoint(folder)
    return True


def is_begun(folder: Path) -> bool:
    """Whether a run wrote down what it would do; the recipe comes after the vocabulary."""
    return (folder / RECIPE).exists() and (folder / VOCABULARY).exists()


def require_same_recipe(folder: Path, recipe: Recipe, *, but: Sequence[str] = (), fix: str = "") -> None:
    """A run goes on as it began, but for some keys; the first other one that differs is named."""
    then = read_recipe(folder / RECIPE).flat()
    for key, value in recipe.flat().items():
        if value != then[key] and key not in but:
            raise InputError(
                f"--resume: this is another recipe than {folder} began with.",
                found=f"{key} is {value!r} now, was {then[key]!r}",
                fix=fix or resume_command(folder),
            )


def resume_command(folder: Path, device: str = "auto", *, processes: Processes = ONE, track: Sequence[str] = ()) -> str:
    """What a user types to go on."""
    where = ["--device", device] if device != "auto" else []
    where += ["--track", ",".join(track)] if track else []
    words = ["train", str(folder / RECIPE), "--out", str(folder), "--resume", *where, *processes.options()]
    return shlex.join([*processes.command(), *words])
