"""A trained model as a folder: weights, recipe, vocabularies, metrics, card, and a manifest that vouches for them."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from atento.baselines.state import BaselineState, restore, state_of
from atento.errors import InputError, is_machine_fault, no_such_run
from atento.layers.initialization import shapes_alone
from atento.lines import lines_of
from atento.spec import Recipe, read_recipe
from atento.tasks.baselines import BaselineModule, with_baseline
from atento.tasks.catalogue import TASKS
from atento.tasks.encoding import build_module
from atento.tasks.task import Dataset, Task
from atento.version import __version__
from atento.writing import write_atomically

FORMAT = 1  # of a folder; every format that a release has written is loaded by all later ones (docs/formats.md)
OWN_MODULE = "module"  # the task in the recipe of a module of the user's own
WEIGHTS, RECIPE, VOCABULARY = "weights.safetensors", "recipe.toml", "vocabulary.json"
METRICS, CARD = "metrics.json", "README.md"
EVENTS, PREDICTIONS, MANIFEST = "events.jsonl", "predictions.jsonl", "manifest.json"
CHECKPOINT = "checkpoint.safetensors"  # of a run that has not ended
SHARDS = "shards-"  # and a step: the folder of what processes hold in shards, which that checkpoint names
OUTPUTS = "outputs.safetensors"  # answers that are arrays
METADATA = "__metadata__"  # the text in the header of a safetensors file
BASELINE = "baseline.json"  # what a baseline has learned, but for its arrays

EXPORTED = "export.json"  # of a folder that `atento export` wrote

Json = dict[str, Any]  # an object of a JSON document


class Bundle(NamedTuple):
    """A trained model, whole again."""

    folder: Path
    task: Task
    recipe: Recipe
    codec: Any
    module: nn.Module
    metrics: Json

    def read(self) -> Dataset:
        """The data that the model was trained on, in the same parts."""
        return self.task.reading.read(self.recipe.data, self.recipe.split_seed)


def write_json(path: Path, value: Any) -> None:
    """JSON for people and machines."""
    write_atomically(path, as_json(value))


def as_json(value: Any) -> bytes:
    """The bytes that `write_json` writes."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def save_bundle(folder: Path, *, module: nn.Module, metrics: Mapping[str, Any], card: str) -> None:
    """Complete a run's folder; the manifest comes last, so a folder with one is whole and needs no checkpoint."""
    weights = module.state_dict()
    if isinstance(module, BaselineModule):
        state = state_of(module.baseline)
        write_atomically(folder / BASELINE, json.dumps(state.values).encode())
        weights = {name: torch.from_numpy(array) for name, array in state.arrays.items()}
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    write_atomically(folder / WEIGHTS, save_tensors(plain))
    write_json(folder / METRICS, metrics)
    write_atomically(folder / CARD, card.encode())
    names = [WEIGHTS, RECIPE, VOCABULARY, METRICS, CARD, EVENTS, PREDICTIONS, OUTPUTS, BASELINE]
    files = {name: digest_of(folder / name) for name in names if (folder / name).exists()}
    sizes = {name: (folder / name).stat().st_size for name in files}
    write_json(folder / MANIFEST, {"format": FORMAT, "files": files, "sizes": sizes})
    remove_checkpoint(folder)


