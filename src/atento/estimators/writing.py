"""Estimators of written answers: tags of words, translations, continuations, captions of images."""

import hashlib
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from atento.data.files.image_names import is_drawn
from atento.data.images.finding import any_path_allowed
from atento.data.images.png import png_bytes
from atento.data.records import split_items
from atento.errors import InputError
from atento.estimators.estimator import SequenceEstimator, own_folder
from atento.estimators.frames import Rows, require_rows
from atento.estimators.rows import texts_of, word_lists_of
from atento.tasks.task import judged
from atento.writing import write_atomically


class TaggerEstimator(SequenceEstimator):
    """A tag for each word: X is a list of lists of words, or of texts, y a list of lists of tags."""

    task = "tag"
    reads = staticmethod(word_lists_of)

    def fit(self, X: Rows, y: Rows) -> "TaggerEstimator":
        """Learn from sentences and their tags.

        X: sentences.
        y: a list of tags for each, or a text of tags with spaces between.
        """
        sources, targets = self.sources(X, reset=True), word_lists_of(y, what="y")
        require_rows(targets, len(sources), "y")
        rows = [
            {"words": split_items(source), "tags": split_items(target)}
            for source, target in zip(sources, targets, strict=True)
        ]
        self.learn(rows, {"source": "words", "label": "tags"})
        return self

    def predict(self, X: Rows) -> Rows:
        """A list of tags for each sentence.

        X: as for `fit`.
        """
        return self.like(X, [list(answer.value) for answer in self.answers(self.sources(X))])

    def score(self, X: Rows, y: Rows) -> float:
        """The task's first metric: the share of right tags, or F1 of entities where tags mark some.

        X: as for `fit`.
        y: the right tags.
        """
        return measure(self, self.sources(X), [(target,) for target in word_lists_of(y, what="y")])


class WriterEstimator(SequenceEstimator):
    """One text for each source; subclasses say what a source is."""

    columns: ClassVar[tuple[str, str]]  # names of sources and texts

    def fit(self, X: Rows, y: Rows) -> Self:
        """Learn from sources and their texts.

        X: sources.
        y: one text for each.
        """
        sources, targets = self.sources(X, reset=True), texts_of(y, what="y")
        require_rows(targets, len(sources), "y")
        rows = [dict(zip(self.columns, pair, strict=True)) for pair in zip(sources, targets, strict=True)]
        self.learn(rows, dict(zip(("source", "target"), self.columns, strict=True)))
        return self

    def predict(self, X: Rows) -> Rows:
        """A text for each source.

        X: as for `fit`.
        """
        return self.like(X, [answer.text for answer in self.answers(self.sources(X))])

    def score(self, X: Rows, y: Rows) -> float:
        """The task's first metric: exact match, or characters in common for open text.

        X: as for `fit`.
        y: the right texts.
        """
        return measure(self, self.sources(X), [(target,) for target in texts_of(y, what="y")])


class TranslatorEstimator(WriterEstimator):
    """One text into another."""

    task = "translate"
    columns = ("source", "target")


class LanguageModelEstimator(SequenceEstimator):
    """What comes next in texts like these; y is not used."""

    task = "generate"

    def fit(self, X: Rows, y: Rows = None) -> "LanguageModelEstimator":
        """Learn from texts.

        X: texts.
        y: not used.
        """
        self.learn([{"text": source} for source in self.sources(X, reset=True)], {"source": "text"})
        return self

    def predict(self, X: Rows) -> Rows:
        """How each text goes on.

        X: texts.
        """
        return self.like(X, [answer.text for answer in self.answers(self.sources(X))])

    def score(self, X: Rows, y: Rows = None) -> float:
        """Log-probability of a character, on average: minus the nats per character.

        X: texts.
        y: not used.
        """
        sources = self.sources(X)
        return -measure(self, sources, [("",)] * len(sources))


def measure(estimator: SequenceEstimator, sources: list[str], references: list[tuple[str, ...]]) -> float:
    """The first metric of the estimator's task."""
    require_rows(references, len(sources), "y")
    estimator.answers(sources[:0])  # says so when nothing was fitted
    bundle = estimator.run_.predictor.bundle
    outputs, _ = judged(bundle.task, bundle.module, bundle.codec, sources, bundle.recipe.decode)
    return bundle.task.judging.metrics(bundle.codec)[0].for_sources(sources).value(outputs, references)


class CaptionerEstimator(WriterEstimator):
    """A caption for each image: X holds paths, or is an array of bytes (images, rows, columns, 3); y holds texts."""

    task = "caption"
    columns = ("image", "caption")

    def fit(self, X: Rows, y: Rows) -> Self:
        """Learn from images and their captions.

        X: images: paths, or an array of bytes (images, rows, columns, 3).
        y: one caption for each.
        """
        with any_path_allowed():
            return super().fit(X, y)

    def sources(self, X: Rows, *, reset: bool = False) -> list[str]:
        """The path of each image; an array is written to a folder that is deleted with the estimator.

        X: images.
        reset: whether these are the rows it is fitted on.
        """
        self.keep_columns(X, reset=reset)
        if not isinstance(X, np.ndarray) or X.dtype == object or X.ndim < 2:
            return [text if is_drawn(text) else str(Path(text).resolve()) for text in texts_of(X)]
        if X.ndim != 4 or X.shape[-1] != 3 or X.dtype != np.uint8:
            raise InputError(
                "X: images are arrays of bytes, (images, rows, columns, 3).",
                found=f"{X.shape} of {X.dtype}",
                fix="give numbers from 0 to 255 as numpy.uint8, colours last; or paths of files",
            )
        folder = own_folder(self)
        return [kept(pixels, folder) for pixels in X]


def kept(pixels: np.ndarray, folder: Path) -> str:
    """The path of an image that is an array; the same pixels, the same file."""
    path = folder / f"{hashlib.sha256(pixels.tobytes() + str(pixels.shape).encode()).hexdigest()}.png"
    if not path.exists():
        write_atomically(path, png_bytes(pixels))
    return str(path)
