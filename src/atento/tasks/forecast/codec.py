"""Series standardised: mean 0 and standard deviation 1 over the training part of each series and channel."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from atento.data.records import counted, in_words
from atento.data.series import Frequency, Past, Series
from atento.data.series.series import Integers, Numbers
from atento.errors import InputError
from atento.models.builders.forecaster import parse_quantiles
from atento.models.forecaster import SeriesSizes
from atento.spec import Recipe, TokensRecipe
from atento.tasks.forecast.windows import EncodedSeries, Pairs, WindowSpec
from atento.tasks.task import Saved

# Axes: S series, N pasts, T time, L past, C channels, K covariates.

MOST_SERIES, MOST_CHANNELS, MOST_STEPS = 10_000_000, 100_000, 10_000_000
FAR = 10.0  # standard deviations from the mean of a training part
FLAT = 1e-12  # a standard deviation this small beside the numbers themselves is none


class Scales(NamedTuple):
    """The scale of each series and channel: (S, C) or (N, C)."""

    mean: Numbers
    std: Numbers  # a channel that never changes is only moved: 1
    naive: Numbers  # the mean |y_t − y_{t−season}|, the error of the seasonal forecast; where that is 0, the std

    def to(self, values: Numbers) -> Numbers:
        """(N, T, C) onto the scales."""
        return np.asarray((values - self.mean[:, None]) / self.std[:, None])

    def back(self, values: Numbers) -> Numbers:
        """(N, T, C, Q) off the scales."""
        return np.asarray(values * self.std[:, None, :, None] + self.mean[:, None, :, None])


def scales_from(parts: Sequence[Numbers], season: int) -> Scales:
    """The scales of parts (T, C), computed together, so that many short series are as fast as a long one."""
    lengths = np.array([len(part) for part in parts])
    flat = np.concatenate(list(parts))  # (ΣT, C)
    starts = np.cumsum(lengths) - lengths
    mean = np.add.reduceat(flat, starts) / lengths[:, None]  # (S, C)
    std = np.sqrt(np.add.reduceat(np.square(flat - np.repeat(mean, lengths, axis=0)), starts) / lengths[:, None])
    least = FLAT * np.maximum(1.0, np.abs(mean))
    std = np.where(std > least, std, 1.0)
    naive = np.where((lengths > season)[:, None], *(mean_change(flat, lengths, starts, lag) for lag in (season, 1)))
    return Scales(mean, std, np.where(naive > least, naive, std))


def mean_change(flat: Numbers, lengths: Integers, starts: Integers, lag: int) -> Numbers:
    """The mean of |y_t − y_{t−lag}| (S, C) within each part; nothing where a part is too short."""
    change = np.zeros_like(flat)
    change[lag:] = np.abs(flat[lag:] - flat[:-lag])
    place = np.arange(len(flat)) - np.repeat(starts, lengths)
    change[place < lag] = 0.0  # the row before it is another part's
    return np.asarray(np.add.reduceat(change, starts) / np.maximum(1, lengths - lag)[:, None])


class ScaledPasts(NamedTuple):
    """Pasts as a model reads them."""

    past: Tensor  # (N, L, C) on scale
    known: Tensor  # (N, L + steps, K) covariates of the rows read and forecast, on scale
    scales: Scales  # (N, C)


@dataclass(frozen=True, eq=False)
class SeriesCodec:
    """Series and pasts <-> tensors on scale."""

    frame: WindowSpec
    names: tuple[str, ...]
    scales: Scales  # (S, C)
    covariates: tuple[Numbers, Numbers]  # mean and standard deviation (K,), of all series together
    levels: tuple[float, ...] = ()  # quantiles that are forecast; none: one number
    steps: int = 0  # of a target while training: the horizon, or the steps of a recursive rollout; 0: the horizon
    noise: float = 0.0  # on what is read while training, in standard deviations
    pace: tuple[float, ...] = ()  # how much each channel changes in a step, in standard deviations
    notes: tuple[str, ...] = ()

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Pairs) -> "SeriesCodec":
        """Scales from the training parts alone."""
        frame = pairs[0][1]
        scales = scales_from([series.values for series, _ in pairs], frame.season)
        known = [series.future_covariates[: len(series)] for series, _ in pairs]
        names = tuple(series.name for series, _ in pairs)
        windows = sum(max(0, len(series) - frame.window + 1) for series, _ in pairs)
        shown = in_words([repr(name) for name in frame.channels], limit=8)
        note = (
            f"{counted(windows, 'window')} to train, of {frame.look_back} steps of history and {frame.horizon} to "
            f"forecast, of {counted(len(frame.channels), 'channel')} ({shown}), each scaled by its training part"
        )
        pace = pace_of([series.values for series, _ in pairs], scales)
        return cls(frame, names, scales, mean_and_std(known), pace=pace, notes=(note,))

    def suited(self, recipe: Recipe) -> "SeriesCodec":
        """The codec with what the recipe decides: the quantiles, the steps of a target and the noise."""
        steps = recipe.train.rollout if recipe.model.strategy == "recursive" else self.frame.horizon
        return replace(self, levels=parse_quantiles(recipe.model.quantiles), steps=steps, noise=recipe.train.noise)

    @classmethod
    def load(cls, saved: Saved) -> "SeriesCodec":
        """What `to_json` wrote; anything else is refused."""
        with refusing("this file holds no scales of series."):
            channels, covariates = texts(saved["channels"], MOST_CHANNELS), texts(saved["covariates"], MOST_CHANNELS)
            look_back, horizon, season = (whole(saved[key], least=1) for key in ("look_back", "horizon", "season"))
            frame = WindowSpec(look_back, horizon, channels, covariates, frequency(saved["step"]), season)
            names = texts(saved["names"], MOST_SERIES)
            shape = (len(names), len(channels))
            scales = Scales(*(numbers(saved[key], shape) for key in ("mean", "std", "naive")))
            known = numbers(saved["known"], (2, len(covariates)))
            flat = any((part <= 0).any() for part in (scales.std, scales.naive, known[1]))
            if not channels or not names or flat:
                raise ValueError("a standard deviation that is not above zero")
            levels = parse_quantiles(",".join(map(str, numbers(saved["levels"]).tolist())))
            steps, noise = whole(saved["steps"], least=0), float(numbers(saved["noise"], ()))
            pace = tuple(numbers(saved["pace"], (len(channels),)).tolist())
        return cls(frame, names, scales, (known[0], known[1]), levels, steps, noise, pace)

    def answer_facts(self) -> dict[str, object]:
        """Forecasts of the horizon, and what is read for them."""
        frame = self.frame
        return {
            "output": "forecast",
            "channels": list(frame.channels),
            "covariates": list(frame.covariates),
            "look_back": frame.look_back,
            "horizon": frame.horizon,
            "quantiles": [f"{level:g}" for level in self.levels],
        }

    def to_json(self) -> dict[str, object]:
        """The frame, and the scale of each series and channel."""
        frame = self.frame
        return {
            "look_back": frame.look_back,
            "horizon": frame.horizon,
            "season": frame.season,
            "step": [frame.step.count, frame.step.unit],
            "channels": list(frame.channels),
            "covariates": list(frame.covariates),
            "names": list(self.names),
            "known": [part.tolist() for part in self.covariates],
            **{key: part.tolist() for key, part in self.scales._asdict().items()},
            "levels": list(self.levels),
            "steps": self.steps,
            "noise": self.noise,
            "pace": list(self.pace),
        }

    @property
    def sizes(self) -> SeriesSizes:
        """What a model is built for."""
        frame = self.frame
        return SeriesSizes(len(frame.channels), len(frame.covariates), frame.look_back, frame.horizon)

    def encode(self, pair: tuple[Series, WindowSpec]) -> EncodedSeries:
        """A training part on scale."""
        series = pair[0]
        known = self.scale_known(series.future_covariates[: len(series)])
        return EncodedSeries(tensor_of(self.scale_part(series)), tensor_of(known))

    def scale_part(self, series: Series) -> Numbers:
        """The values (T, C) of a series on its scale."""
        return self.scales_of([series]).to(series.values[None])[0]

    def read(self, pasts: Sequence[Past], steps: int, like: Tensor) -> ScaledPasts:
        """Pasts before a forecast of so many steps, as tensors like those of the model."""
        scales = self.scales_of(pasts)
        values = np.stack([require_past(past, self.frame) for past in pasts])  # (N, L, C)
        known = np.stack([self.require_known(past, steps) for past in pasts])  # (N, L + steps, K)
        return ScaledPasts(tensor_of(scales.to(values)).to(like), tensor_of(self.scale_known(known)).to(like), scales)

    def require_known(self, past: Past, steps: int) -> Numbers:
        """The covariates (L + steps, K) of the rows read and forecast; missing ones are refused."""
        frame = self.frame
        wanted = frame.look_back + steps
        if not frame.covariates:
            return np.zeros((wanted, 0))
        known = past.future_covariates[len(past) - frame.look_back :]
        if known.shape[-1] != len(frame.covariates) or len(known) < wanted:
            names = ", ".join(frame.covariates)
            raise InputError(
                f"{past}: a forecast of {steps} steps needs the future covariates {names} of these steps.",
                found=f"{len(known) - frame.look_back} rows of {known.shape[-1]} such columns after the last value",
                fix=f"add rows with {names} and an empty value, or --set decode.horizon= fewer steps",
            )
        return known[:wanted]

    def scale_known(self, known: Numbers) -> Numbers:
        """Covariates (..., K) on scale."""
        mean, std = self.covariates
        return np.asarray((known - mean) / std)

    @cached_property
    def place(self) -> dict[str, int]:
        """The row of the scales of each series, by its name."""
        return {name: at for at, name in enumerate(self.names)}

    def scales_of(self, sources: Sequence[Past | Series]) -> Scales:
        """The scales (N, C) of each source; those of an unseen series are computed from its own numbers."""
        names = (source.series if isinstance(source, Past) else source.name for source in sources)
        found = np.array([self.place.get(name, -1) for name in names], dtype=np.int64)
        strange = np.flatnonzero(found < 0).tolist()
        picked = Scales(*(part[found].copy() for part in self.scales))  # (N, C); strange ones are put in next
        if strange:
            own = scales_from([sources[at].values for at in strange], self.frame.season)
            for part, numbers_ in zip(picked, own, strict=True):
                part[strange] = numbers_
        return picked

    def far_levels(self, sources: Sequence[Past]) -> list[str]:
        """Notes on channels of known series whose level is far from that of their training."""
        found: dict[str, str] = {}
        for source in sources:
            at = self.place.get(source.series, -1)
            if at < 0:
                continue
            level = source.values.mean(axis=0)  # (C,)
            mean, std = self.scales.mean[at], self.scales.std[at]
            for channel in np.flatnonzero(np.abs(level - mean) > FAR * std).tolist():
                name = self.frame.channels[channel]
                had = (
                    f"{level[channel]:.4g} on average, where the training had {mean[channel]:.4g} ± {std[channel]:.2g}"
                )
                found.setdefault(name, f"{name!r} is far from what the model was trained on: {had}")
        return list(found.values())


def mean_and_std(parts: Sequence[Numbers], *, shared: bool = False) -> tuple[Numbers, Numbers]:
    """Mean and standard deviation (F,) over the rows (T, F) of all parts, without putting them together; shared, one
    standard deviation serves all columns.
    """
    rows = sum(map(len, parts))
    mean = np.sum([part.sum(axis=0) for part in parts], axis=0) / rows
    squares = np.sum([np.square(part - mean).sum(axis=0) for part in parts], axis=0) / rows
    std = np.sqrt(np.full_like(squares, squares.mean()) if shared else squares)
    return mean, np.where(std > FLAT * np.maximum(1.0, np.abs(mean)), std, 1.0)


def pace_of(parts: Sequence[Numbers], scales: Scales) -> tuple[float, ...]:
    """The root mean squared change (C,) from row to row, in standard deviations; 1 where nothing changes."""
    sums = np.zeros(parts[0].shape[1])
    for part, std in zip(parts, scales.std, strict=True):
        sums += np.square((part[1:] - part[:-1]) / std).sum(axis=0)
    pace = np.sqrt(sums / max(1, sum(len(part) - 1 for part in parts)))
    return tuple(np.where(pace > FLAT, pace, 1.0).tolist())


def require_past(past: Past, frame: WindowSpec) -> Numbers:
    """The last rows (L, C) of a past; one of another shape is refused."""
    if past.values.ndim != 2 or past.values.shape[1] != len(frame.channels) or len(past) < frame.look_back:
        raise InputError(
            f"{past}: this model reads {frame.look_back} rows of {len(frame.channels)} channels.",
            found=f"{past.values.shape[0]} rows of {past.values.shape[-1]} channels",
            fix=f"give the columns {', '.join(frame.channels)}, and enough rows",
        )
    return past.values[-frame.look_back :]


def tensor_of(values: Numbers) -> Tensor:
    """Scaled numbers as a model reads them."""
    return torch.from_numpy(values).to(torch.get_default_dtype())


@contextmanager
def refusing(problem: str) -> Iterator[None]:
    """Turn the errors of parsing a saved codec into one refusal."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(problem, found=str(error).partition("\n")[0][:80], fix="train again") from None


