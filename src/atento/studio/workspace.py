"""The workspace: the folder that the studio works in. It is the current folder of the server's process, as it would be
for the command line; a request names files and runs in it and nothing else.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from atento.api.folders import RUNS, kind_of
from atento.bundle import RECIPE, Json
from atento.data.builtin.catalogue import is_builtin
from atento.data.files.opening import split_paths
from atento.errors import InputError
from atento.spec import read_values
from atento.system import portable_name

DATA = Path("data")  # where dropped files go
PRIVATE = RUNS / ".studio"  # the token, and logs of processes
TOKEN = PRIVATE / "token"
FILE_KEYS = ("data.train", "data.valid", "data.test", "tokens.vectors")  # recipe keys whose values name files
LONGEST_NAME = 160  # bytes of the name of a dropped file before its ending
MOST_FILES = 500  # of a folder that are listed
ENDINGS = {  # of files that may be data
    ".arff", ".bio", ".bz2", ".conll", ".conllu", ".csv", ".gz", ".iob", ".iob2", ".json", ".jsonl", ".ndjson", ".ner",
    ".npy", ".npz", ".parquet", ".pos", ".pq", ".tab", ".tar", ".tgz", ".tmx", ".toml", ".ts", ".tsf", ".tsv", ".txt",
    ".xlsx", ".xz", ".zip",
}  # fmt: skip
NOT_IN_NAMES = re.compile(r"[^\w.+()@ -]+")  # a comma separates parallel files; the others trouble a shell or a page
LAST_PARTS = re.compile(r"(?:\.\w{1,10}){0,2}$", re.ASCII)  # of a name: .csv, .csv.gz


class OutsideWorkspace(InputError):
    """A request named a file that is not in the workspace."""


def list_files() -> list[Json]:
    """The files that may be data, in the workspace and in `data`, newest first."""
    found = []
    for folder in (Path(), DATA):
        if folder.is_dir() and is_inside(folder):
            found += [path for path in sorted(folder.iterdir()) if may_be_data(path)][:MOST_FILES]
    facts = [(path, path.stat()) for path in found]
    listed = [{"name": str(path), "bytes": fact.st_size, "modified": fact.st_mtime} for path, fact in facts]
    return sorted(listed, key=lambda entry: -float(str(entry["modified"])))


def may_be_data(path: Path) -> bool:
    """Whether a file is listed: by its ending, not hidden, and no link that leads out."""
    named = path.suffix.lower() in ENDINGS and not path.name.startswith(".")
    return named and path.is_file() and is_inside(path)


def is_inside(path: Path) -> bool:
    """Whether a path, its links followed, lies in the workspace, and in none of its hidden folders."""
    root = Path.cwd().resolve()
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a link to itself, a NUL in the name
        return False
    return real.is_relative_to(root) and not any(part.startswith(".") for part in real.relative_to(root).parts)


def require_inside(name: str, *, what: str) -> Path:
    """A path in the workspace that a request names; of a folder, no link in it may lead out."""
    path = Path(name)
    if "\0" in name or not name.strip() or not is_inside(path):
        raise outside(name, what=what)
    if path.is_dir() and not all(is_inside(each) for each in links_in(path)):
        raise outside(name, what=f"a link in {what}")
    return path


def links_in(folder: Path) -> Iterator[Path]:
    """The links below a folder."""
    for place, folders, names in os.walk(folder):
        yield from (path for name in (*folders, *names) if (path := Path(place, name)).is_symlink())


def outside(name: str, *, what: str) -> OutsideWorkspace:
    """The one message for a file that the studio does not touch."""
    return OutsideWorkspace(
        f"{what}: the studio reads files of its workspace only.",
        found=ascii(name)[:200],
        fix=f"copy it into {Path.cwd()}, or drop it on the page",
    )


def require_source(name: str, *, what: str) -> None:
    """A built-in name, or files of the workspace, one or several between commas."""
    if is_builtin(name):
        return
    for path in [name] if Path(name).exists() else split_paths(name) or [name]:
        require_inside(path, what=what)


def require_own_files(file: str, settings: Mapping[str, Any]) -> None:
    """Everything that names a file in what is asked: the file, settings, and what a recipe says."""
    require_source(file, what="file")
    named = {key: str(value) for key, value in settings.items() if key in FILE_KEYS and value}
    if file.endswith(".toml"):
        values = read_values(Path(file))
        named = {key: str(values[key]) for key in FILE_KEYS if values.get(key)} | named
    for key, value in named.items():
        require_source(value, what=key)


def require_found_files(paths: Iterable[str]) -> None:
    """Files that were found beside the one that was named."""
    for path in paths:
        if path:
            require_source(path, what="a file beside it")


def clean_name(name: str) -> str:
    """A plain name for a dropped file; one with folders in it is refused."""
    if not name or "/" in name or "\\" in name or "\0" in name or name.startswith("."):
        raise OutsideWorkspace("a dropped file needs a plain name.", found=ascii(name)[:200], fix="name it data.csv")
    found = LAST_PARTS.search(name)
    ending = found[0] if found else ""
    stem = NOT_IN_NAMES.sub("-", name.removesuffix(ending)).strip(" .-") or "data"
    return portable_name(stem.encode()[:LONGEST_NAME].decode(errors="ignore") + ending)


def free_path(name: str) -> Path:
    """The place of a new file in `data`: `reviews.csv`, or `reviews-2.csv` where there is one."""
    path = DATA / name
    ending = "".join(path.suffixes[-2:]) if path.suffix in (".gz", ".xz", ".bz2") else path.suffix
    stem, number = path.name.removesuffix(ending), 1
    while os.path.lexists(path):
        number += 1
        path = DATA / f"{stem}-{number}{ending}"
    return path


def run_folders() -> dict[str, Path]:
    """The folder of every run, comparison and search, and of the models inside them, by ID."""
    found: dict[str, Path] = {}
    if not RUNS.is_dir() or not is_inside(RUNS):
        return found
    for place in sorted(RUNS.iterdir()):
        if not place.is_dir() or not is_inside(place) or not kind_of(place):
            continue
        found[place.name] = place
        if kind_of(place) != "run":
            inside = (own for own in sorted(place.iterdir()) if (own / RECIPE).exists() and is_inside(own))
            found |= {f"{place.name}/{own.name}": own for own in inside}
    return found


def relative_name(path: str) -> str:
    """A file as a request names it: relative to the workspace where it lies in it."""
    if not path or is_builtin(path):
        return path
    names = []
    for one in [path] if Path(path).exists() else path.split(","):
        place, root = Path(one), Path.cwd()
        names.append(str(place.relative_to(root)) if place.is_absolute() and place.is_relative_to(root) else one)
    return ",".join(names)
