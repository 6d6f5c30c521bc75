"""Texts to learn the meaning of words from: documents, passage by passage."""

import re
from collections.abc import Iterable, Iterator

from atento.spec import DataRecipe
from atento.tasks.read_documents import DOCUMENTS
from atento.tasks.reading import one_each
from atento.tasks.task import Asked, Reading

LONGEST = 200  # words of a passage
BLANK_LINE = re.compile(r"\n\s*\n")


def passages(text: str) -> Iterator[str]:
    """What blank lines part, in one line each; long ones go on in a further passage."""
    for paragraph in BLANK_LINE.split(text):
        words = paragraph.split()
        for first in range(0, len(words), LONGEST):
            yield " ".join(words[first : first + LONGEST])


def each_passage(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Every passage of every text, with nothing to say about it."""
    return [(passage, "") for text in texts for passage in passages(text)]


def read_passages(recipe: DataRecipe, seed: int) -> Reading:
    """The three parts; documents are dealt out whole before they are cut."""
    reading = DOCUMENTS.read(recipe, seed)
    train = tuple(each_passage(source for source, _ in reading.train))
    valid, test = (
        one_each(each_passage(question.source for question in part)) for part in (reading.valid, reading.test)
    )
    counts = f"{len(train)} to train, {len(valid)} to validate, {len(test)} to test"
    note = f"read in passages of at most {LONGEST} words: {counts}"
    return reading._replace(train=train, valid=valid, test=test, notes=(*reading.notes, note))


def ask_passages(recipe: DataRecipe, file: str, seed: int) -> Asked:
    """Every passage of a file."""
    asked = DOCUMENTS.ask(recipe, file, seed)
    return asked._replace(questions=one_each(each_passage(question.source for question in asked.questions)))