def texts(saved: object, most: int) -> tuple[str, ...]:
    """A list of names, not too many."""
    if not isinstance(saved, list) or len(saved) > most or not all(isinstance(name, str) for name in saved):
        raise ValueError(f"no list of names: {str(saved)[:40]}")
    return tuple(saved)


def whole(saved: object, *, least: int) -> int:
    """A whole number, not too large."""
    if not isinstance(saved, int) or isinstance(saved, bool) or not least <= saved <= MOST_STEPS:
        raise ValueError(f"no number of steps: {str(saved)[:40]}")
    return saved


def frequency(saved: object) -> Frequency:
    """The number of units of a step, and the unit."""
    if not isinstance(saved, list):
        raise ValueError(f"no step: {str(saved)[:40]}")
    count, unit = saved
    return Frequency(whole(count, least=1), str(unit)[:8])


def numbers(saved: object, shape: tuple[int, ...] | None = None) -> Numbers:
    """Finite numbers of that shape, or of any."""
    array = np.array(saved, dtype=np.float64)
    array = array.reshape(shape) if shape is not None and 0 in shape else array
    if (shape is not None and array.shape != shape) or not np.isfinite(array).all():
        raise ValueError(f"numbers of shape {array.shape} where {shape} are due, or not finite")
    return array
