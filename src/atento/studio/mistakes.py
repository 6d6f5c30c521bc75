"""Where a trained model is wrong on its test part, as data: worst answers, classes, confusion matrix, slices."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atento.api.folders import find_model
from atento.bundle import (
    METRICS,
    OUTPUTS,
    RECIPE,
    VOCABULARY,
    Json,
    blaming,
    check_manifest,
    read_json,
    read_predictions,
)
from atento.data.records import LIST_SEPARATOR
from atento.spec import read_recipe
from atento.studio.looking import finite
from atento.tasks.baselines import with_baseline
from atento.tasks.catalogue import TASKS
from atento.tasks.task import Task
from atento.views.report.mistakes import in_line

HASHED = 2**26  # bytes of a file up to which it is checked by its hash: no weights are read here
BETWEEN = " · "  # items of a source that is a list, as a person reads them


def mistakes_of(folder: Path, limit: int = 50, *, expected: str | None = None, predicted: str | None = None) -> Json:
    """The answers of the test part, wrong ones first, and what the metrics say beside the scores. Of `expected` and
    `predicted`, those that are given choose rows: one cell of the confusion matrix, or one of its lines.
    """
    folder = find_model(folder).folder
    check_manifest(folder, hashed_up_to=HASHED)
    metrics = read_json(folder, METRICS)
    task = with_baseline(TASKS[metrics["task"]], read_recipe(folder / RECIPE).model.name)
    kind = kind_of(task, metrics, far=(folder / OUTPUTS).exists())
    rows = far_rows(metrics) if kind in ("numbers", "scores") else judged_rows(folder, task)
    bands: Sequence[Json] = metrics.get("lengths") or ()
    chosen = [row for row in rows if belongs(row, expected, predicted)]
    report: Mapping[str, Any] = metrics.get("class_report") or {}
    found = {
        "kind": kind,
        "metric": metrics["metric"],
        "smaller_is_better": metrics["smaller_is_better"],
        "scores": metrics["scores"],
        "examples": metrics.get("examples", len(rows)),
        "mistakes": metrics["mistakes"],
        "chosen": len(chosen),
        "rows": [{**row, "slice": band_of(row, bands)} for row in chosen[: max(0, limit)]],
        "confusion": report.get("confusion") or None,
        "classes": list(report.get("classes") or ()),
        "calibration": report.get("calibration") or None,
        "channels": list(metrics.get("channels") or ()),
        "slices": list(bands),
    }
    return dict(finite(found))


def kind_of(task: Task, metrics: Json, *, far: bool) -> str:
    """What the answers are: `classes`, one each; `tags`, one for each word; `labels`, any number; `texts`; `numbers`,
    which are far off rather than wrong; or `scores` of texts, which are not wrong at all.
    """
    labels = task.judging.labels
    if far or task.answering.score is not None:
        return "numbers" if far else "scores"
    if labels is None:
        return "texts"
    if labels.several or not (metrics.get("class_report") or {}).get("confusion"):
        return "labels"
    return "tags" if labels.of_words else "classes"


def belongs(row: Json, expected: str | None, predicted: str | None) -> bool:
    """Whether a row has such a pair of labels: of classes its only one, of tags at any word."""
    if expected is None and predicted is None:
        return True
    wanted, said = row["expected_labels"], row["predicted_labels"]
    pairs = (
        zip(wanted, said, strict=False)
        if len(wanted) == len(said)
        else [(one, other) for one in wanted for other in said]
    )
    return any(expected in (None, one) and predicted in (None, other) for one, other in pairs)


def judged_rows(folder: Path, task: Task) -> list[Json]:
    """Every answer, the worst first; of equally wrong labels those that the model was surest of, of texts those that
    seemed least likely.
    """
    with blaming(folder, VOCABULARY):
        codec = task.learning.load(read_json(folder, VOCABULARY))
    sign = -1.0 if task.judging.labels is not None else 1.0
    rows = []
    for number, line in enumerate(read_predictions(folder)):
        error = float(task.judging.error(codec, line["output"], line["references"]))
        rows.append({**row_of(line), "number": number, "error": error, "right": error < 1})
    return sorted(rows, key=lambda row: (row["right"], -row["error"], (sign if row["error"] else 1) * surety(row)))


def surety(row: Json) -> float:
    """The log-probability of an answer; 0 where the model gives none."""
    return 0.0 if row["score"] is None else float(row["score"])


def far_rows(metrics: Json) -> list[Json]:
    """Answers that are arrays: those that the run found the farthest off."""
    return [{**row_of(line), "number": line["number"], "error": None, "right": False} for line in metrics["worst"]]


def row_of(line: Json) -> Json:
    """One example: `source` as the model reads it, `shown` as a person does, and the labels of both sides apart."""
    source, references = line["source"], line["references"]
    return {
        "source": str(source),
        "shown": str(source).replace(LIST_SEPARATOR, BETWEEN),
        "expected": ", ".join(in_line(one) for one in references),
        "predicted": in_line(line.get("text", line["output"])),
        "expected_labels": labels_in(references),
        "predicted_labels": labels_in(line["output"]),
        "score": line.get("score"),
    }


def labels_in(output: Any) -> list[str]:
    """An output as labels: of a list its items, of a list and its ranking the list, of a text with tabs its parts."""
    if isinstance(output, list) and output and isinstance(output[0], list):
        return labels_in(output[0])
    items = output if isinstance(output, list) else [output]
    return [part for item in items for part in str(item).split(LIST_SEPARATOR)]


def band_of(row: Json, bands: Sequence[Json]) -> str:
    """The name of the slice that a source belongs to by its length; nothing where slices go by something else."""
    if any("by" in band for band in bands):
        return ""
    return next((str(one["label"]) for one in bands if one["from"] <= len(row["source"]) <= one["to"]), "")
