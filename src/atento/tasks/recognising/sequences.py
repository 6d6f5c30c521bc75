"""What a file of number sequences is meant for: beside each stands a number, a label, several labels, or a text."""

from collections.abc import Sequence
from typing import NamedTuple

from atento.data.columns.column import Column
from atento.data.evidence.evidence import Evidence
from atento.data.records import in_words
from atento.data.sequences.labelled import FOLDED
from atento.data.tables.column_names import LABEL, TEXT, is_named
from atento.tasks.recognising.text import (
    CLEAR,
    FAIR,
    HARDLY,
    NO,
    SURE,
    WEAK,
    is_score,
    most_varied,
    several_labels_in,
    tags_in_step,
)
from atento.tasks.task import Recognition

NEARLY_ALL = 0.95
VARIED = 0.5  # of the texts are different, or more
SHORT = 3  # numbers: places, dates, votes
MANY_WORDS = 8.0
SEVERAL_WORDS = 3.0  # in a cell, on average: a text


class Beside(NamedTuple):
    """Columns of a table with number sequences: those, and the most likely target of each kind."""

    sequences: list[Column]
    label: Column | None
    number: Column | None
    text: Column | None
    labels: Column | None  # whose cells hold several


def look_beside(evidence: Evidence) -> Beside:
    """What stands beside the sequences of a file."""
    sequences = [column for column in evidence.columns if column.examples and column.share_sequences > NEARLY_ALL]
    if any(is_sentence(column) for column in evidence.columns if column not in sequences):
        sequences = [column for column in sequences if not are_facts(column)]
    others = [column for column in evidence.columns if column not in sequences]
    label = evidence.column(evidence.roles.label)
    numbers = [column for column in others if column.share_numeric > NEARLY_ALL]
    texts = [column for column in others if not column.is_not_text and not column.is_metadata and column.examples]
    return Beside(
        sequences,
        label if label in others else None,
        most_varied(numbers) if numbers else None,
        most_varied(texts) if texts else None,
        None if tags_in_step(evidence) else several_labels_in(evidence, others),
    )


def is_sentence(column: Column) -> bool:
    """Whether a column holds texts of several words, or of some by its name."""
    words = SEVERAL_WORDS if is_named(column.name, TEXT) else MANY_WORDS
    return not column.is_not_text and column.mean_words >= words


def are_facts(column: Column) -> bool:
    """Whether numbers in the cells beside a text say where, when or how many: two or three, or in few rows at all."""
    return column.mean_words <= SHORT or column.share_empty > 1 / 2


def label_sequences(evidence: Evidence) -> Recognition:
    """Number sequences and one of few labels beside each: classify-series."""
    found = look_beside(evidence)
    if evidence.kind in FOLDED and found.label is not None:
        reason = f"{evidence.rows:,} sequences of numbers, each with one of {found.label.distinct} labels"
        return Recognition(SURE, reason)
    if found.sequences and found.label is not None and found.label is found.labels:
        return Recognition(WEAK, f"{names(found.sequences)} sequences of numbers, but several labels stand beside each")
    if found.sequences and found.label is not None:
        reason = f"{names(found.sequences)} sequences of numbers and {found.label.name!r} one of "
        reason += f"{found.label.distinct} labels"
        if (
            is_score(found.label)
            and not is_named(found.label.name, LABEL)
            and found.label.distinct > VARIED * evidence.rows
        ):
            return Recognition(WEAK, f"{reason}, but those are numbers, nearly all different")
        return Recognition(SURE if len(evidence.columns) == len(found.sequences) + 1 else CLEAR, reason)
    if found.sequences:
        return Recognition(HARDLY, f"{names(found.sequences)} sequences of numbers, but no column holds few labels")
    if evidence.long is not None and evidence.long.label >= 0:
        case, label = (evidence.columns[at].name for at in (evidence.long.case, evidence.long.label))
        reason = f"rows of one {case!r} are the steps of a sequence, and {label!r} is the same in all of them"
        texts = [column for column in evidence.columns if not column.is_not_text and column.mean_words >= SEVERAL_WORDS]
        if texts:
            return Recognition(WEAK, f"{reason}, but {texts[0].name!r} holds texts")
        return Recognition(CLEAR if is_named(label, LABEL) else FAIR, reason)
    return Recognition(NO, "no column holds sequences of numbers")


def label_sequence_sets(evidence: Evidence) -> Recognition:
    """Number sequences and several labels beside each: label-series."""
    found = look_beside(evidence)
    if not found.sequences or found.labels is None:
        return Recognition(NO, "a column of number sequences and one of several labels per cell are needed")
    reason = f"{names(found.sequences)} sequences of numbers and cells of {found.labels.name!r} several labels"
    if found.label is not None and found.label is not found.labels:
        return Recognition(WEAK, f"{reason}, but {found.label.name!r} holds one of few labels")
    return Recognition(SURE if len(evidence.columns) == len(found.sequences) + 1 else FAIR, reason)


def estimate_sequences(evidence: Evidence) -> Recognition:
    """A column of number sequences beside a column of numbers: estimate."""
    found = look_beside(evidence)
    if not found.sequences or found.number is None:
        count = sum(column.share_numeric > NEARLY_ALL for column in evidence.columns)
        return Recognition(
            NO, f"{len(found.sequences)} columns of number sequences, {count} of numbers; one each is needed"
        )
    reason = f"{names(found.sequences[:1])} sequences of numbers and {found.number.name!r} numbers"
    if found.label is not None and found.label.distinct < VARIED * evidence.rows:
        return Recognition(WEAK, f"{reason}, but {found.label.name!r} holds one of few labels")
    return Recognition(SURE if len(evidence.columns) == 2 else FAIR, reason)


def write_of_sequences(evidence: Evidence) -> Recognition:
    """Number sequences and a text beside each: transcribe."""
    found = look_beside(evidence)
    if not found.sequences or found.text is None:
        return Recognition(NO, "a column of number sequences and one of texts are needed")
    reason = f"{names(found.sequences)} sequences of numbers and {found.text.name!r} texts"
    if tags_in_step(evidence):
        return Recognition(WEAK, f"{reason}, but each word has its own number")
    if found.text is found.labels:
        return Recognition(WEAK, f"{reason}, but its cells are several labels")
    if found.label is not None and found.text.share_distinct < VARIED:
        return Recognition(WEAK, f"{reason}, but those are few, and come again as labels do")
    return Recognition(SURE if len(evidence.columns) == len(found.sequences) + 1 else FAIR, reason)


def names(columns: Sequence[Column]) -> str:
    """`column 'a' holds`, `columns 'a' and 'b' hold`."""
    several = len(columns) > 1
    return f"column{'s' * several} {in_words([repr(column.name) for column in columns])} hold{'s' * (not several)}"
