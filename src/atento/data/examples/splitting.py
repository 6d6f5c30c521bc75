"""Examples to training, validation and test parts: by key, the same whatever the order of the rows; or as a column of
their file says.
"""

import math
import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from atento.data.examples.pairs import Pairs
from atento.data.records import counted
from atento.data.sources.splits import SPLIT_NAMES, split_column
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe

TOLERANCE = 0.01  # 33/33/33 is meant to be everything


class Split(NamedTuple):
    """Which examples belong to which part, as their numbers from 0."""

    train: list[int]
    valid: list[int]
    test: list[int]


def split_by_key(keys: Sequence[str], *, shares: tuple[float, float, float], seed: int) -> Split:
    """Examples with equal keys stay together; the parts have their shares of the distinct keys."""
    return cut(keys, sorted(set(keys), key=lambda key: (rank(key, seed), key)), shares=shares)


def cut(keys: Sequence[str], ranked: Sequence[str], *, shares: tuple[float, float, float]) -> Split:
    """Examples whose keys come first in a ranking are the test part, then validation, then training."""
    needed = sum(share > 0 for share in shares)
    if len(ranked) < needed:
        raise InputError(
            f"{counted(len(ranked), 'different source')} cannot fill {needed} parts.",
            found=f"{counted(len(keys), 'row')}, data.split={'/'.join(f'{100 * share:g}' for share in shares)}",
            fix=f"give at least {needed} rows with different sources",
        )
    valid, test = part_sizes(len(ranked), shares)
    part_of = {key: 2 if at < test else 1 if at < test + valid else 0 for at, key in enumerate(ranked)}
    split = Split([], [], [])
    for number, key in enumerate(keys):
        split[part_of[key]].append(number)
    return split


def split_by_label(
    keys: Sequence[str], labels: Sequence[str], *, shares: tuple[float, float, float], seed: int
) -> Split:
    """The same with every label's share in each part, as near as whole examples allow; a key that comes with several
    labels goes by the first.
    """
    label_of = dict(zip(reversed(keys), reversed(labels), strict=True))
    members: dict[str, list[str]] = {}
    for key in sorted(label_of, key=lambda key: (rank(key, seed), key)):
        members.setdefault(label_of[key], []).append(key)
    place = {key: (at + 0.5) / len(some) for some in members.values() for at, key in enumerate(some)}
    return cut(keys, sorted(place, key=lambda key: (place[key], rank(key, seed))), shares=shares)


def rank(key: str, seed: int) -> bytes:
    """A number for a key that depends on nothing but the key and the seed."""
    return blake2b(f"{seed}:{key}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def part_sizes(total: int, shares: tuple[float, float, float]) -> tuple[int, int]:
    """How many keys validation and test get: rounded, at least one where the share is not zero, one left to train."""
    sizes = [max(1, math.floor(share * total + 0.5)) if share > 0 else 0 for share in shares[1:]]
    while sum(sizes) >= total:
        sizes[sizes.index(max(sizes))] -= 1
    return sizes[0], sizes[1]


def parse_shares(text: str) -> tuple[float, float, float]:
    """The recipe key data.split: `80/10/10` or `0.8,0.1,0.1`, for training, validation and test."""
    words = re.split(r"[/,;:\s]+", text.strip())
    try:
        numbers = [float(word.removesuffix("%")) for word in words]
    except ValueError:
        raise wrong_shares(text, "is not made of numbers") from None
    if len(numbers) != 3:
        raise wrong_shares(text, f"has {counted(len(numbers), 'part')} where 3 are needed: training, validation, test")
    if not all(math.isfinite(number) and number >= 0 for number in numbers) or numbers[0] == 0:
        raise wrong_shares(text, "has a part that is no share")
    total = sum(numbers)
    if min(abs(total - 1), abs(total / 100 - 1)) > TOLERANCE + 1e-9:
        raise wrong_shares(text, f"adds up to {total:g}, not to 100 or 1")
    train, valid, test = (number / total for number in numbers)
    return train, valid, test


def wrong_shares(text: str, problem: str) -> InputError:
    """The refusal of a value of data.split."""
    return InputError(f"data.split {problem}.", found=repr(text), fix="pass --set data.split=80/10/10")


def parts_by_column(recipe: DataRecipe, main: Pairs) -> tuple[Pairs, Pairs | None, Pairs | None]:
    """The training rows, and those of validation and of the test where a column of the file names the part of each."""
    at = split_column(main.table) if recipe.siblings == "auto" and main.rows else -1
    if at < 0 or main.table.columns[at] in dict(main.roles):
        return main, None, None
    name = main.table.columns[at]
    if recipe.split != DataRecipe().split:
        note = f"column {name!r} names parts, and is left aside: data.split={recipe.split} deals the rows out"
        return main._replace(notes=(*main.notes, note)), None, None
    members: dict[str, list[int]] = {"train": [], "valid": [], "test": []}
    for number, row in enumerate(main.rows):
        members[SPLIT_NAMES[main.table.rows[row][at].strip().lower()]].append(number)
    if not members["train"]:
        return main, None, None
    note = f"column {name!r} says the part of each row; --set data.siblings=no leaves it aside"
    train, valid, test = (
        main._replace(
            pairs=tuple(main.pairs[number] for number in numbers),
            lines=tuple(main.lines[number] for number in numbers),
            rows=tuple(main.rows[number] for number in numbers),
            notes=(*main.notes, note) if part == "train" else (),
            refused=main.refused if part == "train" else (),
        )
        for part, numbers in members.items()
    )
    return train, valid if valid.pairs else None, test if test.pairs else None


def note_on_parts(recipe: DataRecipe, table: Table) -> list[str]:
    """A note on a column that names the part of each row, which is not followed in a file that is read once."""
    at = split_column(table, least=1) if recipe.siblings == "auto" else -1
    if at < 0:
        return []
    name = repr(table.columns[at])
    return [f"column {name} names parts, and is left aside in so large a file: give each part a file of its own"]
