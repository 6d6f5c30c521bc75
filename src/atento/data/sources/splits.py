"""The training, validation and test files of one set, by their names: in a folder, or beside a training file; and the
column of a file that says to which part each row belongs.

A file beside is taken where its format and columns are those of the training file.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote
from typing import Literal, NamedTuple

from atento.data.files.archives import is_zip
from atento.data.files.image_names import is_image_name
from atento.data.files.opening import file_names, inner_name, read_head, split_paths
from atento.data.records import in_words
from atento.data.tables.image_folders import holds_images
from atento.data.tables.parallel import read_parallel
from atento.data.tables.sniffing import kind_by_name
from atento.data.tables.table import Table, table_from_text
from atento.errors import AtentoError
from atento.spec import DataRecipe

Split = Literal["train", "valid", "test"]

NAMES: dict[Split, str] = {
    "train": "train training trn",
    "valid": "valid validation val dev devel development trial testa",
    "test": "test tst testing testb",
}
SPLIT_NAMES = {name: split for split, names in NAMES.items() for name in names.split()}
SPLIT_IN_NAME = re.compile(rf"(?:^|[a-z]\d+|[^a-z])({'|'.join(sorted(SPLIT_NAMES, key=len, reverse=True))})(?![a-z])")
NOT_DATA = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|changelog|labels?|classes|label_names|class_names|emotions|categories)\b.*|.*\.(?:md|toml|py|sh)"
)
SHORT_FORMATS = frozenset(
    {"csv", "tsv", "txt", "tab", "bio", "iob", "zip", "pq", "ner", "pos", "ts", "npz", *SPLIT_NAMES}
)
SIBLINGS: tuple[Split, Split] = ("valid", "test")


class SplitFiles(NamedTuple):
    """Training, validation and test files, written as for `data.train`; empty where there are none."""

    train: str
    valid: str = ""
    test: str = ""
    notes: tuple[str, ...] = ()


def find_splits(data: DataRecipe) -> tuple[dict[str, str], list[str]]:
    """Recipe keys for the splits of a folder or the siblings of a file that the user did not name, and notes."""
    found: dict[str, str] = {}
    notes: list[str] = []
    valid, test = "", ""
    if Path(data.train).is_dir():
        splits = splits_in(data.train)
        if splits is None:
            return {}, []
        found["data.train"], valid, test = splits.train, splits.valid, splits.test
        notes += splits.notes
    elif data.siblings == "auto":
        valid, test = siblings_of(data.train)
    if data.siblings == "no":
        return found, notes
    train = found.get("data.train", data.train)
    wanted: dict[Split, tuple[str, str]] = {"valid": (data.valid, valid), "test": (data.test, test)}
    for split, (given, sibling) in wanted.items():
        if not given and not sibling:
            notes += note_on_several(train, split)
        if given or not sibling:
            continue
        names = ",".join(Path(path).name for path in split_paths(sibling))
        reason = difference(train, sibling)
        if reason:
            notes.append(f"{names} beside it is not taken as data.{split}: {reason}")
        else:
            found[f"data.{split}"] = sibling
            notes.append(f"{names} beside it is data.{split}; --set data.siblings=no leaves it aside")
    return found, notes


def split_column(table: Table, *, least: int = 2) -> int:
    """The column whose cells are names of parts, such as `train` and `test`, at least so many; -1: there is none."""
    for at in range(len(table.columns)):
        parts: set[Split | None] = set()
        for row in table.rows:
            parts.add(SPLIT_NAMES.get(row[at].strip().lower()))
            if None in parts:
                break
        if "train" in parts and None not in parts and len(parts) >= least:
            return at
    return -1


def difference(train: str, other: str) -> str:
    """Why two files cannot be splits of one set: another format or other columns; empty where they can."""
    if any(is_zip(path) or Path(path).is_dir() or kind_by_name(path) in ("parquet", "npz") for path in (train, other)):
        return ""
    try:
        first, second = read_first_rows(train), read_first_rows(other)
    except AtentoError as error:
        return error.problem
    if first.kind != second.kind:
        return f"it is {second.kind}, not {first.kind}"
    if first.header and second.header:  # further columns do no harm
        missing = [repr(name) for name in first.columns if name not in second.columns]
        return f"it has no column {in_words(missing).replace(' and ', ' or ')}" if missing else ""
    if len(first.columns) != len(second.columns):
        return f"its columns are {', '.join(second.columns)}, not {', '.join(first.columns)}"
    return ""


def read_first_rows(source: str) -> Table:
    """The table of the first rows of a file; of parallel files, all rows."""
    paths = split_paths(source)
    return read_parallel(paths) if len(paths) > 1 else table_from_text(read_head(source), source)


def split_of(name: str) -> Split | None:
    """The split that a file is by its name: `SICK_trial.txt`, `wnut17train.conll`, `en-ud-dev.conllu.xz`."""
    found = SPLIT_IN_NAME.findall(inner_name(name).lower())
    return SPLIT_NAMES[found[-1]] if found else None


def splits_in(folder: str) -> SplitFiles | None:
    """The splits in a folder, or the one file it holds; None where each of its files is one text."""
    place = Path(folder)
    inner = splits_in_subfolders(place)
    if inner is not None:
        return inner
    groups = group_parallel(data_names(place))
    training = [group for group in groups if split_of(group[0]) == "train"]
    if training:
        main = max(training, key=lambda group: sum((place / name).stat().st_size for name in group))
        notes = [f"{place.name or place}: {in_words(main)} {'are' if len(main) > 1 else 'is'} the training part"]
        if len(training) > 1:
            others = [",".join(group) for group in training if group != main]
            notes.append(f"{in_words(others)} left aside: the largest training file is taken")
        valid, test = (paths_in(place, matching_files(main, groups, split)) for split in SIBLINGS)
        return SplitFiles(paths_in(place, main), valid, test, tuple(notes))
    folders = [path for path in place.iterdir() if path.is_dir() and not path.name.startswith(".")]
    if len(groups) == 1 and not folders:
        note = f"{place.name or place}: {in_words(groups[0])} {'are' if len(groups[0]) > 1 else 'is'} the data"
        return SplitFiles(paths_in(place, groups[0]), notes=(note,))
    return None


def paths_in(place: Path, names: Iterable[str]) -> str:
    """The paths of files in a folder, written as for `data.train`."""
    return ",".join(str(place / name) for name in names)


def data_names(place: Path) -> list[str]:
    """The names of the data files in a folder: not documentation, lists of labels or images."""
    return [name for name in file_names(place) if not (NOT_DATA.fullmatch(name.lower()) or is_image_name(name))]


def splits_in_subfolders(place: Path) -> SplitFiles | None:
    """The splits in sub-folders such as `train` and `test`, each with one text per file."""
    found: dict[Split | None, Path] = {}
    for path in sorted(place.iterdir()):
        if path.is_dir():
            found.setdefault(split_of(path.name), path)
    if "train" not in found or (None in found and holds_tables(found[None]) and holds_images(found["train"])):
        return None  # of images, which the tables of another sub-folder name
    note = f"{place.name or place}: {found['train'].name} is the training part"
    valid, test = (str(found.get(split, "")) for split in SIBLINGS)
    return SplitFiles(str(found["train"]), valid, test, (note,))


def holds_tables(folder: Path) -> bool:
    """Whether a folder holds tables or JSON documents."""
    return any(kind_by_name(name) in ("csv", "tsv", "jsonl") for name in file_names(folder))


def siblings_of(source: str) -> tuple[str, str]:
    """The validation and test files in the folder of a training file; empty where there are none."""
    paths = [Path(path) for path in split_paths(source)]
    if any(split_of(path.name) != "train" for path in paths) or len({path.parent for path in paths}) > 1:
        return "", ""
    place = paths[0].parent
    names = data_names(place)
    main = [path.name for path in paths]
    groups = group_parallel(names) if len(main) > 1 else [[name] for name in names]
    valid, test = (paths_in(place, matching_files(main, groups, split)) for split in SIBLINGS)
    return valid, test


def group_parallel(names: Iterable[str]) -> list[list[str]]:
    """Files grouped by what is read together: parallel files have one name with different language codes at the end."""
    alike: dict[str, list[str]] = {}
    for name in sorted(names):
        inner = inner_name(name)
        language = re.fullmatch(r"(.+)\.([a-z]{2,3})(?:[-_][A-Za-z]{2,4})?", inner)
        parallel = language is not None and language[2] not in SHORT_FORMATS
        alike.setdefault(f"{language[1]}." if parallel and language else name, []).append(name)
    return list(alike.values())


def matching_files(main: Sequence[str], groups: Sequence[list[str]], split: Split) -> list[str]:
    """The files of a split that belong to the training files: named alike but for the split, else the only ones."""
    named = [group for group in groups if split_of(group[0]) == split and endings(group) == endings(main)]
    same = [group for group in named if without_split_name(group[0]) == without_split_name(main[0])]
    close = [group for group in named if without_split_name(main[0]).startswith(without_split_name(group[0]))]
    alone = [group for group in groups if split_of(group[0]) == "train" and endings(group) == endings(main)]
    for found in (same, close, named if alone == [list(main)] else []):
        if len(found) == 1:
            return found[0]
    return same[0] if same else []


def note_on_several(train: str, split: Split) -> list[str]:
    """A note where several files beside the only training file are of one part, so that none of them is taken."""
    paths = [Path(path) for path in split_paths(train)]
    if any(split_of(path.name) != "train" or path.is_dir() for path in paths):
        return []
    main, names = [path.name for path in paths], data_names(paths[0].parent)
    groups = group_parallel(names) if len(main) > 1 else [[name] for name in names]
    alike = [group for group in groups if endings(group) == endings(main)]
    found = [group for group in alike if split_of(group[0]) == split]
    if len(found) < 2 or sum(split_of(group[0]) == "train" for group in alike) > 1:
        return []
    choice = quote(f"data.{split}={paths_in(paths[0].parent, found[0])}")
    return [
        f"{in_words([','.join(group) for group in found])} could each be data.{split}; --set {choice} takes the first"
    ]


def endings(group: Sequence[str]) -> list[str]:
    """The suffixes of files, without those of compression and without names of parts, as in `eng.testa`."""
    suffixes = [Path(inner_name(name)).suffix.lower() for name in group]
    return ["" if suffix[1:] in SPLIT_NAMES else suffix for suffix in suffixes]


def without_split_name(name: str) -> str:
    """A file's name without the name of its split and without its suffix."""
    stem = inner_name(name).lower().removesuffix(Path(inner_name(name)).suffix.lower())
    found = list(SPLIT_IN_NAME.finditer(stem))
    if not found:
        return stem
    cut = stem[: found[-1].start(1)] + stem[found[-1].end(1) :]
    return re.sub(r"[\W_]+", "-", cut).strip("-")
