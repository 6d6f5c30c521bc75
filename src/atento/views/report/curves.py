"""The data of the learning curves: the metrics of each validation, the training loss and the learning rate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from atento.bundle import Json
from atento.views.report.board import Comparison, Row
from atento.views.report.chart_data import ChartAxis, ChartData, ChartSeries, Column, thinned
from atento.views.report.charts import beyond, curve_points
from atento.views.wording import is_number

TIMES = ("elapsed", "step", "epoch")
TRAINING = {"loss": "training loss", "learning rate": "learning rate", "examples per second": "training examples/s"}
HELD_OUT = "validation loss"


def learning_data(board: Comparison) -> ChartData:
    """Every model's curves against seconds, steps or epochs; baselines are level lines."""
    aside = {row.model for row in beyond(board)}
    rows = [row for row in board.ranked() if row.curve or (row.baseline and row.model not in aside)]
    return ChartData(
        name="learning",
        label=f"{board.metric} on validation data and training loss of {len(rows)} models",
        x=[
            ChartAxis(key="elapsed", name="time of training", kind="duration"),
            ChartAxis(key="step", name="steps"),
            ChartAxis(key="epoch", name="epochs"),
        ],
        y=[*validation_axes(board, rows), *training_axes(rows)],
        series=[series_of(board, row) for row in rows],
        smoothing=True,
    )


def validation_axes(board: Comparison, rows: Sequence[Row]) -> list[ChartAxis]:
    """The headline, then the other metrics that validations gave."""
    known = {key for row in rows for point in row.curve for key in point}
    names = [board.metric, *(name for name in board.metrics if name in known and name != board.metric)]
    return [
        ChartAxis(
            key=name,
            name=f"{name} on validation data",
            table="validation",
            smaller_is_better=board.smaller_is_better if name == board.metric else None,
        )
        for name in names
    ]


def training_axes(rows: Sequence[Row]) -> list[ChartAxis]:
    """What the events of training tell, where there are any; the validation loss stands beside the training loss."""
    known = {key for row in rows for point in training_points(row)[:1] for key in point}
    names = TRAINING
    if any(HELD_OUT in point for row in rows for point in row.curve):
        names = {**TRAINING, "loss": "loss (dashed: on validation data)"}
    axes = [ChartAxis(key=key, name=name, table="training") for key, name in names.items() if key in known]
    return [replace(axis, beside=HELD_OUT) if axis.key == "loss" and names is not TRAINING else axis for axis in axes]


def series_of(board: Comparison, row: Row) -> ChartSeries:
    """One model's curves; of a baseline its level on test data."""
    name = board.metric
    wanted = {*TIMES, *board.metrics, HELD_OUT}
    validations = [
        {**{key: value for key, value in point.items() if key in wanted}, name: point.get("value")}
        for point in row.curve
        if is_number(point.get("elapsed"))
    ]
    tables = {"validation": columns_of(row, validations, by=name), "training": columns_of(row, training_points(row))}
    return ChartSeries(
        name=row.model,
        colour=board.series()[row.model],
        tables={key: table for key, table in tables.items() if table},
        levels={name: row.interval.value} if row.baseline else {},
        style="baseline" if row.baseline else "",
    )


def training_points(row: Row) -> Sequence[Json]:
    """The events of training; of a row that has none, the loss before each validation."""
    if row.training:
        return row.training
    kept = {*TIMES, *TRAINING}
    points = [point for point in row.curve if is_number(point.get("loss")) and is_number(point.get("elapsed"))]
    return [{key: value for key, value in point.items() if key in kept} for point in points]


def columns_of(row: Row, points: Sequence[Mapping[str, float]], by: str = "loss") -> dict[str, list[float | None]]:
    """Points as columns, with the epochs that belong to their steps; of a long run, thinned."""
    if not points:
        return {}
    share = row.epochs / row.steps if row.steps else 0.0
    known = [name for name in dict.fromkeys(key for point in points for key in point) if name not in TIMES]
    columns: dict[str, Column] = {
        "elapsed": [point.get("elapsed") for point in points],
        "step": [point.get("step") for point in points],
        **({"epoch": [point.get("step", 0) * share for point in points]} if share else {}),
        **{name: [point.get(name) for point in points] for name in known},
    }
    return thinned(columns, by)


def is_thinned(board: Comparison, data: ChartData) -> bool:
    """Whether a curve of the page has fewer points than the run had."""
    shown = {
        series.name: sum(len(next(iter(table.values()))) for table in series.tables.values()) for series in data.series
    }
    whole = {row.model: len(curve_points(row)) + len(training_points(row)) for row in board.ranked()}
    return any(count < whole[name] for name, count in shown.items())