def remove_checkpoint(folder: Path) -> None:
    """Remove the checkpoint of a finished run; one remains where the run was killed just after its manifest."""
    with suppress(OSError):  # a folder that may only be read keeps it
        (folder / CHECKPOINT).unlink(missing_ok=True)
        for place in folder.glob(f"{SHARDS}*"):
            rmtree(place)


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a whole model."""
    return (folder / MANIFEST).is_file()


def load_bundle(folder: Path) -> Bundle:
    """Check every file against the manifest, then rebuild the model. Nothing in the folder is executed."""
    check_manifest(folder)
    remove_checkpoint(folder)
    with blaming(folder, RECIPE):
        recipe = read_recipe(folder / RECIPE)
    if recipe.task == OWN_MODULE:
        raise InputError(
            f"{folder} holds the weights of a module of your own, which is needed to load them.",
            found=f"a module of type {recipe.model.name}",
            fix=f'in Python: atento.load("{folder}", module=module)',
        )
    if recipe.task not in TASKS:
        raise damaged(folder, RECIPE, f"task = {recipe.task!r}")
    task = with_baseline(TASKS[recipe.task], recipe.model.name)
    with blaming(folder, VOCABULARY):
        codec = task.learning.load(read_json(folder, VOCABULARY))
    weights = read_weights(folder)
    with blaming(folder, RECIPE), shapes_alone():  # a false recipe costs no memory
        sketch = build_module(task, recipe.model, codec)
    if not isinstance(sketch, BaselineModule):
        adopt_sizes(sketch, weights)
        require_fit(sketch, weights, where=str(folder / WEIGHTS))
    module = build_module(task, recipe.model, codec)
    if isinstance(module, BaselineModule):
        restore_baseline(folder, module, weights)
    else:
        adopt_sizes(module, weights)
        module.load_state_dict(weights)
    return Bundle(folder, task, recipe, codec, module.eval(), read_json(folder, METRICS))


def adopt_sizes(module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Give parts whose sizes were counted, not chosen by the recipe, those of the weights."""
    for place, part in module.named_modules():
        if hasattr(part, "adopt_sizes"):
            part.adopt_sizes({name.removeprefix(f"{place}."): weight for name, weight in weights.items()})


def restore_baseline(folder: Path, module: BaselineModule, weights: Mapping[str, Tensor]) -> None:
    """Give a baseline what it had learned."""
    if BASELINE not in read_json(folder, MANIFEST)["files"]:
        raise damaged(folder, MANIFEST, f"{BASELINE} is not listed")
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    with blaming(folder, BASELINE):
        restore(module.baseline, BaselineState(read_json(folder, BASELINE), arrays))


def check_manifest(folder: Path, *, hashed_up_to: float = math.inf) -> None:
    """Every file the manifest names must be there, unchanged; of files with more bytes than `hashed_up_to` only the
    size and the header of tensors are compared.
    """
    if not folder.is_dir():
        raise no_such_run(folder)
    if (folder / EXPORTED).is_file():
        raise InputError(
            f"{folder}: this is an exported model, which answers and does no more.",
            found=EXPORTED,
            fix="give the run that it was made of; `atento predict` and `atento serve` take both",
        )
    if not is_finished(folder):
        unfinished = (folder / RECIPE).exists()
        raise InputError(
            f"{folder}: this is not a trained model.",
            found="a run that has not ended" if unfinished else f"no {MANIFEST}",
            fix=f"atento train {folder / RECIPE} --out {folder} --resume" if unfinished else "`atento runs` lists them",
        )
    manifest = read_json(folder, MANIFEST)
    refuse_newer(folder, manifest)
    files, sizes = manifest.get("files"), manifest.get("sizes")
    if manifest.get("format") != FORMAT or not isinstance(files, dict) or not isinstance(sizes, dict):
        raise damaged(folder, MANIFEST, f"format {manifest.get('format')!r}")
    if set(files) != set(sizes):
        raise damaged(folder, MANIFEST, f"{len(files)} files and {len(sizes)} sizes that do not belong together")
    for name in (WEIGHTS, RECIPE, VOCABULARY, METRICS):
        if name not in files:
            raise damaged(folder, MANIFEST, f"{name} is not listed")
    for name, expected in files.items():
        if not name or Path(name).name != name:
            raise damaged(folder, MANIFEST, f"the name {name!r}")
        if not (folder / name).is_file():
            raise damaged(folder, name, "no such file")
        size = (folder / name).stat().st_size
        if size != sizes[name]:
            raise damaged(folder, name, f"{size} bytes where the manifest says {sizes[name]}")
        if size <= hashed_up_to and (found := digest_of(folder / name)) != expected:
            raise damaged(folder, name, f"SHA-256 {found[:12]}… where the manifest says {str(expected)[:12]}…")
        if size > hashed_up_to and name.endswith(".safetensors"):
            tensor_header(folder, name)
    whole = {"format": FORMAT, "files": files, "sizes": sizes}
    if (folder / MANIFEST).read_bytes() != as_json(whole):  # the same JSON with a line twice or a blank lost
        raise damaged(folder, MANIFEST, "other bytes than were written")


