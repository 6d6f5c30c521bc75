"""Conformal quantiles of a trained forecaster: its forecasts of the validation part, against what came.

The validation part is one short stretch of time, the training part many that the weights have seen. Both count half.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from atento.data.records import counted
from atento.data.series.series import Integers
from atento.metrics.forecasts import block_starts
from atento.models.forecaster import Forecaster, ForecastModel, SeriesBatch
from atento.tasks.forecast.closed_form import spaced
from atento.tasks.forecast.codec import SeriesCodec, tensor_of
from atento.tasks.forecast.windows import Question, TrainingWindows
from atento.tasks.task import Dataset

# Axes: N windows, H steps ahead, C channels, Q levels.

WINDOWS = 5000  # forecast from each part, at most, evenly chosen
MOST = 2**23  # numbers of these
AT_ONCE = 2**20  # numbers read in one pass


class WindowForecasts(NamedTuple):
    """Quantiles as they were learned, and what came, on scale."""

    quantiles: Tensor  # (N, H, C, Q)
    targets: Tensor  # (N, H, C)

    def covered(self) -> float:
        """The share of values between the lowest and the highest quantile."""
        inside = (self.quantiles[..., 0] <= self.targets) & (self.targets <= self.quantiles[..., -1])
        return float(inside.double().mean())


@torch.no_grad()
def conformalize(module: ForecastModel, codec: SeriesCodec, reading: Dataset) -> str:
    """Fit the offsets of the quantiles; a note on what they were fitted to, empty without quantiles. The members of an
    ensemble keep theirs.

    Without a validation part the quantiles stay as they were learned.
    """
    if not isinstance(module, Forecaster) or module.conformal is None:
        return ""
    if not len(reading.valid):
        module.conformal.forget()
        return "quantiles are as they were learned: there is no validation part to calibrate them by"
    frame, like = codec.frame, next(module.parameters())
    most = min(WINDOWS, max(1, MOST // (frame.horizon * len(frame.channels) * len(codec.levels))))
    asked = [reading.valid[at] for at in spaced(0, len(reading.valid), most).tolist()]
    held_out = joined(module, codec, validation_windows(codec, asked, like))
    learned = joined(module, codec, training_windows(codec, reading, like, most))
    weights = held_out.targets.new_ones(len(held_out.targets) + len(learned.targets))
    weights[len(held_out.targets) :] = min(1.0, len(held_out.targets) / max(1, len(learned.targets)))
    apart = len(block_starts([one.source for one in asked], frame.horizon))
    both = WindowForecasts(*(torch.cat(parts) for parts in zip(held_out, learned, strict=True)))
    shared = module.conformal.fit(*both, weights, apart=apart)
    after = held_out._replace(quantiles=module.conformal(held_out.quantiles.to(like)).cpu()).covered()
    own = f"one for all {' and '.join(shared)}" if shared else "one for each step and channel"
    return (
        f"quantiles were conformalized: offsets, {own}, by {counted(len(asked), 'forecast')} of the validation "
        f"part ({apart:,} apart) and as much weight of training windows; {codec.levels[-1] - codec.levels[0]:.0%} "
        f"promised, {held_out.covered():.0%} of the validation part covered before, {after:.0%} after"
    )


def validation_windows(codec: SeriesCodec, asked: Sequence[Question], like: Tensor) -> Iterator[SeriesBatch]:
    """Pasts and what came, as a model reads them."""
    for numbers in in_batches(codec, np.arange(len(asked))):
        some = [asked[at] for at in numbers.tolist()]
        past, known, scales = codec.read([one.source for one in some], codec.frame.horizon, like)
        target = tensor_of(scales.to(np.stack([one.references[0] for one in some])))
        yield SeriesBatch(past, known, target.to(like))


def training_windows(codec: SeriesCodec, reading: Dataset, like: Tensor, most: int) -> Iterator[SeriesBatch]:
    """At most so many windows of the training part, evenly spaced."""
    windows = TrainingWindows([codec.encode(pair) for pair in reading.train], codec.frame, steps=codec.frame.horizon)
    for numbers in in_batches(codec, spaced(0, len(windows), most)):
        yield SeriesBatch(*(part.to(like) for part in windows.gather(numbers)))


def in_batches(codec: SeriesCodec, chosen: Integers) -> Iterator[Integers]:
    """So many numbers of windows as are read in one pass."""
    size = max(1, AT_ONCE // (codec.frame.window * len(codec.frame.channels)))
    return (chosen[first : first + size] for first in range(0, len(chosen), size))


def joined(module: ForecastModel, codec: SeriesCodec, batches: Iterator[SeriesBatch]) -> WindowForecasts:
    """The forecasts of all batches, on the CPU."""
    shape = (0, codec.frame.horizon, len(codec.frame.channels))
    found = [WindowForecasts(torch.zeros(*shape, len(codec.levels)), torch.zeros(shape))]
    for past, known, target in batches:
        found.append(WindowForecasts(module.rollout(past, known, target.size(1)).cpu(), target.cpu()))
    return WindowForecasts(*(torch.cat(parts) for parts in zip(*found, strict=True)))
