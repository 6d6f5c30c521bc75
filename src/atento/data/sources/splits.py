"""Which files of a folder are the training, validation and test data of one set, by their names."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from atento.data.files.image_names import is_image_name
from atento.data.files.opening import file_names, inner_name
from atento.data.records import in_words
from atento.data.tables.parallel import split_paths

Split = Literal["train", "valid", "test"]

SPLIT_NAMES: dict[str, Split] = {
    "train": "train",
    "training": "train",
    "trn": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "devel": "valid",
    "development": "valid",
    "trial": "valid",
    "test": "test",
    "tst": "test",
    "testing": "test",
}
SPLIT_IN_NAME = re.compile(rf"(?:^|[a-z]\d+|[^a-z])({'|'.join(sorted(SPLIT_NAMES, key=len, reverse=True))})(?![a-z])")
NOT_DATA = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|changelog|labels?|classes|label_names|class_names|emotions|categories)\b.*|.*\.(?:md|toml|py|sh)"
)
SHORT_FORMATS = frozenset({"csv", "tsv", "txt", "tab", "bio", "iob", "zip", "pq", "ner", "pos", "ts", "npz"})


SIBLINGS: tuple[Split, Split] = ("valid", "test")


class SplitFiles(NamedTuple):
    """Training, validation and test files, written as for `data.train`; empty where there are none."""

    train: str
    valid: str
    test: str
    notes: tuple[str, ...] = ()


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
    names = data_names(place)
    groups = group_parallel(names)
    training = [group for group in groups if split_of(group[0]) == "train"]
    if training:
        main = max(training, key=lambda group: sum((place / name).stat().st_size for name in group))
        notes = [f"{place.name or place}: {in_words(main)} is the training part"]
        if len(training) > 1:
            others = [",".join(group) for group in training if group != main]
            notes.append(f"{in_words(others)} left aside: the largest training file is taken")
        valid, test = (",".join(matching_files(main, groups, split)) for split in SIBLINGS)
        return in_folder(place, ",".join(main), valid, test, notes)
    folders = [path for path in place.iterdir() if path.is_dir() and not path.name.startswith(".")]
    if len(groups) == 1 and not folders:
        main = groups[0]
        return in_folder(place, ",".join(main), "", "", [f"{place.name or place}: {in_words(main)} is the data"])
    return None


def data_names(place: Path) -> list[str]:
    """The names of the data files in a folder: not documentation, lists of labels or images."""
    return [name for name in file_names(place) if not (NOT_DATA.fullmatch(name.lower()) or is_image_name(name))]


def splits_in_subfolders(place: Path) -> SplitFiles | None:
    """The splits in sub-folders such as `train` and `test`, each with one text a file."""
    found: dict[Split, str] = {}
    for path in sorted(place.iterdir()):
        split = split_of(path.name)
        if path.is_dir() and split is not None:
            found.setdefault(split, path.name)
    if "train" not in found:
        return None
    note = f"{place.name or place}: {found['train']} is the training part"
    return in_folder(place, found["train"], found.get("valid", ""), found.get("test", ""), [note])


def siblings_of(source: str) -> tuple[str, str]:
    """The validation and test files in the folder of a training file; empty where there are none."""
    paths = [Path(path) for path in split_paths(source)]
    if any(split_of(path.name) != "train" for path in paths) or len({path.parent for path in paths}) > 1:
        return "", ""
    place = paths[0].parent
    names = data_names(place)
    main = [path.name for path in paths]
    groups = group_parallel(names) if len(main) > 1 else [[name] for name in names]
    valid, test = (",".join(matching_files(main, groups, split)) for split in SIBLINGS)
    found = in_folder(place, "", valid, test, [])
    return found.valid, found.test


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


def endings(group: Sequence[str]) -> list[str]:
    """The suffixes of files, without those of compression."""
    return [Path(inner_name(name)).suffix.lower() for name in group]


def without_split_name(name: str) -> str:
    """A file's name without the name of its split and without its suffix."""
    stem = inner_name(name).lower().removesuffix(Path(inner_name(name)).suffix.lower())
    found = list(SPLIT_IN_NAME.finditer(stem))
    if not found:
        return stem
    cut = stem[: found[-1].start(1)] + stem[found[-1].end(1) :]
    return re.sub(r"[\W_]+", "-", cut).strip("-")


def in_folder(place: Path, train: str, valid: str, test: str, notes: Sequence[str]) -> SplitFiles:
    """The splits with the folder before their names."""

    def within(names: str) -> str:
        return ",".join(str(place / name) for name in names.split(",")) if names else ""

    return SplitFiles(within(train), within(valid), within(test), tuple(notes))
