"""An autoencoder must know nothing of what it is tested on: by its scale, or by windows that reach into other parts."""

from collections.abc import Sequence

import numpy as np

from atento.data.records import counted
from atento.errors import RunError
from atento.spec import TokensRecipe
from atento.tasks.autoencode_codec import WindowCodec
from atento.tasks.task import Question, Reading

CLOSE = 1e-6  # relative, between two ways of computing a mean
ASKED = 200  # windows that are looked at


def require_honest_recreations(codec: WindowCodec, reading: Reading) -> None:
    """Stop before a model is trained on what the test will ask for."""
    own = WindowCodec.learn(TokensRecipe(), list(reading.train))
    for name, found, expected in (("mean", codec.mean, own.mean), ("spread", codec.spread, own.spread)):
        apart = np.abs(found - expected) / own.spread
        if apart.max() > CLOSE:
            worst = int(apart.argmax())
            raise RunError(
                f"the {name} of {codec.frame.channels[worst]!r} is not that of the training rows: it knows others.",
                found=f"{found[worst]:.6g} where the training rows have {expected[worst]:.6g}",
                fix="learn it from the training part alone: WindowCodec.learn(recipe.tokens, reading.train)",
            )
    ends = {series.name: series.start + len(series) for series, _ in reading.train}
    for part, questions in (("validation", reading.valid), ("test", reading.test)):
        require_apart(part, questions, ends)


def require_apart(part: str, questions: Sequence[Question], ends: dict[str, int]) -> None:
    """No held-out window holds a row that was learned from."""
    some = questions[:: 1 + len(questions) // ASKED]
    early = [one.source for one in some if one.source.origin - len(one.source) < ends.get(one.source.series, 0)]
    if early:
        raise RunError(
            f"{counted(len(early), 'window')} of the {part} part hold rows that were learned from.",
            found=f"one from row {early[0].origin - len(early[0])} on; training ends before row "
            f"{ends[early[0].series]}",
            fix="let a part begin where the one before it ends",
        )
