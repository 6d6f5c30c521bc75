"""The forecast task: the next values of series of numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.layers.losses import median_weights
from atento.metrics.forecasts import (
    ForecastScoring,
    are_coordinates,
    channel_errors,
    forecast_metrics,
    horizon_bands,
    path_metrics,
)
from atento.metrics.metric import Metric
from atento.models.builders.forecaster import build_forecaster, require_forecaster
from atento.models.ensemble import ForecasterEnsemble
from atento.models.forecaster import Forecaster, ForecastModel, SeriesBatch
from atento.spec import DecodeRecipe, ModelRecipe, TrainRecipe
from atento.tasks.forecast import defaults
from atento.tasks.forecast.baselines import BASELINES, PolynomialBaseline, last_step, reads_one_row
from atento.tasks.forecast.closed_form import start_in_closed_form
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.conformal import conformalize
from atento.tasks.forecast.explain import forward_pass, look_at, trace
from atento.tasks.forecast.leaks import require_no_leak
from atento.tasks.forecast.reading import ask_forecasts, open_series, read_forecasts, tabulate
from atento.tasks.forecast.rollout import Forecast, forecasts, median_of
from atento.tasks.forecast.valid_time import SUMMARY, VALID_TIME, valid_time
from atento.tasks.forecast.windows import EncodedSeries, TrainingWindows, shuffled, stack_windows
from atento.tasks.recognising.series import forecast_series
from atento.tasks.task import (
    Answer,
    Answering,
    Baseline,
    Defaults,
    Details,
    EvaluationExample,
    ExtraBaseline,
    Judging,
    Learning,
    Reading,
    RolloutMetric,
    Task,
    Windows,
)

# Axes: H horizon, C channels, Q quantiles (one number: 1).

MOST_CHANNELS = 100  # whose errors are told one by one
SHOWN = 3  # numbers at either end of an answer that are written out


def cut_windows(
    parts: Sequence[EncodedSeries], recipe: TrainRecipe, codec: SeriesCodec
) -> Windows[SeriesBatch, SeriesBatch]:
    """Every window of every part, in a random order."""
    windows = TrainingWindows(parts, codec.frame, steps=codec.steps or codec.frame.horizon)
    return Windows(windows, shuffled(windows, recipe), carried=False, gather=windows.gather)


def build(recipe: ModelRecipe, codec: SeriesCodec) -> Forecaster:
    """A forecaster with the sizes that follow from the data."""
    return build_forecaster(recipe, codec.sizes, noise=codec.noise, step_scale=codec.pace)


def join(members: Sequence[ForecastModel]) -> ForecastModel:
    """The mean of forecasts, of quantiles level by level."""
    return ForecasterEnsemble([member for member in members if isinstance(member, Forecaster)])


def forecast(module: ForecastModel, codec: SeriesCodec, sources: Sequence[Past], recipe: DecodeRecipe) -> list[Answer]:
    """A forecast (H, C, Q) for each source, in the units of its series; every command answers through this function."""
    steps = recipe.horizon or codec.frame.horizon
    levels = {f"{level:g}": level for level in codec.levels} or None
    return [
        Answer(shown(value), None, value=value, probabilities=levels)
        for value in forecasts(module, codec, sources, steps)
    ]


def shown(value: Forecast) -> str:
    """The first and last steps of the first channel, in a few words."""
    numbers = [f"{number:.4g}" for number in value[:, 0, value.shape[2] // 2]]
    return ", ".join(numbers if len(numbers) <= 2 * SHOWN else [*numbers[:SHOWN], "…", *numbers[-SHOWN:]])


def distance(codec: SeriesCodec, one: Numbers, other: Numbers) -> float:
    """The largest difference of two forecasts (H, C, Q), in the largest standard deviation of the channel."""
    if one.shape != other.shape:
        return float("inf")
    std = codec.scales.std.max(axis=0)[:, None]
    gaps = np.abs(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)) / std
    return float(gaps.max(initial=0.0))


def how_wrong(codec: SeriesCodec, output: ArrayLike, references: Sequence[ArrayLike]) -> float:
    """The root mean squared error, in standard deviations of the training part; of many series, of the target."""
    predicted, target = np.asarray(output, dtype=np.float64), np.asarray(references[0], dtype=np.float64)
    steps = min(len(predicted), len(target))
    point = median_of(predicted[:steps], codec.levels)
    target = target[:steps] if target.ndim == 2 else median_of(target[:steps], codec.levels)
    std = (
        codec.scales.std[0]
        if len(codec.names) == 1
        else np.maximum(target.std(axis=0), 0.1 * np.abs(target).mean(axis=0))
    )
    return float(np.sqrt(np.square((point - target) / np.maximum(std, 1e-12)).mean()))


def scoring_of(codec: SeriesCodec) -> ForecastScoring:
    """What the metrics of these forecasts depend on."""
    return ForecastScoring(codec.scales_of, codec.frame.horizon, codec.levels, tuple(median_weights(codec.levels)))


def details(
    codec: SeriesCodec, questions: Sequence[EvaluationExample], predictions: Sequence[Any], answers: object
) -> Details:
    """The errors of each channel in the units of the file; of very many channels none."""
    channels = codec.frame.channels
    if len(channels) > MOST_CHANNELS:
        return {}
    references = [question.references for question in questions]
    return {"channels": channel_errors(predictions, references, channels, scoring_of(codec))}


def metrics(codec: SeriesCodec) -> tuple[Metric, ...]:
    """The squared error first, on the scale of each series' training part; of a path also how far off it was."""
    judging = scoring_of(codec)
    found = forecast_metrics(judging)
    return (*found, *path_metrics(judging)) if are_coordinates(codec.frame.channels) else found


