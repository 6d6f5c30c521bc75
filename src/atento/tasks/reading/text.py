"""Pairs of texts for translation, as they are.

Texts with a label each, or with any number of labels.
Two texts and how they stand to each other.
Sentences with a tag for each word.
Texts by themselves, to model or to go on with.
Texts to learn the meaning of words from: documents, passage by passage.
Number sequences, each with its number.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from atento.data.columns.roles import items, label_column, look_at, two_texts
from atento.data.examples.documents import document_table, is_plain, read_documents
from atento.data.examples.labelled import read_label_sets, read_labelled, read_matches, text_at, two_columns
from atento.data.examples.pairs import (
    BESIDE,
    Pair,
    Pairs,
    empty_cell,
    find_inflection,
    find_source,
    guess_columns,
    read_pairs,
)
from atento.data.examples.splitting import parse_shares
from atento.data.examples.tagged import only_numbers, read_tagged, refuse_sources, words_at
from atento.data.records import Refusal, join, split, stop_or_skip
from atento.data.sources import read_source
from atento.data.tables.table import Table
from atento.spec import DataRecipe
from atento.tasks.reading.reader import Reader, by_source, one_each, open_rows, read_to_answer, share_out
from atento.tasks.task import Asked, Opened, Question, Reading

Refuse = Callable[[Table, int, Sequence[int]], dict[int, Refusal]]  # table, column, rows -> those not to be read


def read_file(recipe: DataRecipe, source: str) -> Pairs:
    """One file with the recipe's columns."""
    return read_pairs(
        source,
        source_column=recipe.source,
        target_column=recipe.target,
        header=recipe.header,
        bad_rows=recipe.bad_rows,
    )


def refuse_none(table: Table, column: int, rows: Sequence[int]) -> dict[int, Refusal]:
    """Any text will do."""
    return {}


def read_sources(recipe: DataRecipe, file: str, *, refuse: Refuse = refuse_none) -> Opened:
    """All columns of a file, and the cells to be read that are neither empty nor refused."""
    table = read_source(file, header=recipe.header, names=recipe.source.split(BESIDE) if recipe.source else [])
    at, beside = find_source(table, recipe.source)
    inflection = find_inflection(table) if at < 0 else None
    if inflection is not None:
        at, beside = inflection.lemma, inflection.features
    elif at < 0:
        at = guess_columns(table, -1, -1)[0] if len(table.columns) > 1 else 0
    filled = [row for row, cells in enumerate(table.rows) if cells[at].strip()]
    empty = [empty_cell(table, row, at) for row, cells in enumerate(table.rows) if not cells[at].strip()]
    broken = refuse(table, at, filled)
    refused = stop_or_skip([*table.refused, *empty, *broken.values()], recipe.bad_rows)
    kept = [table.rows[row] for row in filled if row not in broken]
    columns = {name: [cells[place] for cells in kept] for place, name in enumerate(table.columns)}
    sources = [join([cells[at], cells[beside]]) if beside >= 0 else cells[at] for cells in kept]
    return Opened(columns, sources, refused)


PAIRS = Reader(rows=read_file, sources=read_sources, questions=by_source)


def read_texts(recipe: DataRecipe, file: str) -> Opened:
    """The texts of a file that may have no labels."""
    table = read_to_answer(recipe, file, (recipe.source,))
    at = text_at(table, recipe)

    def source_of(row: int) -> str | Refusal:
        return table.rows[row][at].strip() or empty_cell(table, row, at)

    return open_rows(recipe, table, source_of)


def all_labels(pairs: Iterable[Pair]) -> tuple[Question, ...]:
    """Every row is a question whose references are all its labels."""
    return tuple(Question(source, tuple(split(target))) for source, target in pairs)


LABELLED = Reader(rows=read_labelled, sources=read_texts, columns=("text", "label"))
LABEL_SETS = Reader(rows=read_label_sets, sources=read_texts, questions=all_labels, columns=("text", "labels"))


def read_couples(recipe: DataRecipe, file: str) -> Opened:
    """The two texts of each row of a file that may have no labels."""
    table = read_to_answer(recipe, file, (recipe.source, recipe.target))
    looks = look_at(table)
    label = label_column(looks, taken=two_texts(looks))
    first, second = two_columns(table, recipe, {label} if len(table.columns) > 2 else set())

    def source_of(row: int) -> str | Refusal:
        texts = table.rows[row][first].strip(), table.rows[row][second].strip()
        return join(texts) if all(texts) else empty_cell(table, row, first if not texts[0] else second)

    return open_rows(recipe, table, source_of)


MATCHES = Reader(rows=read_matches, sources=read_couples, columns=("texts", "label"))


def read_words(recipe: DataRecipe, file: str) -> Opened:
    """The sentences of a file that may have no tags; a line of plain text is cut at its spaces."""
    table = read_to_answer(recipe, file, (recipe.source,))
    at = words_at(table, recipe)

    def source_of(row: int) -> str | Refusal:
        return join(items(table.rows[row][at])) or empty_cell(table, row, at)

    return open_rows(recipe, table, source_of)


TAGGED = Reader(rows=read_tagged, sources=read_words, columns=("words", "tags"))


FEW = 20  # so few documents are each cut in time, not dealt out


def share_documents(
    recipe: DataRecipe, pairs: Sequence[Pair], own_valid: Pairs | None, own_test: Pairs | None, seed: int
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Many documents are dealt out whole; of few, each gives its beginning to train and its end to the test."""
    if len(pairs) >= FEW or (own_valid is not None and own_test is not None):
        return share_out(recipe, pairs, own_valid, own_test, seed)
    shares = parse_shares(recipe.split)
    wanted = (shares[0], 0.0 if own_valid else shares[1], 0.0 if own_test else shares[2])
    parts: tuple[list[Pair], list[Pair], list[Pair]] = ([], [], [])
    for text, target in pairs:
        begin, done = 0, 0.0
        for part, share in zip(parts, wanted, strict=True):
            done += share / sum(wanted)
            end = int(len(text) * done + 1e-6)
            if text[begin:end].strip():
                part.append((text[begin:end], target))
            begin = end
    train, valid, test = parts
    return train, list(own_valid.pairs) if own_valid else valid, list(own_test.pairs) if own_test else test


def read_prompts(recipe: DataRecipe, file: str) -> Opened:
    """Texts to go on with: the lines of a plain text that are not blank, unless data.documents says otherwise."""
    lines = (
        recipe.model_copy(update={"documents": "lines"}) if recipe.documents == "auto" and is_plain(file) else recipe
    )
    table, at, _ = document_table(lines, file)

    def source_of(row: int) -> str | Refusal:
        text = table.rows[row][at]
        return text if text.strip() else empty_cell(table, row, at)

    return open_rows(recipe, table, source_of)


DOCUMENTS = Reader(rows=read_documents, sources=read_prompts, share=share_documents, columns=("text", "nothing"))


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


def read_numbers(recipe: DataRecipe, file: str) -> Pairs:
    """The rows of a file that are numbers; the others are refused."""
    return only_numbers(read_file(recipe, file), recipe.bad_rows)


ESTIMATES = Reader(rows=read_numbers, sources=partial(read_sources, refuse=refuse_sources), questions=by_source)
