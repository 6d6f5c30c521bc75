"""Files in memory: rows that a program holds, under a name that readers take like a path.

The name says that nothing is on disk, and it changes with the content: memory:1f0c6b2d9a3e/DataFrame.jsonl.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from weakref import WeakValueDictionary

from atento.errors import InputError
from atento.writing import write_atomically

SCHEME = "memory:"


class MemoryFile:
    """The content of such a file. Readers find it by its name as long as someone holds the object."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.content = name, content


HELD: "WeakValueDictionary[str, MemoryFile]" = WeakValueDictionary()


def keep(title: str, content: bytes) -> MemoryFile:
    """A file of that title in memory; equal content under an equal title is one object."""
    name = f"{SCHEME}{hashlib.sha256(content).hexdigest()[:12]}/{title}"
    held = HELD.get(name) or MemoryFile(name, content)
    HELD[name] = held
    return held


def is_in_memory(path: str | Path) -> bool:
    """Whether a name is that of a file in memory."""
    return str(path).startswith(SCHEME)


def find_held(path: str | Path) -> MemoryFile | None:
    """The file of that name; None where nobody holds it."""
    return HELD.get(str(path).replace(os.sep, "/"))  # a path of Windows has \ in it


def bytes_in_memory(path: str | Path) -> bytes:
    """The content of a file in memory."""
    held = find_held(path)
    if held is None:
        raise InputError(
            f"{Path(path).stem}: this data was in the memory of a Python program, and it is not here.",
            found=str(path),
            fix="give the same data again in Python, e.g. atento.fit(data, out=FOLDER, resume=True)",
        )
    return held.content


def lend(names: Iterable[str], folder: Path) -> list[Path]:
    """Write those of the files that are in memory to a folder, from which another process can `borrow` them."""
    paths = []
    for name in filter(is_in_memory, names):
        paths.append(lent_path(name, folder))
        write_atomically(paths[-1], bytes_in_memory(name))
    return paths


def borrow(names: Iterable[str], folder: Path) -> list[MemoryFile]:
    """The files that another process wrote to a folder, in memory."""
    lent = [(name, lent_path(name, folder)) for name in filter(is_in_memory, names)]
    return [keep(Path(name).name, path.read_bytes()) for name, path in lent if path.exists()]


def lent_path(name: str, folder: Path) -> Path:
    """Where a file in memory is written for another process."""
    return folder / name.removeprefix(SCHEME).replace("/", "-")
