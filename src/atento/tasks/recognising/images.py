"""Whether a file holds images, and what stands beside each of them: a caption, labels, or a question and its answer."""

from typing import NamedTuple

from atento.data.columns.column import Column
from atento.data.evidence.evidence import Evidence
from atento.data.images.reading import CAPTION, QUESTION, QUESTION_MARKS, WORDY
from atento.data.tables.column_names import LABEL, TWO_TEXTS, is_named
from atento.tasks.recognising.text import bare, several_labels_in
from atento.tasks.task import Recognition

CERTAIN, CLEAR, FAIR, WEAK, NO = 0.99, 0.95, 0.7, 0.3, 0.02
IMAGES = 0.9  # of a column's cells name images
NO_IMAGES = Recognition(NO, "no column names images")


class BesideImages(NamedTuple):
    """A column that names images, and what stands beside it, where there is such a column."""

    images: Column
    question: Column | None
    label: Column | None
    caption: Column | None
    labels: Column | None  # whose cells hold several


def look_beside(evidence: Evidence) -> BesideImages | None:
    """What stands beside the images of a file; None: it has no images."""
    images = next((column for column in evidence.columns if column.share_images > IMAGES), None)
    if images is None:
        return None
    others = [column for column in evidence.columns if column is not images and not column.share_images > 0.5]
    question = next((column for column in others if asks(column)), None)
    label = next((column for column in others if column is not question and is_label(column, evidence)), None)
    texts = [column for column in others if column not in (question, label) and column.share_numeric < 0.5]
    named = [column for column in texts if is_named(column.name, CAPTION)]
    wordy = [column for column in texts if column.mean_words >= WORDY]
    caption = max(named or wordy, key=lambda column: column.mean_words, default=None)
    no_captions = [column for column in evidence.columns if column is not images and not is_named(column.name, CAPTION)]
    return BesideImages(images, question, label, caption, several_labels_in(evidence, no_captions))


def asks(column: Column) -> bool:
    """Whether a column holds questions, by its cells or by its name."""
    questions = sum(example.rstrip().endswith(QUESTION_MARKS) for example in column.examples)
    return 2 * questions > len(column.examples) or (is_named(column.name, QUESTION) and column.mean_words >= WORDY)


def is_label(column: Column, evidence: Evidence) -> bool:
    """Whether a column holds few short values that come again, or is named as labels are."""
    few = 2 <= column.distinct <= max(20, evidence.rows // 10) and 2 * column.distinct <= evidence.rows
    short = column.mean_words <= 4 and column.mean_characters <= 40
    named = is_named(column.name, LABEL) and not is_named(column.name, CAPTION) and column.distinct >= 2
    return short and (few or (named and evidence.rows < 40))


def caption_images(evidence: Evidence) -> Recognition:
    """Images and a line of text about each: caption."""
    found = look_beside(evidence)
    if found is None:
        return NO_IMAGES
    images, question, label, caption, labels = found
    if caption is None:
        return Recognition(WEAK if label is None else NO, f"nothing is written of the images in {images.name!r}")
    reason = f"column {images.name!r} names images and {caption.name!r} holds a text about each"
    if caption is labels:
        return Recognition(WEAK, f"{reason}, but its cells are several labels")
    if compares_by_name(evidence):
        return Recognition(WEAK, f"{reason}, but there are two texts to compare")
    if question is not None and label is not None:
        return Recognition(WEAK, f"{reason}, but there are questions and answers")
    if label is not None and not is_named(caption.name, CAPTION):
        return Recognition(FAIR, f"{reason}; {label.name!r} could be a label")
    return Recognition(CERTAIN, reason)


def compares_by_name(evidence: Evidence) -> bool:
    """Whether a label stands beside two texts that are known as a pair by name."""
    first, second = evidence.column(evidence.roles.first), evidence.column(evidence.roles.second)
    if first is None or second is None or evidence.roles.label < 0:
        return False
    return (bare(first.name), bare(second.name)) in TWO_TEXTS


def label_images(evidence: Evidence) -> Recognition:
    """Images and one of few labels beside each: classify-images."""
    found = look_beside(evidence)
    if found is None:
        return NO_IMAGES
    images, question, label, caption, labels = found
    if label is None:
        return Recognition(WEAK, f"no column holds few labels beside the images in {images.name!r}")
    if evidence.kind == "images":
        return Recognition(CERTAIN, f"images, one sub-folder for each of {label.distinct} labels")
    reason = f"column {images.name!r} names images and {label.name!r} one of {label.distinct} labels"
    if question is not None:
        return Recognition(WEAK, f"{reason}, but there are questions about them")
    if label is labels:
        return Recognition(WEAK, f"{reason}, but its cells are several labels")
    if compares_by_name(evidence):
        return Recognition(WEAK, f"{reason}, but there are two texts to compare")
    if caption is not None and is_named(caption.name, CAPTION):
        return Recognition(FAIR, f"{reason}; {caption.name!r} could be a caption")
    return Recognition(CERTAIN if caption is None else CLEAR, reason)


def label_image_sets(evidence: Evidence) -> Recognition:
    """Images and several labels beside each: label-images."""
    found = look_beside(evidence)
    if found is None:
        return NO_IMAGES
    images, question, label, caption, labels = found
    if labels is None:
        return Recognition(NO, f"no cells beside the images in {images.name!r} hold several labels")
    reason = f"column {images.name!r} names images and cells of {labels.name!r} hold several labels"
    others = [column for column in (question, label, caption) if column is not None and column is not labels]
    if others:
        return Recognition(WEAK, f"{reason}, but {others[0].name!r} says something of them too")
    return Recognition(CERTAIN, reason)


def question_images(evidence: Evidence) -> Recognition:
    """Images, a question about each and its answer: match-images."""
    found = look_beside(evidence)
    if found is None:
        return NO_IMAGES
    images, question, label, _, _ = found
    if question is None or label is None:
        return Recognition(NO, f"no questions with few answers stand beside the images in {images.name!r}")
    reason = f"column {images.name!r} names images, {question.name!r} holds questions and {label.name!r} answers"
    return Recognition(CERTAIN, reason)
