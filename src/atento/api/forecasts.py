"""Forecasts of the test part to look at: one of a run, or a few of a comparison."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from atento.api.run import Run
from atento.errors import InputError
from atento.layers.quantiles import median_shares
from atento.looking.forecast_view import forecast_view
from atento.looking.standings import ranked
from atento.metrics.displacements import is_path
from atento.tasks.autoencode_codec import WindowCodec
from atento.tasks.forecast_baselines import last_step, last_value, ridge, seasonal
from atento.tasks.forecast_codec import SeriesCodec
from atento.tasks.task import Baseline, Question

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
