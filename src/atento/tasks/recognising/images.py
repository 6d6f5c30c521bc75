"""Which files are pictures, and what stands beside each of them: captions, labels, or questions and answers."""

from atento.data.columns.column import Column
from atento.data.evidence import Evidence
from atento.data.images.reading import CAPTION, QUESTION, WORDY, is_asked
from atento.data.tables.names import LABEL, is_named
from atento.tasks.task import Recognition

CERTAIN, CLEAR, FAIR, WEAK, NO = 0.99, 0.95, 0.7, 0.3, 0.02
PICTURES = 0.9  # of a column's cells name pictures


def pictures_in(evidence: Evidence) -> Column | None:
    """The column that names pictures."""
    return next((column for column in evidence.columns if column.share_pictures > PICTURES), None)


def beside(evidence: Evidence, pictures: Column) -> tuple[Column | None, Column | None, Column | None]:
    """What stands beside the pictures: a question, a label, a caption, where there is one."""
    others = [column for column in evidence.columns if column is not pictures and not column.share_pictures > 0.5]
    question = next((column for column in others if asks(column)), None)
    label = next((column for column in others if column is not question and is_label(column, evidence)), None)
    texts = [column for column in others if column not in (question, label) and column.share_numeric < 0.5]
    named = [column for column in texts if is_named(column.name, CAPTION)]
    wordy = [column for column in texts if column.mean_words >= WORDY]
    caption = max(named or wordy, key=lambda column: column.mean_words, default=None)
    return question, label, caption


def asks(column: Column) -> bool:
    """Whether a column holds questions, by its cells or by its name."""
    marks = sum(map(is_asked, column.examples))
    return 2 * marks > len(column.examples) or (is_named(column.name, QUESTION) and column.mean_words >= WORDY)


def is_label(column: Column, evidence: Evidence) -> bool:
    """Whether a column holds few short values that come again, or is named as labels are."""
    few = 2 <= column.distinct <= max(20, evidence.rows // 10) and 2 * column.distinct <= evidence.rows
    short = column.mean_words <= 4 and column.mean_characters <= 40
    named = is_named(column.name, LABEL) and not is_named(column.name, CAPTION) and column.distinct >= 2
    return short and (few or (named and evidence.rows < 40))


def no_pictures(evidence: Evidence) -> Recognition:
    """What is said of any other file."""
    return Recognition(NO, "no column names pictures")


def caption_pictures(evidence: Evidence) -> Recognition:
    """Pictures and a line of text about each: caption."""
    pictures = pictures_in(evidence)
    if pictures is None:
        return no_pictures(evidence)
    question, label, caption = beside(evidence, pictures)
    if caption is None:
        return Recognition(WEAK if label is None else NO, f"nothing is written of the pictures in {pictures.name!r}")
    said = f"column {pictures.name!r} names pictures and {caption.name!r} holds a text about each"
    if question is not None and label is not None:
        return Recognition(WEAK, f"{said}, but there are questions and answers")
    if label is not None and not is_named(caption.name, CAPTION):
        return Recognition(FAIR, f"{said}; {label.name!r} could be a label")
    return Recognition(CERTAIN, said)


def label_pictures(evidence: Evidence) -> Recognition:
    """Pictures and one of few labels beside each: classify-pictures."""
    pictures = pictures_in(evidence)
    if pictures is None:
        return no_pictures(evidence)
    question, label, caption = beside(evidence, pictures)
    if label is None:
        return Recognition(WEAK, f"no column holds few labels beside the pictures in {pictures.name!r}")
    if evidence.kind == "pictures":
        return Recognition(CERTAIN, f"pictures, one sub-folder for each of {label.distinct} labels")
    said = f"column {pictures.name!r} names pictures and {label.name!r} one of {label.distinct} labels"
    if question is not None:
        return Recognition(WEAK, f"{said}, but there are questions about them")
    if caption is not None and is_named(caption.name, CAPTION):
        return Recognition(FAIR, f"{said}; {caption.name!r} could be a caption")
    return Recognition(CERTAIN if caption is None else CLEAR, said)


def question_pictures(evidence: Evidence) -> Recognition:
    """Pictures, a question about each and its answer: match-pictures."""
    pictures = pictures_in(evidence)
    if pictures is None:
        return no_pictures(evidence)
    question, label, _ = beside(evidence, pictures)
    if question is None or label is None:
        return Recognition(NO, f"no questions with few answers stand beside the pictures in {pictures.name!r}")
    said = f"column {pictures.name!r} names pictures, {question.name!r} holds questions and {label.name!r} answers"
    return Recognition(CERTAIN, said)
