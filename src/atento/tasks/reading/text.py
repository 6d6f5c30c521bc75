"""Readers of texts: with one label or several, in twos, word by word, with another text, with a number, or alone."""

import re
from collections.abc import Iterable, Iterator, Sequence

from atento.data.examples.documents import DocumentSource, NoTarget
from atento.data.examples.labels import LabelSetTarget, LabelTarget
from atento.data.examples.numbers import NumberTarget
from atento.data.examples.pairs import Pair, Pairs
from atento.data.examples.tagged import TagTarget, WordSource
from atento.data.examples.texts import TextSource, TextTarget, TwoTextsInOneKey, TwoTextSource, most_varied_text
from atento.data.examples.translations import TranslationSource, TranslationTarget
from atento.spec import DataRecipe
from atento.tasks.reading.reader import (
    Reader,
    TextDataset,
    ThreeParts,
    all_labels,
    by_source,
    one_each,
    open_shares,
    share_out,
)
from atento.tasks.task import LabelledFile

LABELLED = Reader(TextSource(), LabelTarget(names_beside=True), columns=("text", "label"))
LABEL_SETS = Reader(TextSource(), LabelSetTarget(), examples=all_labels, columns=("text", "labels"))
TEXT_ESTIMATES = Reader(TextSource(), NumberTarget(), examples=by_source, columns=("text", "number"))
MATCHES = Reader(TwoTextSource(), LabelTarget(), columns=("texts", "label"))
LABEL_SET_PAIRS = Reader(TwoTextSource(), LabelSetTarget(), examples=all_labels, columns=("texts", "labels"))
REWRITES = Reader(TwoTextsInOneKey(), TextTarget(most_varied_text), examples=by_source, columns=("texts", "text"))
PAIRS = Reader(TranslationSource(), TranslationTarget(), examples=by_source)
TAGGED = Reader(WordSource(), TagTarget(), columns=("words", "tags"))


FEW = 20  # so few documents are each cut in time, not dealt out


def share_documents(
    recipe: DataRecipe, pairs: Sequence[Pair], own_valid: Pairs | None, own_test: Pairs | None, seed: int
) -> ThreeParts:
    """Many documents are dealt out whole; of few, each gives its beginning to train and its end to the test."""
    if len(pairs) >= FEW or (own_valid is not None and own_test is not None):
        return share_out(recipe, pairs, own_valid, own_test, seed)
    shares = open_shares(recipe, own_valid, own_test)
    parts: ThreeParts = ([], [], [])
    for text, target in pairs:
        begin, done = 0, 0.0
        for part, share in zip(parts, shares, strict=True):
            done += share
            end = int(len(text) * done + 1e-6)
            if text[begin:end].strip():
                part.append((text[begin:end], target))
            begin = end
    train, valid, test = parts
    return train, list(own_valid.pairs) if own_valid else valid, list(own_test.pairs) if own_test else test


DOCUMENTS = Reader(DocumentSource(), NoTarget(), share=share_documents, columns=("text", "nothing"))


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


def read_passages(recipe: DataRecipe, seed: int) -> TextDataset:
    """The three parts; documents are dealt out whole before they are cut."""
    reading = DOCUMENTS.read(recipe, seed)
    train = tuple(each_passage(source for source, _ in reading.train))
    valid, test = (
        one_each(each_passage(question.source for question in part)) for part in (reading.valid, reading.test)
    )
    counts = f"{len(train)} to train, {len(valid)} to validate, {len(test)} to test"
    note = f"read in passages of at most {LONGEST} words: {counts}"
    return reading._replace(train=train, valid=valid, test=test, notes=(*reading.notes, note))


def ask_passages(recipe: DataRecipe, file: str, seed: int) -> LabelledFile[str, str]:
    """Every passage of a file."""
    asked = DOCUMENTS.read_labelled(recipe, file, seed)
    return asked._replace(questions=one_each(each_passage(question.source for question in asked.questions)))
