"""Reading series for forecasting: from a recipe to training parts and forecast origins, and the table of forecasts."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.examples.pairs import UnlabelledFile
from atento.data.series import Frequency, Past, Series, SeriesSet
from atento.data.series.columns import COLUMN_KEYS
from atento.data.series.frequency import date_range
from atento.data.series.reading import read_series
from atento.data.series.series import Numbers, Times
from atento.data.series.time_formats import time_format, write_times
from atento.data.sources.reading import read_source
from atento.errors import InputError
from atento.layers.losses import median_weights
from atento.spec import DataRecipe
from atento.tasks.forecast.leaks import with_later_parts
from atento.tasks.forecast.split import Divided, divide
from atento.tasks.forecast.windows import Origins, WindowSpec, frame_of
from atento.tasks.task import Answer, Dataset, LabelledFile


@dataclass(frozen=True, eq=False)
class ForecastOrigin(Past):
    """The past at the end of a series, with the times of its steps and the names of its channels."""

    last: np.datetime64 | None = None  # the time of its last row
    step: Frequency = Frequency(1, "")  # noqa: RUF009  a value
    channels: tuple[str, ...] = ()


def written(times: Times) -> list[str]:
    """As a person writes them: a date where the clock stands at midnight throughout."""
    seconds = times.astype("datetime64[s]") if (times.astype("datetime64[s]") == times).all() else times
    days = seconds.astype("datetime64[D]")
    if (seconds == days).all():
        return [str(day) for day in days]
    return [str(one).replace("T", " ") for one in seconds]


def tabulate(opened: UnlabelledFile, answers: Sequence[Answer]) -> dict[str, list[object]]:
    """A long table: which series, when, and for each channel its forecast, then a column for each of its quantiles.

    The columns of series and time have the file's own names, else `unique_id` and `ds`; times are written as in the
    file. The forecast of a channel `y` is called `y_hat`, its quantiles `y-0.1`; other channels keep their names.
    """
    names = {"series": "unique_id", "time": "ds", **dict(opened.names)}
    ends = [end for end in opened.sources if isinstance(end, ForecastOrigin)]
    table: dict[str, list[object]] = {}
    forecast = list(zip(ends, answers, strict=True))
    if any(end.series for end in ends):
        table[names["series"]] = [end.series for end, answer in forecast for _ in answer.value]
    table[names["time"]] = [
        when for end, answer in forecast for when in times_after(end, len(answer.value), opened.time_format)
    ]
    levels = dict(answers[0].probabilities or {}) if answers else {}
    shares = np.asarray(median_weights(list(levels.values())))
    for at, channel in enumerate(ends[0].channels if ends else ()):
        point = f"{channel}_hat" if channel == "y" else channel
        table[point] = column_of(answer.value[:, at] @ shares for answer in answers)
        for place, level in enumerate(levels):
            table[f"{channel}-{level}"] = column_of(answer.value[:, at, place] for answer in answers)
    return table


def times_after(end: ForecastOrigin, steps: int, form: str = "") -> Sequence[object]:
    """The times of so many steps after a past, in a format of strftime; where rows have no times, their numbers."""
    if end.last is None:
        return range(end.origin, end.origin + steps)
    times = date_range(end.last, end.step, steps + 1)[1:]
    return write_times(times, form) if form else written(times)


def column_of(parts: Iterable[Numbers]) -> list[object]:
    """Numbers (H,) one after the other, with as many digits as a forecast has."""
    return [float(f"{number:.7g}") for part in parts for number in part]


MOST = 10_000  # forecasts of a test part
MADE = "forecasts could be made: one in {} is, at equal distances"

SeriesDataset = Dataset[tuple[Series, WindowSpec], Past, Numbers]
SeriesQuestions = LabelledFile[Past, Numbers]


def read_forecasts(recipe: DataRecipe, seed: int) -> SeriesDataset:
    """Each series by time: what is learned from, then what is validated and tested on."""
    found = find_series(recipe, recipe.train, seed)
    frame, guesses = frame_of(found, recipe)
    alike = recipe.model_copy(update=dict(found.keys))
    own = [find_series(alike, file, seed) if file else None for file in (recipe.valid, recipe.test)]
    divided = divide(found.file, found.series, frame, recipe)
    notes = [*found.notes, *guesses, *divided.notes]
    valid = held_out(divided, frame, own[0], found, 1, notes)
    test = thinned(held_out(divided, frame, own[1], found, 2, notes), notes, MADE)
    parts = dataset_of(recipe, [found, *own], frame, divided, (valid, test), notes)
    return with_later_parts(parts, own_files=(own[0] is not None, own[1] is not None))


def dataset_of(
    recipe: DataRecipe,
    files: Sequence[SeriesSet | None],  # of training, validation and test; None: no file of its own
    frame: WindowSpec,
    divided: Divided,
    held_out: tuple[Origins, Origins],
    notes: Sequence[str],
) -> SeriesDataset:
    """The training part of each series, and what is validated and tested on."""
    train, *own = [file for file in files if file is not None]
    valid, test = held_out
    return Dataset(
        name=recipe.train if is_builtin(recipe.train) else Path(train.file).name,
        train=tuple((one.cut(0, ends.train), frame) for one, ends in zip(divided.series, divided.borders, strict=True)),
        valid=valid,
        test=test,
        refused=(*train.refused, *divided.refused, *(refusal for file in own for refusal in file.refused)),
        notes=tuple(notes),
        fingerprint=fingerprint([train, *own], frame, divided, len(test)),
        columns=tuple((key, name) for key, name in train.keys if key in (*COLUMN_KEYS, "frequency")),
    )


def find_series(recipe: DataRecipe, file: str, seed: int) -> SeriesSet:
    """The series of a file or of a built-in set."""
    make = BUILTIN[file].series if is_builtin(file) else None
    return read_series(recipe, file) if make is None else make(recipe, seed)


def held_out(
    divided: Divided, frame: WindowSpec, own: SeriesSet | None, main: SeriesSet, part: int, notes: list[str]
) -> Origins:
    """Forecasts of the rows of a part, at every row; its first pasts reach back into the part before."""
    if own is None:
        ends = divided.borders
        spans = [(max(one[part - 1], frame.look_back), one[part] - frame.horizon + 1) for one in ends]
        return Origins(divided.series, frame, spans)
    require_alike(own, main)
    joined, spans = [], []
    before = {one.name: one for one in divided.series}
    for one in own.series:
        earlier = before.get(one.name)
        whole = join(earlier, one) if earlier is not None and follows(earlier, one, frame.step) else one
        joined.append(whole)
        spans.append((max(len(whole) - len(one), frame.look_back), len(whole) - frame.horizon + 1))
    reached = sum(len(whole) > len(one) for whole, one in zip(joined, own.series, strict=True))
    if reached:
        notes.append(f"{own.file}: {reached:,} series go on where {main.file} ends; pasts reach back into it")
    found = Origins(joined, frame, spans)
    if not len(found):
        raise InputError(
            f"{own.file}: no series is long enough for a forecast.",
            found=f"{longest(own)} rows at most, to read {frame.look_back} and to forecast {frame.horizon}",
            fix="give more rows, or rows that go on where the training file ends",
        )
    return found


def longest(found: SeriesSet) -> int:
    """Rows of the longest series."""
    return max(map(len, found.series), default=0)


def require_alike(own: SeriesSet, main: SeriesSet) -> None:
    """Another file has the same channels and covariates, in the same order."""
    for what in ("channels", "covariates"):
        if getattr(own, what) != getattr(main, what):
            raise InputError(
                f"{own.file}: its {what} are not those of {main.file}.",
                found=", ".join(getattr(own, what)) or "none",
                fix=f"give the columns {', '.join(getattr(main, what)) or 'without such'}",
            )


def follows(earlier: Series, later: Series, step: Frequency) -> bool:
    """Whether one begins a step after the other ends."""
    if earlier.times is None or later.times is None:
        return False
    return bool(date_range(earlier.times[len(earlier) - 1], step, 2)[1] == later.times[0])


def join(earlier: Series, later: Series) -> Series:
    """One after the other."""
    times: Times | None = None
    if earlier.times is not None and later.times is not None:
        times = np.concatenate([earlier.times[: len(earlier)], later.times])
    return Series(
        later.name,
        np.concatenate([earlier.values, later.values]),
        np.concatenate([earlier.future_covariates[: len(earlier)], later.future_covariates]),
        times,
    )


def ask_forecasts(recipe: DataRecipe, file: str, seed: int) -> SeriesQuestions:
    """A forecast at every row of another file; of a built-in set, of its test part."""
    if is_builtin(file):
        reading = read_forecasts(recipe.model_copy(update={"train": file, "valid": "", "test": ""}), seed)
        return LabelledFile(reading.test, reading.notes, reading.refused)
    found = find_series(recipe, file, seed)
    frame, _ = frame_of(found, recipe)
    origins = Origins(found.series, frame, [(frame.look_back, len(one) - frame.horizon + 1) for one in found.series])
    if not len(origins):
        raise InputError(
            f"{file}: no series is long enough for a forecast.",
            found=f"{longest(found)} rows at most",
            fix=f"give {frame.window} rows at least: {frame.look_back} to read and {frame.horizon} to forecast",
        )
    notes = list(found.notes)
    return LabelledFile(thinned(origins, notes, MADE), tuple(notes), found.refused)


def thinned(origins: Origins, notes: list[str], what: str) -> Origins:
    """At most `MOST` forecast origins at equal distances; a note of `what` is added where some are left out."""
    stride = max(1, -(-len(origins) // MOST))
    if stride > 1:
        notes.append(f"{len(origins):,} {what.format(stride)} (at most {MOST:,})")
    return origins[::stride]


def open_series(recipe: DataRecipe, file: str, seed: int) -> UnlabelledFile:
    """The end of each series of a file: what comes next is to be forecast."""
    found = find_series(recipe, file, seed)
    frame, _ = frame_of(found, recipe)
    ends: list[ForecastOrigin] = []
    for one in found.series:
        if len(one) < frame.look_back:
            name = f"series {one.name!r}" if one.name else "the series"
            raise InputError(
                f"{file}: {name} is too short to forecast from.",
                found=f"{len(one)} rows",
                fix=f"give {frame.look_back} rows at least, as many as the model reads",
            )
        first = len(one) - frame.look_back
        ends.append(
            ForecastOrigin(
                one.name,
                one.timestamp(len(one) - 1),
                one.values[first:],
                one.future_covariates[first:],
                origin=one.start + len(one),
                last=None if one.times is None else one.times[len(one) - 1],
                step=found.frequency,
                channels=found.channels,
            )
        )
    names = found.own_names
    last = max((end.last for end in ends if end.last is not None), default=None)
    form = format_in(recipe, file, dict(names).get("time", ""), last)
    return UnlabelledFile({}, ends, found.refused, found.notes, names=names, time_format=form)


def format_in(recipe: DataRecipe, file: str, column: str, last: np.datetime64 | None) -> str:
    """How a file writes the times of a column; empty where that is not known."""
    if not column or last is None or is_builtin(file):
        return ""
    table = read_source(file, header=recipe.header, names=[column])
    if column not in table.columns:
        return ""
    at = table.columns.index(column)
    return time_format([row[at] for row in table.rows], last)


def fingerprint(files: Iterable[SeriesSet], frame: WindowSpec, divided: Divided, tested: int) -> str:
    """SHA-256 of every number, name and border."""
    digest = hashlib.sha256(repr((frame, [tuple(ends) for ends in divided.borders], tested)).encode())
    for found in files:
        for one in found.series:
            digest.update(f"{one.name}\x1f{one.values.shape}\x1e".encode("utf-8", "surrogatepass"))
            for part in (one.values, one.future_covariates, one.times):
                if part is not None:
                    digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
