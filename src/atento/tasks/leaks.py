"""Data leakage: what a codec learned before training must come from the training part alone.

`require_training_tokens` looks for tokens that no training row holds, `require_training_scale` for means and standard
deviations of other rows. Each task declares its own check in `Learning.require_no_leak`. No held-out row is looked at.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from unicodedata import normalize

import numpy as np

from atento.data.records import LIST_SEPARATOR
from atento.data.series.series import Numbers
from atento.errors import RunError

# Axes: T time, C channels.

CLOSE = 1e-6  # in standard deviations: rounding is far below, the scale of a held-out part far above
WORDS = re.compile(r"\w+")
CHUNK = 2**18  # characters of training text that are split together
ROWS = "\n"
SHOWN = 5
SAMPLE = 50  # tokens that are tried first
FEW = 500  # tokens, which are looked for one by one in less time than a chunk is split


def require_training_tokens(tokens: Iterable[str], rows: Sequence[Sequence[str]]) -> None:
    """Refuse tokens that are in no training row, not even inside a word; `rows` are those of the training part."""
    leaked = foreign_tokens(tokens, rows)
    if leaked:
        examples = ", ".join(map(repr, leaked[:SHOWN]))
        raise RunError(
            f"the vocabulary holds {len(leaked)} tokens that no training row holds, e.g. {examples}.",
            fix="learn it from the training part alone: Task.learn(recipe.tokens, reading.train)",
        )


def foreign_tokens(tokens: Iterable[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The tokens that occur nowhere in these rows, neither as they are written nor in lower case. What was learned from
    the rows is always part of them, so that an honest vocabulary is never refused.
    """
    suspects = set(tokens) - {""}
    for text in in_chunks(rows):
        if len(suspects) > FEW:
            for found in units(text):
                suspects.difference_update(found)
        if len(suspects) > FEW:
            words, some = ROWS.join({*text.split(), *text.lower().split()}), list(islice(suspects, SAMPLE))
            if 2 * sum(token in words for token in some) > len(some):  # subwords, which are no words of their own
                suspects = {token for token in suspects if token not in words}
        if len(suspects) <= FEW:
            suspects = outside(suspects, text)
        if not suspects:
            return []
    for text in in_chunks(rows):
        suspects = outside(suspects, text)
        if not suspects:
            return []
    return sorted(suspects)


def outside(tokens: set[str], text: str) -> set[str]:
    """The tokens that stand nowhere in a text, neither as it is written nor in lower case."""
    lower = text.lower()
    return {token for token in tokens if token not in text and token not in lower}


def in_chunks(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The texts of all rows, many joined into one: one long text is split far more quickly than many short ones."""
    chunk: list[str] = []
    size = 0
    for row in rows:
        chunk += row
        size += sum(map(len, row))
        if size >= CHUNK:
            yield with_composed(ROWS.join(chunk))
            chunk, size = [], 0
    yield with_composed(ROWS.join(chunk))


def with_composed(text: str) -> str:
    """A text, and where it differs the same in composed characters (NFC), which most vocabularies read."""
    composed = normalize("NFC", text)
    return text if composed == text else text + ROWS + composed


def units(text: str) -> Iterator[Iterable[str]]:
    """All that may be one token of a vocabulary: list items, words split at spaces or at letters, characters."""
    for written in {text, text.lower()}:
        yield written.replace(ROWS, LIST_SEPARATOR).split(LIST_SEPARATOR)
        yield written.split()
        yield WORDS.findall(written)
        yield set(written)


def require_training_scale(names: Sequence[str], mean: Numbers, std: Numbers, parts: Iterable[Numbers]) -> None:
    """Refuse a mean and a standard deviation (C,) that are not those of all training rows (T, C) together; that of a
    constant channel may be anything.
    """
    rows, sums, squares = 0, np.zeros(len(names)), np.zeros(len(names))
    for part in parts:
        moved = part - mean  # near 0 where the scale is right, so that nothing is lost in the squares
        rows, sums, squares = rows + len(part), sums + moved.sum(axis=0), squares + np.square(moved).sum(axis=0)
    shift = sums / rows
    true = np.sqrt(np.maximum(squares / rows - np.square(shift), 0.0))
    size = np.where(true > CLOSE * std, true, std)
    wrong = np.maximum(np.abs(shift) / size, np.where(true > CLOSE * std, np.abs(std / size - 1), 0.0))
    worst = int(np.argmax(wrong))
    if wrong[worst] > CLOSE:
        raise RunError(
            f"the scale of {names[worst]} is not that of the training rows.",
            found=f"mean {mean[worst]:.6g} and std {std[worst]:.6g} where training rows have "
            f"{mean[worst] + shift[worst]:.6g} and {true[worst]:.6g}",
            fix="learn it from the training part alone: Task.learn(recipe.tokens, reading.train)",
        )
