"""Labels that a table gives as numbers and a file beside it by name: `labels.txt`, one name a line."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from atento.data.files import read_text
from atento.data.parallel import split_paths
from atento.data.records import counted
from atento.errors import AtentoError
from atento.spec import DataRecipe

FILES = ("labels.txt", "classes.txt", "label_names.txt", "class_names.txt", "emotions.txt", "categories.txt")


class LabelNames(NamedTuple):
    """The names of labels 0, 1, … or 1, 2, …; `note` says where they stand."""

    names: dict[str, str]
    note: str


def names_beside(recipe: DataRecipe, file: str, labels: Iterable[str]) -> LabelNames | None:
    """The names of labels that are all numbers within a list that stands beside their file."""
    used = set(labels)
    if recipe.beside == "no" or not used or not all(label.isdecimal() for label in used):
        return None
    place = Path(split_paths(file)[0])
    for name in FILES:
        path = (place if place.is_dir() else place.parent) / name
        if not path.is_file():
            continue
        try:
            lines = [line.strip() for line in read_text(str(path)).text.strip().split("\n")]
        except AtentoError:
            continue
        numbers = {int(label) for label in used}
        first = 1 if max(numbers) == len(lines) and min(numbers) >= 1 else 0
        if max(numbers) >= len(lines) + first or not all(lines) or len(set(lines)) < len(lines):
            continue
        names = {str(number): line for number, line in enumerate(lines, start=first)}
        known = {label: names[str(int(label))] for label in used}
        return LabelNames(
            known, f"labels are numbers from {first} on; {name} beside gives {counted(len(lines), 'name')}"
        )
    return None
