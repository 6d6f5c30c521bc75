"""Forecast: what comes next in series of numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import nn

from atento.layers.losses import Loss, median_shares
from atento.metrics.bootstrap import Runs
from atento.metrics.forecasts import Judging, by_steps_ahead, forecast_metrics, is_path, path_metrics
from atento.metrics.metric import Metric
from atento.models.build.forecaster import build_forecaster, require_forecaster
from atento.models.forecaster import Forecaster, SeriesBatch
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TrainRecipe
from atento.tasks.forecast import defaults
from atento.tasks.forecast.baselines import BASELINES, Equations, last_step, reads_one_row
from atento.tasks.forecast.closed_form import start_in_closed_form
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.explain import look_at, trace
from atento.tasks.forecast.reading import ask_forecasts, open_series, read_forecasts, tabulate
from atento.tasks.forecast.rollout import as_forecaster, forecasts
from atento.tasks.forecast.windows import EncodedSeries, Frame, TrainingWindows, rows_of, shuffled, stack_windows
from atento.tasks.recognising.series import forecast_series
from atento.tasks.task import Answer, Baseline, Task, Windows

# Axes: H horizon, C channels, Q quantiles (one number: 1).

SHOWN = 3  # numbers at either end of an answer that are written out


def cut_windows(parts: Sequence[EncodedSeries], recipe: TrainRecipe, codec: SeriesCodec) -> Windows:
    """Every window of every part, in a random order."""
    windows = TrainingWindows(parts, codec.frame, steps=codec.steps or codec.frame.horizon)
    return Windows(windows, shuffled(windows, recipe), carried=False, gather=windows.gather)


def build(recipe: ModelRecipe, codec: SeriesCodec) -> Forecaster:
    """Sizes that follow from data are filled in here."""
    return build_forecaster(recipe, codec.sizes, noise=codec.noise, pace=codec.pace)


def loss(module: nn.Module, batch: SeriesBatch, smoothing: float) -> Loss:
    """Squared error, or the quantiles' own, on scale; there are no labels to smooth."""
    return as_forecaster(module).loss(batch)


def forecast(module: nn.Module, codec: SeriesCodec, sources: Sequence[Any], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: (H, C, Q) in the units of the series."""
    steps = recipe.horizon or codec.frame.horizon
    levels = {f"{level:g}": level for level in codec.levels} or None
    return [
        Answer(shown(value), None, value=value, chances=levels) for value in forecasts(module, codec, sources, steps)
    ]


def shown(value: Any) -> str:
    """The first and last steps of the first channel, in a few words."""
    numbers = [f"{number:.4g}" for number in value[:, 0, value.shape[2] // 2]]
    return ", ".join(numbers if len(numbers) <= 2 * SHOWN else [*numbers[:SHOWN], "…", *numbers[-SHOWN:]])


def how_wrong(codec: SeriesCodec, output: Any, references: Sequence[Any]) -> float:
    """The root mean squared error, in spreads of the training part; of many series, in those of what came."""
    said, came = np.asarray(output, dtype=np.float64), np.asarray(references[0], dtype=np.float64)
    steps = min(len(said), len(came))
    point = said[:steps] @ np.asarray(median_shares(codec.levels if said.shape[-1] > 1 else ()))
    came = came[:steps] if came.ndim == 2 else came[:steps] @ np.asarray(median_shares(codec.levels))
    spread = (
        codec.scales.spread[0]
        if len(codec.names) == 1
        else np.maximum(came.std(axis=0), 0.1 * np.abs(came).mean(axis=0))
    )
    return float(np.sqrt(np.square((point - came) / np.maximum(spread, 1e-12)).mean()))


def metrics(codec: SeriesCodec) -> tuple[Metric, ...]:
    """The squared error first, on the scale of each series' training part; of a path also how far off it was."""
    judging = Judging(codec.scales_of, codec.frame.horizon, codec.levels, tuple(median_shares(codec.levels)))
    found = forecast_metrics(judging)
    return (*found, *path_metrics(judging)) if is_path(codec.frame.channels) else found


def bands(
    codec: SeriesCodec, metric: Metric, sources: Sequence[Any], runs: Runs, references: Sequence[Any]
) -> list[dict[str, Any]]:
    """Quality against how far ahead."""
    return by_steps_ahead(metric, sources, runs, references)


def further(codec: SeriesCodec) -> tuple[Callable[[], Baseline], ...]:
    """A thing that moves may go on as it went; where a row decides the next, a polynomial may say how."""
    found: tuple[Callable[[], Baseline], ...] = (last_step,) if is_path(codec.frame.channels) else ()
    return (*found, Equations) if reads_one_row(codec.frame) else found


def sized(recipe: Recipe, train: Sequence[tuple[Any, Frame]], device: str) -> dict[str, Any]:
    """The frame that was guessed is written down, and which columns: another file is then read alike."""
    frame = train[0][1]
    return {
        **defaults.sized(recipe, train, device),
        **{f"data.{key}": text for key, text in frame.keys},
        "data.horizon": frame.horizon,
        "data.look_back": frame.look_back,
    }


FORECAST = Task(
    name="forecast",
    summary="Say what comes next in series of numbers.",
    recognise=forecast_series,
    names=require_forecaster,
    read=read_forecasts,
    ask=ask_forecasts,
    open=open_series,
    learn=SeriesCodec.learn,
    suit=SeriesCodec.suited,
    load=SeriesCodec.load,
    encode=SeriesCodec.encode,
    length=rows_of,
    windows=cut_windows,
    batch=stack_windows,
    build=build,
    start=start_in_closed_form,
    loss=loss,
    answer=forecast,
    look=look_at,
    steps=trace,
    tabulate=tabulate,
    bands=bands,
    wrong=how_wrong,
    metrics=metrics,
    baselines=BASELINES,
    further=further,
    models=defaults.MODELS,
    default_model="linear",
    defaults=defaults.defaults,
    sized=sized,
)
