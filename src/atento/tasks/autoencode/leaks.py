"""Data leakage of autoencoders: scales and held-out windows must not share rows with other parts."""

from collections.abc import Sequence

import numpy as np

from atento.data.records import counted
from atento.errors import RunError
from atento.spec import TokensRecipe
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.leaks import CLOSE
from atento.tasks.task import Dataset, EvaluationExample

MAX_WINDOWS = 200  # that are examined


def require_no_leak(codec: WindowCodec, reading: Dataset) -> None:
    """Refuse scales of other rows than those of the training part."""
    own = WindowCodec.learn(TokensRecipe(), list(reading.train))
    for name, found, expected in (("mean", codec.mean, own.mean), ("std", codec.std, own.std)):
        apart = np.abs(found - expected) / own.std
        if apart.max() > CLOSE:
            worst = int(apart.argmax())
            raise RunError(
                f"the {name} of {codec.frame.channels[worst]!r} is not that of the training rows.",
                found=f"{found[worst]:.6g} where the training rows have {expected[worst]:.6g}",
                fix="learn it from the training part alone: WindowCodec.learn(recipe.tokens, reading.train)",
            )


def with_later_windows(reading: Dataset) -> Dataset:
    """The same data set, refused where a held-out window holds training rows."""
    ends = {series.name: series.start + len(series) for series, _ in reading.train}
    for part, questions in (("validation", reading.valid), ("test", reading.test)):
        require_later_windows(part, questions, ends)
    return reading


def require_later_windows(part: str, questions: Sequence[EvaluationExample], ends: dict[str, int]) -> None:
    """Refuse held-out windows that hold training rows."""
    some = questions[:: 1 + len(questions) // MAX_WINDOWS]
    early = [one.source for one in some if one.source.origin - len(one.source) < ends.get(one.source.series, 0)]
    if early:
        raise RunError(
            f"{counted(len(early), 'window')} of the {part} part hold rows that were learned from.",
            found=f"one from row {early[0].origin - len(early[0])} on; training ends before row "
            f"{ends[early[0].series]}",
            fix="let a part begin where the one before it ends",
        )
