"""Built-in sets by name: plain entries, generated anew from a seed."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from atento.data.builtin.number_words import LANGUAGES
from atento.data.builtin.numbers import number_pairs
from atento.errors import unknown_name

LANGUAGE_NAMES = {"de": "German", "en": "English", "es": "Spanish", "eu": "Basque"}


class BuiltinParts(NamedTuple):
    """The three parts of a generated set, and what to say of it."""

    train: tuple[tuple[str, str], ...]
    valid: tuple[tuple[str, str], ...]
    test: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


class Builtin(NamedTuple):
    """A generated set: source column, target column, seed -> parts."""

    task: str
    summary: str
    make: Callable[[str, str, int], BuiltinParts]


def numbers(source: str, target: str, seed: int) -> BuiltinParts:
    """Number words from one language to another, split by number."""
    source, target = source or "de", target or "en"
    for key, language in (("data.source", source), ("data.target", target)):
        if language not in LANGUAGES:
            raise unknown_name("language", language, LANGUAGES, where=key)
    parts = number_pairs(source, target, seed=seed)
    note = (
        f"number words, {LANGUAGE_NAMES[source]} to {LANGUAGE_NAMES[target]}, 0 to 999 999: "
        f"{len(parts.train)} to train, {len(parts.valid)} to validate, {len(parts.test)} to test; no number is in two"
    )
    return BuiltinParts(parts.train, parts.valid, parts.test, (note,))


BUILTIN: dict[str, Builtin] = {
    "numbers": Builtin(
        "translate",
        "German number words to English, 0 to 999 999; --set data.source=, data.target= de, en, es, eu",
        numbers,
    ),
}


def is_builtin(name: str) -> bool:
    """An existing file beats a built-in name."""
    return name in BUILTIN and not Path(name).exists()
