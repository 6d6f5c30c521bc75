"""The folder of an exported model: graphs, what texts and numbers are read with, a card, a runner, and a manifest.

Nothing here needs torch. A folder is written whole or not at all, and is checked against its manifest before it is
used; nothing in it is ever executed.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from atento.errors import InputError, is_machine_fault, unwritable
from atento.system import replace_file
from atento.writing import write_atomically

FORMAT = 1  # of folders that are written; every older one is still read
EXPORT, CODEC, MANIFEST = "export.json", "vocabulary.json", "manifest.json"
CARD, RUNNER = "README.md", "run.py"

Json = dict[str, Any]


def is_exported(folder: Path) -> bool:
    """Whether a folder holds an exported model."""
    return (folder / EXPORT).is_file()


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to be filled, which gets its name when all went well and is removed otherwise; an existing one is
    never touched.
    """
    if os.path.lexists(out):  # a broken link too
        raise InputError(f"{out} exists.", found=str(out), fix="choose another --out, or remove it yourself")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise unwritable(out, error) from None
    try:
        yield made
        made.chmod(0o755)
        replace_file(made, out)
    finally:
        if made.exists():
            shutil.rmtree(made)


def write_json(path: Path, value: Any) -> None:
    """JSON for people and machines."""
    write_atomically(path, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())


def write_manifest(folder: Path, facts: Json) -> None:
    """The size and SHA-256 of every file, and what was measured."""
    files = sorted(path.name for path in folder.iterdir())
    write_json(
        folder / MANIFEST,
        {
            "format": FORMAT,
            "files": {name: digest_of(folder / name) for name in files},
            "sizes": {name: (folder / name).stat().st_size for name in files},
            **facts,
        },
    )


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_folder(folder: Path) -> Json:
    """The manifest of a folder, each of whose files is there, unchanged."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder.", found=str(folder), fix="atento export RUN --to onnx")
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"{folder}: this is not an exported model.", found=f"no {MANIFEST}", fix="atento export RUN --to onnx"
        )
    manifest = read_json(folder, MANIFEST)
    files, sizes = manifest.get("files"), manifest.get("sizes")
    if manifest.get("format") not in range(1, FORMAT + 1) or not isinstance(files, dict) or not isinstance(sizes, dict):
        raise damaged(folder, MANIFEST, f"format {manifest.get('format')!r}")
    for name in (EXPORT, CODEC):
        if name not in files:
            raise damaged(folder, MANIFEST, f"{name} is not listed")
    for name, expected in files.items():
        if not name or Path(name).name != name:
            raise damaged(folder, MANIFEST, f"the name {name!r}")
        if not (folder / name).is_file():
            raise damaged(folder, name, "no such file")
        size = (folder / name).stat().st_size
        if size != sizes.get(name):
            raise damaged(folder, name, f"{size} bytes where the manifest says {sizes.get(name)}")
        if (found := digest_of(folder / name)) != expected:
            raise damaged(folder, name, f"SHA-256 {found[:12]}… where the manifest says {str(expected)[:12]}…")
    return manifest


def read_json(folder: Path, name: str) -> Json:
    """A JSON object from a file of the folder."""
    try:
        value = json.loads((folder / name).read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        if is_machine_fault(error):
            raise
        raise damaged(folder, name, str(error)) from None
    if not isinstance(value, dict):
        raise damaged(folder, name, type(value).__name__)
    return value


def damaged(folder: Path, name: str, found: str) -> InputError:
    """The one message for a folder that cannot be trusted."""
    return InputError(f"{folder / name} is damaged.", found=found, fix="export the run again with another --out")
