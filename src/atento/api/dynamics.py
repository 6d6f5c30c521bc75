"""A trained forecaster as a system of its own: it runs free, and is compared with what it learned from."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from atento.api.run import Run
from atento.data.series import Past, Series
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.looking.phase import phase_view
from atento.tasks.forecast_codec import SeriesCodec
from atento.tasks.forecast_running import forecasts, median_of

# Axes: R runs, L past, T time, C channels.

STEPS = 3000  # of a free run that is drawn
LEAST = 8


def free_runs(run: Run, pasts: ArrayLike, steps: int, *, series: str = "") -> Numbers:
    """What the model goes on with after pasts (R, ≥ L, C), each from its own output: (R, steps, C)."""
    codec = codec_of(run)
    given = np.asarray(pasts, dtype=np.float64)
    if given.ndim != 3 or steps < 1:
        raise InputError(
            "free runs begin with pasts (runs, rows, channels), and have one step at least.",
            found=f"pasts of shape {given.shape}, steps={steps}",
            fix="give one past as past[None]",
        )
    if codec.frame.covariates:
        raise InputError(
            "a model that reads what is known beforehand cannot run free.",
            found=", ".join(codec.frame.covariates),
            fix="train one without data.known",
        )
    name = series if series or len(codec.names) > 1 else codec.names[0]
    rows = given.shape[1]
    sources = [Past(name, f"row {rows - 1}", past, np.zeros((rows + steps, 0)), origin=rows) for past in given]
    found = [median_of(value, codec.levels) for value in forecasts(run.module, codec, sources, steps)]
    return np.stack(found).astype(np.float64)


def look_at_phase(run: Run, *, steps: int = 0) -> dict[str, Any]:
    """A free run from where the test part begins, beside the truth, as plain data."""
    codec = codec_of(run)
    bundle = run.predictor.bundle
    reading = bundle.read()
    past, follows = first_past(reading.test or reading.valid, [series for series, _ in reading.train], codec)
    seen = next((series for series, _ in reading.train if series.name == past.series), reading.train[0][0])
    wanted = steps or max(LEAST, min(STEPS, len(seen)))
    generated = free_runs(run, past.values[None], wanted, series=past.series)[0]
    return phase_view(
        seen.values[-wanted:],
        generated,
        follows[:wanted],
        codec.frame.channels,
        model=bundle.recipe.model.name,
        data=reading.name,
    )


def first_past(questions: Sequence[Any], trained: Sequence[Series], codec: SeriesCodec) -> tuple[Past, Numbers]:
    """Where a part that was not learned from begins, and what came then; else the end of what was learned from."""
    if not len(questions):
        series, rows = trained[0], codec.frame.look_back
        past = Past(series.name, series.when(len(series) - 1), series.values[-rows:], np.zeros((rows, 0)))
        return past, np.zeros((0, len(codec.frame.channels)))
    first, horizon = questions[0], codec.frame.horizon
    origins = range(0, len(questions), horizon)
    pieces = [questions[at] for at in origins if questions[at].source.series == first.source.series]
    return first.source, np.concatenate([piece.references[0] for piece in pieces])


def codec_of(run: Run) -> SeriesCodec:
    """The codec of a forecaster; other runs have no phase."""
    codec = run.predictor.bundle.codec
    if not isinstance(codec, SeriesCodec):
        raise InputError(
            "only a forecaster runs on its own output.",
            found=f"a run of {run.recipe.task}",
            fix="give a run of the task forecast",
        )
    return codec
