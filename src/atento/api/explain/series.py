"""What a trained model of series can show of itself: forecasts of the test part, a free run, a path of latents.

A free run begins with a past and goes on from the model's own output. Every function takes the `Predictor` of a run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from atento.data.builtin.dynamics import LYAPUNOV_PER_ROW
from atento.data.series import Past, Series
from atento.data.series.frequency import date_range
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.layers.losses import median_weights
from atento.metrics.bootstrap import Runs
from atento.metrics.forecasts import are_coordinates
from atento.metrics.latents import predict_steps
from atento.predictor import Predictor
from atento.tasks.autoencode.autoencode import latent_path
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.autoencode.metrics import NEIGHBOURS
from atento.tasks.baselines import is_baseline, no_network
from atento.tasks.forecast.baselines import last_step, last_value, ridge, seasonal
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.rollout import forecasts, median_of
from atento.tasks.task import Baseline, Dataset, EvaluationExample, Task
from atento.views.forecast import ForecastView, forecast_view
from atento.views.latents import LatentView, latent_view
from atento.views.phase import PhaseView, phase_view
from atento.views.report.board import Comparison

# Axes: R runs, L past, T time, C channels.

BESIDE: tuple[Callable[[], Baseline], ...] = (seasonal, ridge, last_value)  # simple models drawn beside a forecast
PLACES = (0.1, 0.5, 0.9)  # of the test part, in the order of its rows
WORST = 2
STEPS, LEAST = 3000, 8  # most and fewest steps of a free run that is drawn
WINDOWS = 6  # shown beside what is reconstructed from their latents
MOST = 20_000  # windows of a path of latents


def look_at_forecast(predictor: Predictor, asked: str = "") -> ForecastView:
    """A forecast of the test part: the one that a series or a time names, else the one in the middle."""
    codec = codec_of(predictor)
    bundle = predictor.bundle
    reading = bundle.read()
    question = find_question(held_out(reading), asked)
    predicted = {bundle.recipe.model.name: predictor.answer([question.source])[0].value}
    for make in (last_step, ridge) if are_coordinates(codec.frame.channels) else BESIDE:
        baseline = make()
        baseline.fit([series for series, _ in reading.train], [frame for _, frame in reading.train])
        predicted[baseline.name] = baseline.predict([question.source])[0]
    return view_of(codec, question, predicted, data=reading.name)


def source_of(predictor: Predictor, text: str) -> Any:
    """The text itself; of a model of series, the past of the test part that goes by that name."""
    bundle = predictor.bundle
    if bundle.task.reading.kind == "series" and not isinstance(text, str):
        raise InputError(
            "a forecast of the test part is explained, by its name.",
            found=f"an object of type {type(text).__name__}",
            fix="pass the name of a series or a time; '' takes the one in the middle",
        )
    return find_question(held_out(bundle.read()), text).source if bundle.task.reading.kind == "series" else text


def held_out(reading: Dataset) -> Sequence[EvaluationExample]:
    """The test part, or where there is none the validation part; without either there is nothing to look at."""
    questions = reading.test or reading.valid
    if not len(questions):
        raise InputError(
            "there is nothing to look at.", found="no test part", fix="train with a test part: data.split=70/10/20"
        )
    return questions


def find_question(questions: Sequence[EvaluationExample], asked: str) -> EvaluationExample:
    """The first one whose words hold what is asked; without words the one in the middle."""
    if not asked:
        return questions[len(questions) // 2]
    for question in questions:
        if asked in str(question.source):
            return question
    raise InputError(
        "no forecast of the test part goes by that name.",
        found=repr(asked),
        fix=f"name a series or a time, e.g. {str(questions[len(questions) // 2].source)!r}",
    )


def view_of(
    codec: SeriesCodec, question: EvaluationExample, predicted: Mapping[str, Any], *, data: str = ""
) -> ForecastView:
    """One forecast beside the actual values."""
    return forecast_view(
        question.source.values,
        question.references[0],
        predicted,
        codec.frame.channels,
        shares=median_weights(codec.levels),
        levels=codec.levels,
        title=str(question.source),
        data=data,
        step=str(codec.frame.step),
        times=times_of(question.source, codec),
    )


def times_of(past: Past, codec: SeriesCodec) -> list[str]:
    """The timestamps of a past and of the steps to come; nothing where rows are counted."""
    try:
        last = np.datetime64(past.until.replace(" ", "T"), "us")
    except ValueError:
        return []
    if not codec.frame.step.unit:
        return []
    found = date_range(last, codec.frame.step, len(past) + codec.frame.horizon, begin=1 - len(past))
    return [str(time) for time in found.astype("datetime64[s]")]


def exhibited(
    board: Comparison, task: Task, codec: Any, questions: Sequence[EvaluationExample], outputs: Mapping[str, Runs]
) -> list[ForecastView]:
    """For a report: a few forecasts of the best trained model, then its worst; nothing of other tasks."""
    trained = board.trained() if "forecast" in task.answering.views else []
    if not trained or not len(questions):
        return []
    best = trained[0]
    baselines = [make().name for make in BESIDE]
    names = [best.model, *(name for name in baselines if outputs.get(name))]
    places = {int(place * (len(questions) - 1)): "chosen" for place in PLACES}
    places |= {line["number"]: "worst" for line in best.worst[:WORST]}
    found = []
    for at, kind in places.items():
        predicted = {name: with_quantiles(outputs[name][0][at]) for name in names}
        found.append(replace(view_of(codec, questions[at], predicted), kind=kind))
    return found


def with_quantiles(value: Any) -> Any:
    """(H, C) -> (H, C, 1); anything else as it is."""
    array = np.asarray(value)
    return array[..., None] if array.ndim == 2 else array


def codec_of(predictor: Predictor) -> SeriesCodec:
    """The codec of a forecaster; other runs are refused."""
    bundle = predictor.bundle
    if "forecast" not in bundle.task.answering.views:
        others = " or ".join((*bundle.task.answering.views, "attention", "steps"))
        found = f"a run of {bundle.task.name}"
        raise InputError("only a forecaster makes forecasts.", found=found, fix=f"--what {others}")
    return bundle.codec


def free_runs(predictor: Predictor, pasts: ArrayLike, steps: int, *, series: str = "") -> Numbers:
    """What the model generates after pasts (R, ≥ L, C), each from its own output: (R, steps, C)."""
    codec = codec_of(predictor)
    if is_baseline(predictor.module):
        raise no_network(predictor.module, "free run on its own output")
    given = np.asarray(pasts, dtype=np.float64)
    if given.ndim != 3 or steps < 1:
        raise InputError(
            "free runs begin with pasts (runs, rows, channels), and have one step at least.",
            found=f"pasts of shape {given.shape}, steps={steps}",
            fix="give one past as past[None]",
        )
    if codec.frame.covariates:
        raise InputError(
            "a model with future covariates cannot run free.",
            found=", ".join(codec.frame.covariates),
            fix="train one without data.future_covariates",
        )
    name = series if series or len(codec.names) > 1 else codec.names[0]
    rows = given.shape[1]
    sources = [Past(name, f"row {rows - 1}", past, np.zeros((rows + steps, 0)), origin=rows) for past in given]
    module: Any = predictor.module
    found = [median_of(value, codec.levels) for value in forecasts(module, codec, sources, steps)]
    return np.stack(found).astype(np.float64)


def look_at_phase(predictor: Predictor, *, steps: int = 0) -> PhaseView:
    """A free run from where the test part begins, beside the truth."""
    codec = codec_of(predictor)
    bundle = predictor.bundle
    reading = bundle.read()
    past, follows = first_past(reading.test or reading.valid, [series for series, _ in reading.train], codec)
    seen = next((series for series, _ in reading.train if series.name == past.series), reading.train[0][0])
    wanted = steps or max(LEAST, min(STEPS, len(seen)))
    generated = free_runs(predictor, past.values[None], wanted, series=past.series)[0]
    return phase_view(
        seen.values[-wanted:],
        generated,
        follows[:wanted],
        codec.frame.channels,
        model=bundle.recipe.model.name,
        data=reading.name,
        lyapunov=LYAPUNOV_PER_ROW.get(reading.name, 0.0),
    )


def first_past(questions: Sequence[Any], trained: Sequence[Series], codec: SeriesCodec) -> tuple[Past, Numbers]:
    """The first past of the held-out part and the actual values after it; without one, the end of the training part."""
    if not len(questions):
        series, rows = trained[0], codec.frame.look_back
        past = Past(series.name, series.timestamp(len(series) - 1), series.values[-rows:], np.zeros((rows, 0)))
        return past, np.zeros((0, len(codec.frame.channels)))
    first, horizon = questions[0], codec.frame.horizon
    origins = range(0, len(questions), horizon)
    windows = [questions[at] for at in origins if questions[at].source.series == first.source.series]
    return first.source, np.concatenate([window.references[0] for window in windows])


def is_autoencoder(predictor: Predictor) -> bool:
    """Whether the model has latents whose path can be drawn."""
    views = predictor.bundle.task.answering.views
    return "phase" in views and "forecast" not in views


def look_at_latents(predictor: Predictor) -> LatentView:
    """The path of the first series in the training and in the test time."""
    bundle = predictor.bundle
    codec: WindowCodec = bundle.codec
    if is_baseline(predictor.module):
        raise no_network(predictor.module, "path of latents to draw")
    reading = bundle.read()
    questions = held_out(reading)
    first = questions[0].source.series
    held = [question.source for question in questions if question.source.series == first][:MOST]
    series = next((one for one, _ in reading.train if one.name == first), reading.train[0][0])
    module: Any = predictor.module
    before = latent_path(module, codec, windows_of(series, codec.frame.look_back))
    after = latent_path(module, codec, held)
    some = held[:: -(-len(held) // WINDOWS)]
    answers = predictor.answer(some)
    windows = np.stack([past.values for past in some])
    reconstructed = np.stack(
        [
            answer.value[: past.values.size].reshape(past.values.shape)
            for past, answer in zip(some, answers, strict=True)
        ]
    )
    scores = {name: value for name, (value, *_) in predictor.bundle.metrics["scores"].items() if name in ("mse", "r2")}
    return latent_view(
        before,
        after,
        windows,
        reconstructed,
        frame=codec.sizes.frame,
        channels=codec.frame.channels,
        facts={**scores, "next step": predict_steps([before], [after], neighbours=NEIGHBOURS).r2},
        model=bundle.recipe.model.name,
        data=reading.name,
    )


def windows_of(series: Series, rows: int) -> list[Past]:
    """Every window of a series; of a very long one its last."""
    return [
        Past(
            series.name,
            series.timestamp(end - 1),
            series.values[end - rows : end],
            np.zeros((rows, 0)),
            series.start + end,
        )
        for end in range(max(rows, len(series) - MOST), len(series) + 1)
    ]
