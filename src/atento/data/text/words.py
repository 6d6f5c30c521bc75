"""A text as sentences: its lines; a text of one line is cut after . ! ? and what closes with them.

The words of a sentence: as a list has them, else cut from running text.
"""

import re

from atento.data.records import BETWEEN, split
from atento.data.text.vocabulary import WORDS

ENDS = re.compile(r"(?<=[.!?…。！？])[\"'”’»)\]]*\s+")


def sentences(text: str) -> list[str]:
    """Every sentence that is not empty, in order."""
    lines = text.splitlines() if "\n" in text.strip() else ENDS.split(text)
    return [line for line in map(str.strip, lines) if line]


EDGES = re.compile(r"^([^\w\s]*)(.*?)([^\w\s]*)$", re.DOTALL)


def words_of(source: str) -> list[str]:
    """The words of a source: as given where tabs stand between or there is no space; else cut at white space, and
    marks at the ends of a word are words of their own.
    """
    if BETWEEN in source or not any(letter.isspace() for letter in source):
        return split(source)
    return [word for piece in source.split() for word in cut_marks(piece)]


def cut_marks(piece: str) -> list[str]:
    """`(don't!)` -> (, don't, !, )."""
    match = EDGES.match(piece)
    if match is None or not match[2]:
        return WORDS.findall(piece)
    return [*match[1], match[2], *match[3]]