def refuse_newer(folder: Path, manifest: Json) -> None:
    """Refuse a folder whose format only a later version of atento knows; the version that wrote it stands in its
    metrics, in every format.
    """
    number = manifest.get("format")
    if not isinstance(number, int) or number <= FORMAT:
        return
    wrote = ""
    with suppress(InputError, LookupError, TypeError):
        wrote = str(read_json(folder, METRICS)["versions"]["atento"])
    known = re.fullmatch(r"\d+(\.\w+)*", wrote) is not None
    raise InputError(
        f"{folder} was written by a newer version of atento.",
        found=f"format {number}{f' of atento {wrote}' if known else ''}; atento {__version__} knows format {FORMAT}",
        fix=f'pip install --upgrade "atento>={wrote}"' if known else "pip install --upgrade atento",
    )


def tensor_header(folder: Path, name: str) -> Json:
    """The header of a safetensors file, whose tensors must fill the rest of the file exactly."""
    try:
        size = (folder / name).stat().st_size
        with (folder / name).open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header: Json = json.loads(file.read(min(length, size)))
        whole = 8 + length + max((header[key]["data_offsets"][1] for key in header if key != METADATA), default=0)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        if is_machine_fault(error):
            raise
        raise damaged(folder, name, lines_of(f"{type(error).__name__}: {error}")[0]) from None
    if whole != size:
        raise damaged(folder, name, f"{size:,} bytes where its header says {whole:,}")
    return header


def read_json(folder: Path, name: str) -> Json:
    """A JSON object from a folder's file."""
    try:
        value = json.loads((folder / name).read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        if is_machine_fault(error):
            raise
        raise damaged(folder, name, str(error)) from None
    if not isinstance(value, dict):
        raise damaged(folder, name, type(value).__name__)
    return value


def read_predictions(folder: Path) -> list[Json]:
    """The examples of the test part with the answers they got; none where a run has no test part."""
    path = folder / PREDICTIONS
    return [json.loads(line) for line in lines_of(path.read_text(encoding="utf-8"))] if path.exists() else []


def read_outputs(folder: Path) -> list[Any]:
    """The answers a run gave on the test part, as metrics take them."""
    if (folder / OUTPUTS).exists():
        return list(load_arrays((folder / OUTPUTS).read_bytes())["outputs"])
    return [line["output"] for line in read_predictions(folder)]


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Tensors by name; only the safetensors format is ever read."""
    content = (folder / WEIGHTS).read_bytes()
    try:
        return load_tensors(content)
    except (SafetensorError, ValueError, KeyError) as error:
        pickled = content[:2] in (b"PK", b"\x80\x02", b"\x80\x04", b"\x80\x05")
        found = "a pickle, which is never opened" if pickled else str(error)
        raise damaged(folder, WEIGHTS, found) from None


def require_fit(module: nn.Module, weights: Mapping[str, Tensor], *, where: str) -> None:
    """The module must have exactly those names, shapes and dtypes, and every number must be finite."""
    wanted = module.state_dict()
    for name, tensor in wanted.items():
        found = weights.get(name)
        if found is None or found.shape != tensor.shape or found.dtype != tensor.dtype:
            kind = "nothing" if found is None else f"{dtype_name(found)} {list(found.shape)}"
            raise InputError(
                f"{where}: {name} does not fit the model.",
                found=f"{kind} where the recipe makes {dtype_name(tensor)} {list(tensor.shape)}",
                fix="use the recipe the weights were trained with",
            )
        if found.is_floating_point() and not bool(found.isfinite().all()):
            raise InputError(
                f"{where}: {name} holds numbers that are not finite.",
                found=f"{int((~found.isfinite()).sum()):,} of {found.numel():,} are NaN or infinite",
                fix="restore the file from a copy, or train again with another --out",
            )
    extra = next((name for name in weights if name not in wanted), None)
    if extra is not None:
        raise InputError(
            f"{where}: {extra} has no place in the model.", found=extra, fix="use the recipe it was trained with"
        )


def dtype_name(tensor: Tensor) -> str:
    """`float32`."""
    return str(tensor.dtype).removeprefix("torch.")


def damaged(folder: Path, name: str, found: str) -> InputError:
    """The one message for a folder that cannot be trusted."""
    fix = "restore the file from a copy, or train again with another --out"
    return InputError(f"{folder / name} is damaged.", found=found, fix=fix)


@contextmanager
def blaming(folder: Path, name: str) -> Iterator[None]:
    """Whatever is wrong inside comes from that file."""
    try:
        yield
    except InputError as error:
        raise damaged(folder, name, " ".join(part for part in (error.problem, error.found) if part)) from None
