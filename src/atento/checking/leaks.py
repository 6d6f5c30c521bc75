"""A vocabulary, and all else that is learned before training, must know nothing that only held-out rows say."""

import json
import re
from collections.abc import Iterator
from typing import Any

from atento.data.lists import split
from atento.errors import RunError
from atento.tasks.task import Codec, Reading

SIGNS = "▁Ġ￭#"  # what a piece begins or ends with beside its letters
WORDS = re.compile(r"\w+")
SHOWN = 5


def require_no_leak(codec: Codec, reading: Reading) -> None:
    """Stop before a model is trained on what the test will ask for."""
    leaked = leaked_tokens(codec, reading)
    if leaked:
        examples = ", ".join(map(repr, leaked[:SHOWN]))
        raise RunError(
            f"the vocabulary holds {len(leaked)} tokens that only validation or test rows hold, e.g. {examples}.",
            fix="learn it from the training part alone: Task.learn(recipe.tokens, reading.train)",
        )


def leaked_tokens(codec: Codec, reading: Reading) -> list[str]:
    """Tokens of a codec that stand in held-out rows and nowhere, not even inside a word, in the training part."""
    known = {token.strip(SIGNS) for token in tokens_in(codec.to_json())} - {""}
    suspects = {unit for text in held_out_texts(reading) for unit in units(text) if unit in known}
    for pair in reading.train:
        if not suspects:
            return []
        suspects.difference_update(*map(units, pair))
    for pair in reading.train:  # a piece of a word is no word of its own
        if not suspects:
            return []
        texts = [text for side in pair for text in (side, side.lower())]
        suspects = {unit for unit in suspects if not any(unit in text for text in texts)}
    return sorted(suspects)


def held_out_texts(reading: Reading) -> Iterator[str]:
    """Every source and reference of validation and test."""
    for question in (*reading.valid, *reading.test):
        yield question.source
        yield from question.references


def units(text: str) -> set[str]:
    """All that a vocabulary may take from a text as one token: items, words by spaces and by letters, characters."""
    cut: set[str] = set()
    for written in {text, text.lower()}:
        cut.update(split(written), written.split(), WORDS.findall(written), written)
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
