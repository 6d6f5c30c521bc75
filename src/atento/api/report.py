"""Reports: of a comparison as it was written, or of a single run."""

from datetime import datetime
from pathlib import Path

from atento.api.explain.answers import alignments
from atento.api.folders import BOARD
from atento.bundle import (
    EVENTS,
    METRICS,
    OUTPUTS,
    RECIPE,
    Json,
    check_manifest,
    damaged,
    read_json,
    read_predictions,
)
from atento.reprs import repr_html
from atento.spec import read_recipe
from atento.tasks.task import EvaluationExample
from atento.training.events import read_events
from atento.training.schedules import learning_rate
from atento.views.report.board import Comparison, Row
from atento.views.report.report import render_report
from atento.views.wording import quality
from atento.writing import write_atomically

REPORT = "report.html"


def write_report(folder: Path, *, out: Path | None = None) -> Path:
    """Draw the report of a board's or a run's folder."""
    path = out or folder / REPORT
    is_board = (folder / BOARD).is_file()
    try:
        board = Comparison.from_json(read_json(folder, BOARD)) if is_board else board_of_run(folder)
        for row in board.rows:
            row.training = training_curve(folder / row.folder if is_board else folder)
        page = render_report(board, folder=str(folder))
    except (LookupError, TypeError, AttributeError) as error:  # nothing vouches for a board's file
        raise damaged(folder, BOARD if is_board else METRICS, f"{type(error).__name__}: {error}") from None
    write_atomically(path, page.encode())
    return path


def training_curve(folder: Path) -> list[Json]:
    """A point for each event of training: loss, learning rate and examples per second; nothing of a baseline."""
    events = [event for event in read_events(folder / EVENTS) if event.get("event") == "step"]
    if not events or not (folder / RECIPE).is_file():
        return []
    recipe = read_recipe(folder / RECIPE)
    return [
        {
            "elapsed": event.get("elapsed"),
            "step": event["step"],
            "loss": event.get("loss"),
            "learning rate": learning_rate(recipe, event["step"], event.get("progress", 0.0)),
            "examples per second": event.get("examples_per_second"),
        }
        for event in events
    ]


def run_html(folder: Path) -> str:
    """What a notebook shows of a run: its scores and its learning curve."""
    board = board_of_run(folder, with_attention=False)
    for row in board.rows:
        row.training = training_curve(folder)
    return repr_html(board)


def board_of_run(folder: Path, *, with_attention: bool = True) -> Comparison:
    """A comparison of one row."""
    check_manifest(folder)
    metrics = read_json(folder, METRICS)
    recipe = read_recipe(folder / RECIPE)
    value, low, high = metrics["scores"][metrics["metric"]]
    row = Row.from_metrics(metrics, value=value, low=low, high=high, tied=True, recipe=recipe.to_toml())
    texts = not (folder / OUTPUTS).exists()  # answers that are arrays belong to sources that only their data holds
    lines = read_predictions(folder) if texts and with_attention else []
    test = [EvaluationExample(line["source"], tuple(line["references"])) for line in lines]
    budget = recipe.train.budget or None
    verdict = f"{row.model}: {metrics['metric']} {quality(value, low, high)} on the test part."
    return Comparison.from_json(
        {
            **metrics,
            "title": f"{row.model} on {metrics['data']['name']}",
            "created": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
            **{"budget": budget, "share": budget, "winner": row.model, "verdict": [verdict]},
            "writes": "exposure" in metrics,
            "rows": [row.to_json()],
            "alignments": [view.to_json() for view in alignments(folder, [row], test)],
        }
    )
