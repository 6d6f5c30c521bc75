"""Which files of a folder are the training, validation and test parts of one set, by their names."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from atento.data.files.image_names import is_picture_name
from atento.data.files.opening import file_names, inner_name
from atento.data.records import in_words
from atento.data.tables.parallel import split_paths

Part = Literal["train", "valid", "test"]

NAMES: dict[str, Part] = {
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
ENDS = re.compile(rf"(?:^|[a-z]\d+|[^a-z])({'|'.join(sorted(NAMES, key=len, reverse=True))})(?![a-z])")
ASIDE = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|changelog|labels?|classes|label_names|class_names|emotions|categories)\b.*|.*\.(?:md|toml|py|sh)"
)


class Parts(NamedTuple):
    """The files of a set, as `data.train` and the others are written; empty where there is none."""

    train: str
    valid: str
    test: str
    notes: tuple[str, ...] = ()


def part_of(name: str) -> Part | None:
    """The part that a file's name says it is: `SICK_trial.txt`, `wnut17train.conll`, `en-ud-dev.conllu.xz`."""
    found = ENDS.findall(inner_name(name).lower())
    return NAMES[found[-1]] if found else None


def parts_in(folder: str) -> Parts | None:
    """The parts in a folder, or the one file it holds; None: its files are texts by themselves."""
    place = Path(folder)
    inner = sub_parts(place)
    if inner is not None:
        return inner
    names = data_names(place)
    groups = grouped(names)
    trained = [group for group in groups if part_of(group[0]) == "train"]
    if trained:
        main = max(trained, key=lambda group: sum((place / name).stat().st_size for name in group))
        notes = [f"{place.name or place}: {in_words(main)} is the training part"]
        if len(trained) > 1:
            others = [",".join(group) for group in trained if group != main]
            notes.append(f"{in_words(others)} left aside: the largest training file is taken")
        valid, test = (",".join(partner(main, groups, part)) for part in ("valid", "test"))
        return named(place, ",".join(main), valid, test, notes)
    folders = [path for path in place.iterdir() if path.is_dir() and not path.name.startswith(".")]
    if len(groups) == 1 and not folders:
        main = groups[0]
        return named(place, ",".join(main), "", "", [f"{place.name or place}: {in_words(main)} is the data"])
    return None


def data_names(place: Path) -> list[str]:
    """The files of a folder that may be a part: neither about the set, nor pictures."""
    return [name for name in file_names(place) if not (ASIDE.fullmatch(name.lower()) or is_picture_name(name))]


def sub_parts(place: Path) -> Parts | None:
    """Sub-folders named as parts are, each of which holds texts."""
    found: dict[Part, str] = {}
    for path in sorted(place.iterdir()):
        part = part_of(path.name)
        if path.is_dir() and part is not None:
            found.setdefault(part, path.name)
    if "train" not in found:
        return None
    note = f"{place.name or place}: {found['train']} is the training part"
    return named(place, found["train"], found.get("valid", ""), found.get("test", ""), [note])


def parts_beside(source: str) -> tuple[str, str]:
    """The validation and test files that stand beside a training file; empty where there are none."""
    paths = [Path(path) for path in split_paths(source)]
    if any(part_of(path.name) != "train" for path in paths) or len({path.parent for path in paths}) > 1:
        return "", ""
    place = paths[0].parent
    names = data_names(place)
    main = [path.name for path in paths]
    groups = grouped(names) if len(main) > 1 else [[name] for name in names]
    valid, test = (",".join(partner(main, groups, part)) for part in ("valid", "test"))
    found = named(place, "", valid, test, [])
    return found.valid, found.test


def grouped(names: Iterable[str]) -> list[list[str]]:
    """Files that are read together: parallel ones, alike but for an ending that is no format's."""
    alike: dict[str, list[str]] = {}
    for name in sorted(names):
        inner = inner_name(name)
        language = re.fullmatch(r"(.+)\.([a-z]{2,3})(?:[-_][A-Za-z]{2,4})?", inner)
        parallel = language is not None and language[2] not in FORMATS
        alike.setdefault(f"{language[1]}." if parallel and language else name, []).append(name)
    return list(alike.values())


FORMATS = frozenset({"csv", "tsv", "txt", "tab", "bio", "iob", "zip", "pq", "ner", "pos", "ts", "npz"})


def partner(main: Sequence[str], groups: Sequence[list[str]], part: Part) -> list[str]:
    """The files that are this part of the same set: alike but for the part's name, else the only ones so named."""
    named = [group for group in groups if part_of(group[0]) == part and endings(group) == endings(main)]
    same = [group for group in named if bare(group[0]) == bare(main[0])]
    close = [group for group in named if bare(main[0]).startswith(bare(group[0]))]
    alone = [group for group in groups if part_of(group[0]) == "train" and endings(group) == endings(main)]
    for found in (same, close, named if alone == [list(main)] else []):
        if len(found) == 1:
            return found[0]
    return same[0] if same else []


def endings(group: Sequence[str]) -> list[str]:
    """The formats of files, archives apart."""
    return [Path(inner_name(name)).suffix.lower() for name in group]


def bare(name: str) -> str:
    """A name without the word for its part, and without its ending."""
    stem = inner_name(name).lower().removesuffix(Path(inner_name(name)).suffix.lower())
    found = list(ENDS.finditer(stem))
    if not found:
        return stem
    cut = stem[: found[-1].start(1)] + stem[found[-1].end(1) :]
    return re.sub(r"[\W_]+", "-", cut).strip("-")


def named(place: Path, train: str, valid: str, test: str, notes: Sequence[str]) -> Parts:
    """The parts with the folder before their names."""

    def within(names: str) -> str:
        return ",".join(str(place / name) for name in names.split(",")) if names else ""

    return Parts(within(train), within(valid), within(test), tuple(notes))
