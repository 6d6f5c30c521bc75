"""Splitting of text into sentences, and of a sentence into words."""

import re

from atento.data.records import LIST_SEPARATOR, split_items
from atento.data.text.vocabulary import WORD_OR_PUNCTUATION
from atento.lines import lines_of

SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’»)\]]*\s+")
OUTER_PUNCTUATION = re.compile(r"^([^\w\s]*)(.*?)([^\w\s]*)$", re.DOTALL)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text: its lines, or, where it is one line, what ends in . ! ? and closing quotes."""
    lines = lines_of(text) if "\n" in text.strip() else SENTENCE_END.split(text)
    return [line for line in map(str.strip, lines) if line]


def split_words(source: str) -> list[str]:
    """The words of a source: the items of a list; of a plain text, what white space separates, with punctuation marks
    at the ends of a word as words of their own.
    """
    if LIST_SEPARATOR in source or not any(letter.isspace() for letter in source):
        return split_items(source)
    return [word for chunk in source.split() for word in split_punctuation(chunk)]


def split_punctuation(chunk: str) -> list[str]:
    """`(don't!)` gives (, don't, !, )."""
    match = OUTER_PUNCTUATION.match(chunk)
    if match is None or not match[2]:
        return WORD_OR_PUNCTUATION.findall(chunk)
    return [*match[1], match[2], *match[3]]
