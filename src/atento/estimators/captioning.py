"""An estimator that looks: a line about each picture."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from atento.data.pictures.gallery import from_anywhere
from atento.data.pictures.names import is_drawn
from atento.errors import InputError
from atento.estimators.estimator import SequenceEstimator, own_folder
from atento.estimators.frames import like, require_rows
from atento.estimators.rows import texts_of
from atento.estimators.writing import measure


class Captioner(SequenceEstimator):
    """A line about each picture: X holds paths, or is an array of bytes (pictures, rows, columns, 3); y holds texts."""

    task = "caption"

    def fit(self, X: Any, y: Any) -> "Captioner":
        """Learn from pictures and their captions."""
        sources, targets = self.pictures(X), texts_of(y, what="y")
        require_rows(targets, len(sources), "y")
        rows = [{"picture": source, "caption": target} for source, target in zip(sources, targets, strict=True)]
        with from_anywhere():
            self.learn(rows, {"source": "picture", "target": "caption"})
        return self

    def predict(self, X: Any) -> Any:
        """A caption for each picture."""
        return like(X, [answer.text for answer in self.answers(self.pictures(X))])

    def score(self, X: Any, y: Any) -> float:
        """The task's first metric: exact captions, or characters in common for open text."""
        return measure(self, self.pictures(X), [(target,) for target in texts_of(y, what="y")])

    def pictures(self, X: Any) -> list[str]:
        """Where each picture lies; one that is an array is written to a folder that goes when the estimator goes."""
        if not isinstance(X, np.ndarray) or X.dtype == object or X.ndim < 2:
            return [text if is_drawn(text) else str(Path(text).resolve()) for text in texts_of(X)]
        if X.ndim != 4 or X.shape[-1] != 3 or X.dtype != np.uint8:
            raise InputError(
                "X: pictures are arrays of bytes, (pictures, rows, columns, 3).",
                found=f"{X.shape} of {X.dtype}",
                fix="give numbers from 0 to 255 as numpy.uint8, colours last; or paths of files",
            )
        folder = own_folder(self)
        return [kept(pixels, folder) for pixels in X]


def kept(pixels: Any, folder: Path) -> str:
    """The path of a picture that is an array; the same pixels, the same file."""
    path = folder / f"{hashlib.sha256(pixels.tobytes() + str(pixels.shape).encode()).hexdigest()}.png"
    if not path.exists():
        Image.fromarray(pixels).save(path)
    return str(path)
