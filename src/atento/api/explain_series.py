"""Forecasts of the test part to look at: one of a run, or a few of a comparison.

A trained forecaster as a system of its own: it runs free, and is compared with what it learned from.
The latent path of a trained autoencoder, beside windows and what it writes from their latents.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from atento.api.run import Run
from atento.data.series import Past, Series
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.layers.losses import median_shares
from atento.metrics.forecasts import is_path
from atento.metrics.latents import foretell_steps
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.autoencode.latents import latent_path
from atento.tasks.autoencode.metrics import NEIGHBOURS
from atento.tasks.forecast.baselines import last_step, last_value, ridge, seasonal
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.rollout import forecasts, median_of
from atento.tasks.task import Baseline, Question
from atento.views.forecast import forecast_view
from atento.views.latents import latent_view
from atento.views.phase import phase_view
from atento.views.report.standings import ranked

BESIDE: tuple[Callable[[], Baseline], ...] = (seasonal, ridge, last_value)  # simple models drawn beside a forecast
PLACES = (0.1, 0.5, 0.9)  # of the test part, in the order of its rows
WORST = 2


def look_at_forecast(run: Run, asked: str = "") -> dict[str, Any]:
    """A forecast of the test part, as plain data: the one that a series or a time names, else the one in the middle."""
    codec = codec_of(run)
    bundle = run.predictor.bundle
    reading = bundle.read()
    questions = reading.test or reading.valid
    if not len(questions):
        raise InputError(
            "there is nothing to look at.", found="no test part", fix="train with a test part: data.split=70/10/20"
        )
    question = find_question(questions, asked)
    said = {bundle.recipe.model.name: run.predictor.answer([question.source])[0].value}
    for make in (last_step, ridge) if is_path(codec.frame.channels) else BESIDE:
        baseline = make()
        baseline.fit([series for series, _ in reading.train], [frame for _, frame in reading.train])
        said[baseline.name] = baseline.predict([question.source])[0]
    return view_of(codec, question, said, data=reading.name)


def makes_forecasts(run: Run) -> bool:
    """Whether it is a run of series."""
    return isinstance(run.predictor.bundle.codec, SeriesCodec | WindowCodec)


def past_named(run: Run, asked: str) -> Any:
    """The past of the test part that goes by these words."""
    bundle = run.predictor.bundle
    reading = bundle.read()
    return find_question(reading.test or reading.valid, asked).source


def find_question(questions: Sequence[Question], asked: str) -> Question:
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


def view_of(codec: SeriesCodec, question: Question, said: Mapping[str, Any], *, data: str = "") -> dict[str, Any]:
    """One forecast beside what came."""
    return forecast_view(
        question.source.values,
        question.references[0],
        said,
        codec.frame.channels,
        shares=median_shares(codec.levels),
        levels=codec.levels,
        title=str(question.source),
        data=data,
        step=str(codec.frame.step),
    )


def exhibited(
    codec: Any, questions: Sequence[Question], rows: Sequence[dict[str, Any]], outputs: Mapping[str, Sequence[Any]]
) -> list[dict[str, Any]]:
    """For a report: a few forecasts of the best trained model, then its worst; nothing of other tasks."""
    board = {"rows": list(rows), "smaller_is_better": True}
    trained = [row for row in ranked(board) if not row["baseline"]] if isinstance(codec, SeriesCodec) else []
    if not trained or not len(questions):
        return []
    best = trained[0]
    beside = [make().name for make in BESIDE]
    names = [best["model"], *(name for name in beside if outputs.get(name))]
    places = {int(place * (len(questions) - 1)): "chosen" for place in PLACES}
    places |= {line["number"]: "worst" for line in best["worst"][:WORST]}
    found = []
    for at, kind in places.items():
        said = {name: with_quantiles(outputs[name][0][at]) for name in names}
        found.append({**view_of(codec, questions[at], said), "kind": kind})
    return found


def with_quantiles(value: Any) -> Any:
    """(H, C) -> (H, C, 1); anything else as it is."""
    array = np.asarray(value)
    return array[..., None] if array.ndim == 2 else array


def codec_of(run: Run) -> SeriesCodec:
    """The codec of a forecaster; other runs make no forecasts."""
    codec = run.predictor.bundle.codec
    if not isinstance(codec, SeriesCodec):
        fix = "--what phase" if run.recipe.task == "autoencode" else "--what attention or steps"
        raise InputError("only a run of the task forecast makes forecasts.", found=run.recipe.task, fix=fix)
    return codec


# Axes: R runs, L past, T time, C channels.

STEPS = 3000  # of a free run that is drawn
LEAST = 8


def free_runs(run: Run, pasts: ArrayLike, steps: int, *, series: str = "") -> Numbers:
    """What the model goes on with after pasts (R, ≥ L, C), each from its own output: (R, steps, C)."""
    codec = dynamics_codec_of(run)
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
    codec = dynamics_codec_of(run)
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


def dynamics_codec_of(run: Run) -> SeriesCodec:
    """The codec of a forecaster; other runs have no phase."""
    codec = run.predictor.bundle.codec
    if not isinstance(codec, SeriesCodec):
        raise InputError(
            "only a forecaster runs on its own output.",
            found=f"a run of {run.recipe.task}",
            fix="give a run of the task forecast",
        )
    return codec


WINDOWS = 6  # shown beside what is written from them
MOST = 20_000  # places of a path


def presses(run: Run) -> bool:
    """Whether it is an autoencoder's run."""
    return isinstance(run.predictor.bundle.codec, WindowCodec)


def look_at_latents(run: Run) -> dict[str, Any]:
    """The path of the first series in the training and in the test time, as plain data."""
    bundle = run.predictor.bundle
    codec = bundle.codec
    reading = bundle.read()
    questions = reading.test or reading.valid
    if not len(questions):
        raise InputError(
            "there is nothing to look at.", found="no test part", fix="train with a test part: data.split=70/15/15"
        )
    first = questions[0].source.series
    held = [question.source for question in questions if question.source.series == first][:MOST]
    series = next((one for one, _ in reading.train if one.name == first), reading.train[0][0])
    before = latent_path(run.module, codec, windows_of(series, codec.frame.look_back))
    after = latent_path(run.module, codec, held)
    some = held[:: -(-len(held) // WINDOWS)]
    answers = run.predictor.answer(some)
    windows = np.stack([past.values for past in some])
    recreated = np.stack(
        [
            answer.value[: past.values.size].reshape(past.values.shape)
            for past, answer in zip(some, answers, strict=True)
        ]
    )
    scores = {name: value for name, (value, *_) in run.metrics["scores"].items() if name in ("mse", "r2")}
    return latent_view(
        before,
        after,
        windows,
        recreated,
        frame=codec.sizes.frame,
        channels=codec.frame.channels,
        facts={**scores, "next step": foretell_steps([before], [after], neighbours=NEIGHBOURS).r2},
        model=bundle.recipe.model.name,
        data=reading.name,
    )


def windows_of(series: Series, rows: int) -> list[Past]:
    """Every window of a series; of a very long one its last."""
    return [
        Past(
            series.name, series.when(end - 1), series.values[end - rows : end], np.zeros((rows, 0)), series.start + end
        )
        for end in range(max(rows, len(series) - MOST), len(series) + 1)
    ]
