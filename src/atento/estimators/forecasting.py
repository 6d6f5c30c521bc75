"""The estimator of forecasts: series in a frame, forecasts in a frame of the same kind."""

import csv
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from atento.data.examples.pairs import UnlabelledFile
from atento.errors import InputError
from atento.estimators.estimator import SequenceEstimator
from atento.estimators.frames import Rows
from atento.spec import Recipe
from atento.tasks.forecast.reading import ask_forecasts, open_series, tabulate

Columns = dict[str, list[object]]

LONG = ("unique_id", "ds", "y")
SPLIT = "90/10/0"  # the last rows of each series choose the best step


class ForecasterEstimator(SequenceEstimator):
    """Forecasts of series. X is a long frame `unique_id, ds, y`, or a wide one with a column a channel; an array
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
        """Learn from series; y is not used."""
        given = {key: getattr(self, key) for key in ("horizon", "look_back") if getattr(self, key)}
        with tempfile.TemporaryDirectory() as place:
            path = write_series(X, Path(place))
            self.learn_file(path, {"split": SPLIT, **given})
            self.ends_ = self.ends_of(path)
        self.like_ = form_of(X)
        return self

    def predict(self, X: Rows = None, *, horizon: int | None = None) -> Rows:
        """The forecast after each series of X; without X, after those it was fitted on. A number is a horizon."""
        check_is_fitted(self, "run_")
        if isinstance(X, int | np.integer):
            X, horizon = None, int(X)
        form, ends = self.like_, self.ends_
        if X is not None:
            with tempfile.TemporaryDirectory() as place:
                form, ends = form_of(X), self.ends_of(write_series(X, Path(place)))
        decode = Recipe(decode=self.run_.recipe.decode).with_values({"decode.horizon": horizon or 0}).decode
        answers = self.run_.predictor.answer(ends.sources, decode=decode)
        return form.made(tabulate(ends, answers))

    def score(self, X: Rows, y: Rows = None) -> float:
        """Minus the mean squared error of forecasts at every row of X, in standard deviations of the training part."""
        check_is_fitted(self, "run_")
        bundle = self.run_.predictor.bundle
        with tempfile.TemporaryDirectory() as place:
            asked = ask_forecasts(bundle.recipe.data, str(write_series(X, Path(place))), 0)
        sources = [question.source for question in asked.questions]
        outputs = [answer.judged for answer in self.answers(sources)]
        metric = bundle.task.judging.metrics(bundle.codec)[0].for_sources(sources)
        return -metric.value(outputs, [question.references for question in asked.questions])

    def ends_of(self, path: Path) -> UnlabelledFile:
        """The ends of the series of a file, in the frame the model was trained in; copies, without the other rows."""
        opened = open_series(self.run_.recipe.data, str(path), 0)
        ends = [
            replace(end, values=end.values.copy(), future_covariates=end.future_covariates.copy())
            for end in opened.sources
        ]
        return opened._replace(sources=ends)


@dataclass(frozen=True)
class Form:
    """The form that series were given in, so that forecasts are returned in the same."""

    kind: str  # frame, rows, numbers or columns
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
        numbers = np.array([values for name, values in columns.items() if name not in LONG[:2]])
        return numbers[0] if self.kind == "numbers" else numbers.T


def form_of(X: Rows) -> Form:
    """How X holds its series."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        schema = dict(frame.schema)
        whole = "unique_id" in schema and schema["unique_id"].is_integer()
        dated = "ds" in schema and schema["ds"].is_temporal()
        return Form("frame", whole=whole, dated=dated, backend=str(frame.implementation))
    if isinstance(X, Sequence) and len(X) and isinstance(X[0], Sequence) and not isinstance(X[0], str):
        return Form("rows")
    return Form("numbers" if np.asarray(X).ndim == 1 else "columns")


def write_series(X: Rows, folder: Path) -> Path:
    """The series as a file that every reader takes."""
    columns = columns_by_name(X)
    if not columns or not len(next(iter(columns.values()))):
        raise InputError("X: there are no rows.", found=type(X).__name__, fix="give series with their values")
    path = folder / "series.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*([cell(value) for value in column] for column in columns.values()), strict=True))
    return path


def columns_by_name(X: Rows) -> Columns:
    """The columns of a frame as they are called; of rows `unique_id, ds, y`; of an array y, or y1, y2…"""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {column.name: column.to_list() for column in frame.iter_columns()}
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


def cell(value: object) -> str:
    """A value as it stands in a file; nothing where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return repr(value) if isinstance(value, float) else str(value)
