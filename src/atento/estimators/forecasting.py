"""The estimator of forecasts: series in a frame, forecasts in a frame of the same kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from atento.api.advice import advice_in
from atento.api.given import as_source, count_from_zero
from atento.data.examples.pairs import UnlabelledFile
from atento.data.files.memory import MemoryFile
from atento.data.sources.in_memory import columns_of, hold_columns, index_columns
from atento.errors import InputError
from atento.estimators.estimator import SequenceEstimator
from atento.estimators.frames import Rows
from atento.spec import Recipe
from atento.tasks.forecast.reading import ask_forecasts, open_series, tabulate

Columns = dict[str, list[object]]

LONG = ("unique_id", "ds", "y")
SPLIT = "90/10/0"  # the last rows of each series choose the best step


class ForecasterEstimator(SequenceEstimator):
    """Forecasts of series. X is a long frame `unique_id, ds, y`, or a wide one with a column per channel; an array
    (rows,) or (rows, channels); or a list of rows (series, time, value). `horizon` and `look_back` of 0 are guessed.
    """

    task = "forecast"

    def __init__(
        self,
        model: str = "auto",
        *,
        horizon: int = 0,
        look_back: int = 0,
        budget: str | float | None = None,
        steps: int = 0,
        epochs: int = 0,
        random_state: int = 0,
        settings: Mapping[str, object] | None = None,
        device: str = "auto",
        out: str | None = None,
    ) -> None:
        """The parameters of every estimator, and two of series.

        model: name of the model; `atento models` lists them.
        horizon: how many steps are forecast; 0: guessed.
        look_back: how many past steps the model reads; 0: guessed.
        budget: training time, e.g. "60s", or seconds.
        steps: how many optimizer steps to train; 0: no such limit.
        epochs: how many passes over the data to train; 0: no such limit.
        random_state: the seed of weights, order and dropout.
        settings: recipe keys and values, e.g. {"data.gaps": "linear"}.
        device: "auto", "cpu" or "cuda".
        out: folder of the run; None: a temporary one that is deleted with the estimator.
        """
        super().__init__(
            model,
            budget=budget,
            steps=steps,
            epochs=epochs,
            random_state=random_state,
            settings=settings,
            device=device,
            out=out,
        )
        self.horizon = horizon
        self.look_back = look_back

    def fit(self, X: Rows, y: Rows = None) -> "ForecasterEstimator":
        """Learn from series.

        X: the series, in a frame, an array or a list of rows; a column of pandas with times in its index.
        y: not used.
        """
        given = {key: getattr(self, key) for key in ("horizon", "look_back") if getattr(self, key)}
        file = hold_series(X)
        self.learn_file(file, {"split": SPLIT, **given})
        self.ends_ = self.ends_of(file)
        self.like_ = form_of(X)
        return self

    def predict(self, X: Rows = None, *, horizon: int | None = None) -> Rows:
        """The forecast after each series.

        X: other series; without any, the forecast goes on after those it was fitted on. A number is a horizon.
        horizon: how many steps; None: as many as it was fitted for.
        """
        check_is_fitted(self, "run_")
        if isinstance(X, int | np.integer):
            X, horizon = None, int(X)
        form, ends = self.like_, self.ends_
        if X is not None:
            form, ends = form_of(X), self.ends_of(hold_series(X))
        decode = Recipe(decode=self.run_.recipe.decode).with_values({"decode.horizon": horizon or 0}).decode
        answers = self.run_.predictor.answer(ends.sources, decode=decode)
        return form.made(tabulate(ends._replace(names=(), time_format=""), answers))  # the usual names of frames

    def score(self, X: Rows, y: Rows = None) -> float:
        """Minus the mean squared error of forecasts at every row, in standard deviations of the training part.

        X: series.
        y: not used.
        """
        check_is_fitted(self, "run_")
        bundle = self.run_.predictor.bundle
        file = hold_series(X)
        with as_source(file.name), advice_in(partial(count_from_zero, file.name)):
            asked = ask_forecasts(bundle.recipe.data, file.name, 0)
        sources = [question.source for question in asked.questions]
        outputs = [answer.judged for answer in self.answers(sources)]
        metric = bundle.task.judging.metrics(bundle.codec)[0].for_sources(sources)
        return -metric.value(outputs, [question.references for question in asked.questions])

    def ends_of(self, file: MemoryFile) -> UnlabelledFile:
        """The ends of the series of a file, in the frame the model was trained in; copies, without the other rows.

        file: the series in memory.
        """
        with as_source(file.name), advice_in(partial(count_from_zero, file.name)):
            opened = open_series(self.run_.recipe.data, file.name, 0)
        ends = [
            replace(end, values=end.values.copy(), future_covariates=end.future_covariates.copy())
            for end in opened.sources
        ]
        return opened._replace(sources=ends)


@dataclass(frozen=True)
class Form:
    """The form that series were given in, so that forecasts are returned in the same."""

    kind: str  # frame, rows, numbers, columns, or indexed: a column of pandas with times in its index
    whole: bool = False  # whether the names of series are whole numbers
    dated: bool = False  # whether times are dates of the library
    backend: Any = None  # of a frame, its library by name

    def made(self, table: Columns) -> Rows:
        """A frame of the same library, an array, or a list of rows."""
        columns = dict(table)
        if self.whole and "unique_id" in columns:
            columns["unique_id"] = [int(str(name)) for name in columns["unique_id"]]
        if self.dated:
            columns["ds"] = [datetime.fromisoformat(str(when)) for when in columns["ds"]]
        if self.kind == "frame":
            return nw.from_dict(columns, backend=self.backend).to_native()
        if self.kind == "rows":
            return [tuple(row) for row in zip(*columns.values(), strict=True)]
        if self.kind == "indexed":
            pandas = import_module("pandas")  # which the series came from
            times = pandas.DatetimeIndex(list(map(str, columns.pop("ds"))))
            return pandas.Series(next(iter(columns.values())), index=times)
        numbers = np.array([values for name, values in columns.items() if name not in LONG[:2]])
        return numbers[0] if self.kind == "numbers" else numbers.T


def has_times(X: Rows) -> bool:
    """Whether X is a column of pandas with times in its index."""
    return hasattr(X, "index") and getattr(X, "ndim", 0) == 1 and bool(index_columns(X, taken=()))


def form_of(X: Rows) -> Form:
    """How X holds its series."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        schema = dict(frame.schema)
        whole = "unique_id" in schema and schema["unique_id"].is_integer()
        dated = "ds" in schema and schema["ds"].is_temporal()
        return Form("frame", whole=whole, dated=dated, backend=str(frame.implementation))
    if has_times(X):
        return Form("indexed")
    if isinstance(X, Sequence) and len(X) and isinstance(X[0], Sequence) and not isinstance(X[0], str):
        return Form("rows")
    return Form("numbers" if np.asarray(X).ndim == 1 else "columns")


def hold_series(X: Rows) -> MemoryFile:
    """The series as a file in memory that every reader takes."""
    columns = columns_by_name(X)
    if not columns or not len(next(iter(columns.values()))):
        raise InputError("X: there are no rows.", found=type(X).__name__, fix="give series with their values")
    return hold_columns(columns, "X")


def columns_by_name(X: Rows) -> Columns:
    """The columns of a frame as they are called, and an index of times; of rows `unique_id, ds, y`; of an array y, or
    y1, y2…
    """
    frame = nw.from_native(X, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.Series):
        return columns_of(X)
    form = form_of(X)
    if form.kind == "rows":
        if any(len(row) != len(LONG) for row in X):
            raise InputError(
                "X: a row is a series, a time and a value.", found=repr(X[0])[:80], fix="('a', '2024-01-31', 3.5)"
            )
        return dict(zip(LONG, map(list, zip(*X, strict=True)), strict=True))
    values = np.asarray(X, dtype=np.float64)
    if values.ndim not in (1, 2):
        raise InputError("X: an array of series has one or two axes.", found=str(values.shape), fix="(rows, channels)")
    if values.ndim == 1:
        return {"y": values.tolist()}
    return {f"y{at + 1}": column.tolist() for at, column in enumerate(values.T)}
