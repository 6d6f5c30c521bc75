"""Which column plays which part in a task, as the task's own reader takes them."""

from collections.abc import Callable

from atento.data.columns.roles import find_roles, label_column, look_at
from atento.data.examples.labelled import text_and_label, text_at, two_texts_and_label
from atento.data.examples.pairs import choose_columns, choose_with_features
from atento.data.examples.tagged import word_and_tag_columns
from atento.data.images.folders import picture_column
from atento.data.images.reading import caption_column, question_column
from atento.data.sequences.labelled import cast_sequences
from atento.data.tables.table import Table
from atento.spec import DataRecipe

Cast = dict[int, str]  # the number of a column, from 0 -> its part


def cast_pair(table: Table) -> Cast:
    """Source and target, and the features of a form."""
    source, features, target, _ = choose_with_features(table, "", "")
    return {source: "source", target: "target"} | ({features: "features"} if features >= 0 else {})


def cast_numbers(table: Table) -> Cast:
    """A sequence and its number."""
    source, target, _ = choose_columns(table, "", "")
    return {source: "sequence", target: "target"}


def cast_label(table: Table) -> Cast:
    """A text and its label."""
    text, label = text_and_label(table, DataRecipe())
    return {text: "text", label: "label"}


def cast_labels(table: Table) -> Cast:
    """A text and its labels, in one cell or in columns of yes and no."""
    roles, text = find_roles(table), text_at(table, DataRecipe())
    if roles.labels < 0 and len(roles.switches) > 1:
        return {text: "text"} | {at: "label" for at in roles.switches if at != text}
    return {text: "text", roles.labels if roles.labels >= 0 else label_column(look_at(table), {text}): "labels"}


def cast_words(table: Table) -> Cast:
    """Words and their tags."""
    words, tags = word_and_tag_columns(table, DataRecipe())
    return {words: "words", tags: "tags"}


def cast_texts(table: Table) -> Cast:
    """Two texts and a label."""
    first, second, label = two_texts_and_label(table, DataRecipe())
    return {first: "first text", second: "second text", label: "label"}


def cast_text(table: Table) -> Cast:
    """A text by itself."""
    return {text_at(table, DataRecipe()): "text"}


def cast_captions(table: Table) -> Cast:
    """A picture and its caption."""
    picture = picture_column(table)
    return {picture: "picture", caption_column(table, {picture}): "caption"}


def cast_picture_labels(table: Table) -> Cast:
    """A picture and its label."""
    picture = picture_column(table)
    return {picture: "picture", label_column(look_at(table), {picture}): "label"}


def cast_picture_questions(table: Table) -> Cast:
    """A picture, a question about it and the answer."""
    picture = picture_column(table)
    question = question_column(table, {picture})
    return {
        picture: "picture",
        question: "question",
        label_column(look_at(table), {picture, question}): "answer",
    }


CASTS: dict[str, Callable[[Table], Cast]] = {
    "translate": cast_pair,
    "estimate": cast_numbers,
    "classify-series": cast_sequences,
    "classify": cast_label,
    "label": cast_labels,
    "tag": cast_words,
    "match": cast_texts,
    "generate": cast_text,
    "caption": cast_captions,
    "classify-pictures": cast_picture_labels,
    "match-pictures": cast_picture_questions,
}


def cast(table: Table, task: str) -> Cast:
    """The parts of a task's columns; none of a task that is not known here."""
    parts = CASTS[task](table) if task in CASTS else {}
    return {at: part for at, part in parts.items() if at >= 0}
