"""Scales of numbers must be those of the training part, and know nothing of held-out rows."""

from collections.abc import Iterable, Sequence

import numpy as np

from atento.data.number_sequences import require_numbers
from atento.data.series.series import Numbers
from atento.errors import RunError
from atento.tasks.channels import Channels

CLOSE = 1e-6  # in spreads: rounding is far below, a held-out part far above

# Axes: T time, C channels.


def require_honest_channels(channels: Channels, sources: Sequence[str]) -> None:
    """The scales of texts of numbers, from their training part."""
    scales = np.array(channels, dtype=np.float64)  # (C, 2)
    names = [f"channel {number + 1}" for number in range(len(channels))]
    require_honest_scale(names, scales[:, 0], scales[:, 1], (require_numbers(source) for source in sources))


def require_honest_scale(names: Sequence[str], mean: Numbers, spread: Numbers, parts: Iterable[Numbers]) -> None:
    """A mean and a spread (C,) are those of all training rows (T, C) together; a spread of what never changes may be
    anything.
    """
    rows, sums, squares = 0, np.zeros(len(names)), np.zeros(len(names))
    for part in parts:
        moved = part - mean  # near 0 where the scale is right, so that nothing is lost in the squares
        rows, sums, squares = rows + len(part), sums + moved.sum(axis=0), squares + np.square(moved).sum(axis=0)
    shift = sums / rows
    true = np.sqrt(np.maximum(squares / rows - np.square(shift), 0.0))
    size = np.where(true > CLOSE * spread, true, spread)
    wrong = np.maximum(np.abs(shift) / size, np.where(true > CLOSE * spread, np.abs(spread / size - 1), 0.0))
    worst = int(np.argmax(wrong))
    if wrong[worst] > CLOSE:
        raise RunError(
            f"the scale of {names[worst]} is not that of the training rows: it knows others.",
            found=f"mean {mean[worst]:.6g} and spread {spread[worst]:.6g} where training rows have "
            f"{mean[worst] + shift[worst]:.6g} and {true[worst]:.6g}",
            fix="learn it from the training part alone: Task.learn(recipe.tokens, reading.train)",
        )
