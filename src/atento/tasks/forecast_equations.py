"""A simple model of series that are a flow: the change to the next row as a polynomial of the row."""

from collections.abc import Sequence

import numpy as np

from atento.baselines.polynomial import Polynomial
from atento.data.series.series import Numbers
from atento.tasks.forecast_baselines import SeriesBaseline
from atento.tasks.forecast_frame import Frame

# Axes: N pasts, T time, L past, H horizon, C channels.

DEGREES = (1, 2, 3, 4, 5)
MOST_MONOMIALS = 600
HELD_OUT = 0.2  # of the training rows, the last: by them the degree is chosen
FARTHEST = 100.0  # spreads: a run that goes farther stays there, or one forecast alone would be the whole error


class Equations(SeriesBaseline):
    """y_{t+1} = y_t + W φ(y_t), run on its own output. φ are all monomials up to a degree, the one that errs least one
    step ahead on the last fifth of the training rows.
    """

    name = "polynomial"
    summary = "the change as a polynomial of the last row, on and on"

    def __init__(self) -> None:
        super().__init__()
        self.model = Polynomial(degree=1, delays=1)

    def learn(self, parts: Sequence[Numbers], frame: Frame) -> None:
        """The degree first, then the weights from all rows."""
        degrees = [degree for degree in DEGREES if monomials(len(frame.channels), degree) <= MOST_MONOMIALS]
        early = [part[: round((1 - HELD_OUT) * len(part))] for part in parts]
        late = [part[round((1 - HELD_OUT) * len(part)) :] for part in parts]
        errors = [one_step_error(Polynomial(degree=degree, delays=1).learn_from(early), late) for degree in degrees]
        self.model = Polynomial(degree=degrees[int(np.argmin(errors))], delays=1).learn_from(parts)

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """Step by step."""
        return np.clip(np.nan_to_num(self.model.extend(pasts, steps), nan=FARTHEST), -FARTHEST, FARTHEST)


def monomials(channels: int, degree: int) -> int:
    """How many there are of so many numbers: (C + d over d)."""
    count = 1
    for place in range(1, degree + 1):
        count = count * (channels + place) // place
    return count


def one_step_error(model: Polynomial, parts: Sequence[Numbers]) -> float:
    """The mean squared error on rows (T, C) that were not learned from."""
    said = [model.extend(part[:-1, None], 1)[:, 0] for part in parts if len(part) > 1]
    came = [part[1:] for part in parts if len(part) > 1]
    return float(np.square(np.concatenate(said) - np.concatenate(came)).mean()) if said else 0.0


def reads_one_row(frame: Frame) -> bool:
    """Such series are a flow, or are taken for one."""
    return frame.look_back == 1 and not frame.covariates
