"""Reports: of a comparison as it was written, or of a single run."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from atento.api.explain import alignments
from atento.api.folders import BOARD
from atento.api.scoreboard import readable
from atento.bundle import METRICS, OUTPUTS, PREDICTIONS, RECIPE, check_manifest, damaged, read_json, write_atomically
from atento.spec import read_recipe
from atento.tasks.task import Question
from atento.views.report.report import render_report
from atento.views.wording import score


def write_report(folder: Path, *, out: Path | None = None) -> Path:
    """Draw the report of a board's or a run's folder."""
    path = out or folder / "report.html"
    is_board = (folder / BOARD).is_file()
    try:
        page = render_report(read_json(folder, BOARD) if is_board else facts_of_run(folder))
    except (LookupError, TypeError, AttributeError) as error:  # nothing vouches for a board's file
        raise damaged(folder, BOARD if is_board else METRICS, f"{type(error).__name__}: {error}") from None
    write_atomically(path, page.encode())
    return path


def facts_of_run(folder: Path) -> dict[str, Any]:
    """A board of one row."""
    check_manifest(folder)
    metrics = read_json(folder, METRICS)
    recipe = read_recipe(folder / RECIPE)
    value, low, high = metrics["scores"][metrics["metric"]]
    worst = [
        readable({**line, "output": line.get("text", line["output"]), "reference": ", ".join(line["references"])})
        for line in metrics["worst"]
    ]
    row = {
        **metrics,
        "baseline": False,
        "failed": "",
        "tied": True,
        "value": value,
        "low": low,
        "high": high,
        "folder": "",
        "recipe": recipe.to_toml(),
        "worst": worst,
    }
    lines = [json.loads(line) for line in (folder / PREDICTIONS).read_text(encoding="utf-8").splitlines()]
    texts = not (folder / OUTPUTS).exists()  # answers that are arrays belong to sources that only their data holds
    test = [Question(line["source"], tuple(line["references"])) for line in lines] if texts else []
    return {
        **metrics,
        "title": f"{metrics['model']} on {metrics['data']['name']}",
        "created": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        "budget": recipe.train.budget or None,
        "share": recipe.train.budget or None,
        "rows": [row],
        "winner": metrics["model"],
        "ties": [],
        "verdict": [
            f"{metrics['model']}: {metrics['metric']} {score(value)} ({score(low)}–{score(high)}) on the test part."
        ],
        "alignments": alignments(folder, [row], test),
    }
