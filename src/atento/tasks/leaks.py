"""Data leakage: what a codec learned before training must come from the training part alone.

`require_training_tokens` looks for tokens that only validation or test rows hold, `require_training_scale` for means
and standard deviations of other rows. Each task declares its own check in `Learning.require_no_leak`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from atento.data.records import LIST_SEPARATOR
from atento.data.series.series import Numbers
from atento.errors import RunError
from atento.tasks.task import Codec, Dataset, EvaluationExample

# Axes: T time, C channels.

CLOSE = 1e-6  # in standard deviations: rounding is far below, the scale of a held-out part far above
SIGNS = "▁Ġ￭#"  # that a subword begins or ends with beside its letters
WORDS = re.compile(r"\w+")
CHUNK = 2**18  # characters of training text that are split together
ROWS = "\n"
SHOWN = 5


def require_training_tokens(codec: Codec, reading: Dataset) -> None:
    """Refuse a vocabulary with tokens that only validation or test rows hold."""
    leaked = leaked_tokens(codec, reading)
    if leaked:
        examples = ", ".join(map(repr, leaked[:SHOWN]))
        raise RunError(
            f"the vocabulary holds {len(leaked)} tokens that only validation or test rows hold, e.g. {examples}.",
            fix="learn it from the training part alone: Task.learn(recipe.tokens, reading.train)",
        )


def without_sources(reading: Dataset) -> Dataset:
    """The same data set with targets alone, where sources hold no tokens."""
    valid, test = (
        [EvaluationExample("", question.references) for question in part] for part in (reading.valid, reading.test)
    )
    return reading._replace(train=[("", target) for _, target in reading.train], valid=valid, test=test)


def leaked_tokens(codec: Codec, reading: Dataset) -> list[str]:
    """Tokens of a codec that occur in held-out rows and nowhere, not even inside a word, in the training part."""
    known = {token.strip(SIGNS) for token in tokens_in(codec.to_json())} - {""}
    held_out = [(question.source, *question.references) for question in (*reading.valid, *reading.test)]
    suspects = {unit for text in in_chunks(held_out) for unit in units(text) & known}
    for text in in_chunks(reading.train):
        if not suspects:
            return []
        suspects -= units(text)
    for text in in_chunks(reading.train):  # a subword is no word of its own
        if not suspects:
            return []
        suspects = {unit for unit in suspects if unit not in text and unit not in text.lower()}
    return sorted(suspects)


def in_chunks(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The texts of all rows, many joined into one: one long text is split far more quickly than many short ones."""
    chunk: list[str] = []
    size = 0
    for row in rows:
        chunk += row
        size += sum(map(len, row))
        if size >= CHUNK:
            yield ROWS.join(chunk)
            chunk, size = [], 0
    yield ROWS.join(chunk)


def units(text: str) -> set[str]:
    """All that may be one token of a vocabulary: list items, words split at spaces or at letters, characters."""
    cut: set[str] = set()
    for written in {text, text.lower()}:
        items = written.replace(ROWS, LIST_SEPARATOR).split(LIST_SEPARATOR)
        cut.update(items, written.split(), WORDS.findall(written), set(written))
    return cut


def tokens_in(saved: object) -> Iterator[str]:
    """The strings of every list and the keys of every mapping to numbers in a saved codec; JSON inside is parsed."""
    if isinstance(saved, dict):
        for key, value in saved.items():
            if isinstance(value, int):
                yield str(key)
            elif isinstance(value, str) and value.startswith("{"):
                yield from tokens_in(json.loads(value))
            else:
                yield from tokens_in(value)
    elif isinstance(saved, list | tuple):
        for item in saved:
            if isinstance(item, str):
                yield item
            else:
                yield from tokens_in(item)


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
