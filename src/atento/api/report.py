"""Reports: of a comparison as it was written, or of a single run."""

from datetime import datetime
from pathlib import Path

from atento.api.explain import alignments
from atento.api.folders import BOARD
from atento.bundle import (
    METRICS,
    OUTPUTS,
    RECIPE,
    check_manifest,
    damaged,
    read_json,
    read_predictions,
    write_atomically,
)
from atento.spec import read_recipe
from atento.tasks.task import EvaluationExample
from atento.views.report.board import Comparison, Row
from atento.views.report.report import render_report
from atento.views.wording import quality

REPORT = "report.html"


def write_report(folder: Path, *, out: Path | None = None) -> Path:
    """Draw the report of a board's or a run's folder."""
    path = out or folder / REPORT
    is_board = (folder / BOARD).is_file()
    try:
        page = render_report(Comparison.from_json(read_json(folder, BOARD)) if is_board else board_of_run(folder))
    except (LookupError, TypeError, AttributeError) as error:  # nothing vouches for a board's file
        raise damaged(folder, BOARD if is_board else METRICS, f"{type(error).__name__}: {error}") from None
    write_atomically(path, page.encode())
    return path


def board_of_run(folder: Path) -> Comparison:
    """A comparison of one row."""
    check_manifest(folder)
    metrics = read_json(folder, METRICS)
    recipe = read_recipe(folder / RECIPE)
    value, low, high = metrics["scores"][metrics["metric"]]
    row = Row.from_metrics(metrics, value=value, low=low, high=high, tied=True, recipe=recipe.to_toml())
    texts = not (folder / OUTPUTS).exists()  # answers that are arrays belong to sources that only their data holds
    lines = read_predictions(folder) if texts else []
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
