"""A vocabulary, and all else that is learned before training, must know nothing that only held-out rows say."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from atento.checking.number_leaks import require_honest_channels
from atento.checking.series_leaks import require_honest_series
from atento.checking.window_leaks import require_honest_recreations
from atento.data.lists import BETWEEN
from atento.errors import RunError
from atento.tasks.autoencode_codec import WindowCodec
from atento.tasks.channels import Channels
from atento.tasks.forecast_codec import SeriesCodec
from atento.tasks.task import Codec, Question, Reading

SIGNS = "▁Ġ￭#"  # what a piece begins or ends with beside its letters
WORDS = re.compile(r"\w+")
PIECE = 2**18  # characters of training text that are cut together
ROWS = "\n"
SHOWN = 5


def require_no_leak(codec: Codec, reading: Reading) -> None:
    """Stop before a model is trained on what the test will ask for."""
    if isinstance(codec, SeriesCodec):
        require_honest_series(codec, reading)
        return
    if isinstance(codec, WindowCodec):
        require_honest_recreations(codec, reading)  # the pixels of a film share one spread
        return
    channels = getattr(codec, "channels", None)
    if isinstance(channels, Channels):
        require_honest_channels(channels, [source for source, _ in reading.train])
        reading = targets_of(reading)  # numbers are no tokens
    leaked = leaked_tokens(codec, reading)
    if leaked:
        examples = ", ".join(map(repr, leaked[:SHOWN]))
        raise RunError(
            f"the vocabulary holds {len(leaked)} tokens that only validation or test rows hold, e.g. {examples}.",
            fix="learn it from the training part alone: Task.learn(recipe.tokens, reading.train)",
        )


def targets_of(reading: Reading) -> Reading:
    """The same set without its sources."""
    valid, test = ([Question("", question.references) for question in part] for part in (reading.valid, reading.test))
    return reading._replace(train=[("", target) for _, target in reading.train], valid=valid, test=test)


def leaked_tokens(codec: Codec, reading: Reading) -> list[str]:
    """Tokens of a codec that stand in held-out rows and nowhere, not even inside a word, in the training part."""
    known = {token.strip(SIGNS) for token in tokens_in(codec.to_json())} - {""}
    held_out = [(question.source, *question.references) for question in (*reading.valid, *reading.test)]
    suspects = {unit for text in in_pieces(held_out) for unit in units(text) & known}
    for text in in_pieces(reading.train):
        if not suspects:
            return []
        suspects -= units(text)
    for text in in_pieces(reading.train):  # a piece of a word is no word of its own
        if not suspects:
            return []
        suspects = {unit for unit in suspects if unit not in text and unit not in text.lower()}
    return sorted(suspects)


def in_pieces(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """All their texts, many in one: to cut one long text is far quicker than to cut many."""
    piece: list[str] = []
    size = 0
    for row in rows:
        piece += row
        size += sum(map(len, row))
        if size >= PIECE:
            yield ROWS.join(piece)
            piece, size = [], 0
    yield ROWS.join(piece)


def units(text: str) -> set[str]:
    """All that a vocabulary may take from texts as one token: items, words by spaces and by letters, characters."""
    cut: set[str] = set()
    for written in {text, text.lower()}:
        items = written.replace(ROWS, BETWEEN).split(BETWEEN)
        cut.update(items, written.split(), WORDS.findall(written), set(written))
    return cut


def tokens_in(saved: Any) -> Iterator[str]:
    """The texts of every list and the keys of every table of numbers; a text that is JSON is opened."""
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