def baseline_answers(
    codec: SeriesCodec, baseline: Baseline, sources: Sequence[Past], recipe: DecodeRecipe
) -> list[Answer]:
    """The forecasts of a baseline, as many steps as it learned or fewer."""
    steps, learned = recipe.horizon or codec.frame.horizon, codec.frame.horizon
    if steps > learned:
        raise InputError(
            f"{baseline.name} forecasts {learned} steps, and not on from its own output.",
            found=f"decode.horizon={steps}",
            fix=f"--set decode.horizon={learned}",
        )
    return [Answer(shown(value[:steps]), None, value=value[:steps]) for value in baseline.predict(sources)]


EXTRA: tuple[ExtraBaseline[SeriesCodec], ...] = (
    ExtraBaseline(last_step, lambda codec: are_coordinates(codec.frame.channels)),
    ExtraBaseline(PolynomialBaseline, lambda codec: reads_one_row(codec.frame)),
)


FORECAST: Task[SeriesCodec, EncodedSeries, SeriesBatch, ForecastModel] = Task(
    name="forecast",
    summary="Say what comes next in series of numbers.",
    reading=Reading(
        kind="series",
        recognise=forecast_series,
        read=read_forecasts,
        read_labelled=ask_forecasts,
        read_unlabelled=open_series,
    ),
    learning=Learning(
        check_name=require_forecaster,
        learn=SeriesCodec.learn,
        bind=SeriesCodec.suited,
        load=SeriesCodec.load,
        require_no_leak=require_no_leak,
        encode=SeriesCodec.encode,
        length=lambda codec, part: len(part.values),
        windows=cut_windows,
        batch=lambda codec, windows: stack_windows(windows),
        build=build,
        ensemble=join,
        closed_form=start_in_closed_form,
        conformalize=conformalize,
        loss=lambda module, batch, smoothing: module.loss(batch),  # there are no labels to smooth
    ),
    answering=Answering(
        answer=forecast,
        look=look_at,
        trace=trace,
        forward_pass=forward_pass,
        tabulate=tabulate,
        views=("forecast", "phase"),
        source_notes=SeriesCodec.far_levels,
    ),
    judging=Judging(
        bands=lambda codec, *judged: horizon_bands(*judged),
        details=details,
        distance=distance,
        error=how_wrong,
        metrics=metrics,
        baselines=BASELINES,
        extra_baselines=EXTRA,
        baseline_answers=baseline_answers,
        rollouts=RolloutMetric(VALID_TIME, SUMMARY, valid_time),
    ),
    defaults=Defaults(models=defaults.MODELS, model="linear", values=defaults.defaults, data_values=defaults.sized),
)
