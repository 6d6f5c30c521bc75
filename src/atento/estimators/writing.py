"""Estimators of written answers: tags of words, translations, continuations, captions of images."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from atento.data.files.image_names import is_drawn
from atento.data.images.finding import any_path_allowed
from atento.data.records import split_items
from atento.errors import InputError
from atento.estimators.estimator import SequenceEstimator, own_folder
from atento.estimators.frames import like, require_rows
from atento.estimators.rows import texts_of, word_lists_of
from atento.tasks.task import judged


class TaggerEstimator(SequenceEstimator):
    """A tag for each word: X is a list of lists of words, or of texts, y a list of lists of tags."""

    task = "tag"

    def fit(self, X: Any, y: Any) -> "TaggerEstimator":
        """Learn from sentences and their tags."""
        sources, targets = word_lists_of(X), word_lists_of(y, what="y")
        require_rows(targets, len(sources), "y")
        rows = [
            {"words": split_items(source), "tags": split_items(target)}
            for source, target in zip(sources, targets, strict=True)
        ]
        self.learn(rows, {"source": "words", "label": "tags"})
        return self

    def predict(self, X: Any) -> Any:
        """A list of tags for each sentence."""
        return like(X, [list(answer.value) for answer in self.answers(word_lists_of(X))])

    def score(self, X: Any, y: Any) -> float:
        """The task's first metric: the share of right tags, or F1 of entities where tags mark some."""
        return measure(self, word_lists_of(X), [(target,) for target in word_lists_of(y, what="y")])


class TranslatorEstimator(SequenceEstimator):
    """One text into another."""

    task = "translate"

    def fit(self, X: Any, y: Any) -> "TranslatorEstimator":
        """Learn from pairs of texts."""
        sources, targets = texts_of(X), texts_of(y, what="y")
        require_rows(targets, len(sources), "y")
        rows = [{"source": source, "target": target} for source, target in zip(sources, targets, strict=True)]
        self.learn(rows, {"source": "source", "target": "target"})
        return self

    def predict(self, X: Any) -> Any:
        """A text for each text."""
        return like(X, [answer.text for answer in self.answers(texts_of(X))])

    def score(self, X: Any, y: Any) -> float:
        """The task's first metric: exact match, or characters in common for open text."""
        return measure(self, texts_of(X), [(target,) for target in texts_of(y, what="y")])


class LanguageModelEstimator(SequenceEstimator):
    """What comes next in texts like these; y is not used."""

    task = "generate"

    def fit(self, X: Any, y: Any = None) -> "LanguageModelEstimator":
        """Learn from texts."""
        self.learn([{"text": source} for source in texts_of(X)], {"source": "text"})
        return self

    def predict(self, X: Any) -> Any:
        """How each text goes on."""
        return like(X, [answer.text for answer in self.answers(texts_of(X))])

    def score(self, X: Any, y: Any = None) -> float:
        """Log-probability of a character, on average: minus the nats per character."""
        sources = texts_of(X)
        return -measure(self, sources, [("",)] * len(sources))


def measure(estimator: SequenceEstimator, sources: list[str], references: list[tuple[str, ...]]) -> float:
    """The first metric of the estimator's task."""
    require_rows(references, len(sources), "y")
    estimator.answers(sources[:0])  # says so when nothing was fitted
    bundle = estimator.run_.predictor.bundle
    outputs, _ = judged(bundle.task, bundle.module, bundle.codec, sources, bundle.recipe.decode)
    return bundle.task.judging.metrics(bundle.codec)[0].for_sources(sources).value(outputs, references)


class CaptionerEstimator(SequenceEstimator):
    """A caption for each image: X holds paths, or is an array of bytes (images, rows, columns, 3); y holds texts."""

    task = "caption"

    def fit(self, X: Any, y: Any) -> "CaptionerEstimator":
        """Learn from images and their captions."""
        sources, targets = self.images(X), texts_of(y, what="y")
        require_rows(targets, len(sources), "y")
        rows = [{"image": source, "caption": target} for source, target in zip(sources, targets, strict=True)]
        with any_path_allowed():
            self.learn(rows, {"source": "image", "target": "caption"})
        return self

    def predict(self, X: Any) -> Any:
        """A caption for each image."""
        return like(X, [answer.text for answer in self.answers(self.images(X))])

    def score(self, X: Any, y: Any) -> float:
        """The task's first metric: exact captions, or characters in common for open text."""
        return measure(self, self.images(X), [(target,) for target in texts_of(y, what="y")])

    def images(self, X: Any) -> list[str]:
        """The path of each image; an array is written to a folder that is deleted with the estimator."""
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


def kept(pixels: Any, folder: Path) -> str:
    """The path of an image that is an array; the same pixels, the same file."""
    path = folder / f"{hashlib.sha256(pixels.tobytes() + str(pixels.shape).encode()).hexdigest()}.png"
    if not path.exists():
        Image.fromarray(pixels).save(path)
    return str(path)
