"""What the scores hide, as tables: each class, which classes are confused, calibration, errors in the file's units."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.data.records import counted
from atento.views.wording import amount, score, shortened, whole

MOST_CLASSES = 12  # that a table shows; of more, those with the worst F1
MOST_CHANNELS = 20
LONGEST_NAME = 24
LONGEST_COLUMN = 10

Json = Mapping[str, Any]


class DetailTable(NamedTuple):
    """A table with its title; the first column names the rows, the others are numbers."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    matrix: bool = False  # whether rows and columns are the same classes


def detail_tables(found: Json) -> list[DetailTable]:
    """The tables of what metrics.json, or an evaluation, says beside the scores."""
    report: Json = found.get("class_report") or {}
    tables = [class_table(report), confusion_table(report), calibration_table(report), channel_table(found)]
    return [table for table in tables if table is not None]


def class_table(report: Json) -> DetailTable | None:
    """Precision, recall, F1 and support of each class; of many classes, of the worst."""
    classes: Sequence[Json] = report.get("classes") or ()
    if not classes:
        return None
    shown, title = classes, "Precision, recall and F1 of each class"
    if len(classes) > MOST_CLASSES:
        true = [one for one in classes if one["support"]]
        shown = sorted(true, key=lambda one: (one["f1"], -one["support"]))[:MOST_CLASSES]
        title = f"The {len(shown)} classes with the lowest F1, of {len(classes)}"
    rows = [
        [
            shortened(str(one["label"]), LONGEST_NAME),
            *(score(one[name]) for name in ("precision", "recall", "f1")),
            whole(one["support"]),
        ]
        for one in shown
    ]
    return DetailTable(title, ["class", "precision", "recall", "F1", "support"], rows)


def confusion_table(report: Json) -> DetailTable | None:
    """The confusion matrix; of many classes, the pairs that are confused most often."""
    matrix: Json = report.get("confusion") or {}
    labels: Sequence[str] = matrix.get("labels") or ()
    if len(labels) < 2:
        return None
    counts = matrix["counts"]
    if len(labels) <= MOST_CLASSES:
        names = unique([shortened(label, LONGEST_COLUMN) for label in labels])
        rows = [[names[at], *map(whole, row)] for at, row in enumerate(counts)]
        title = "Confusion matrix: true classes down, predicted classes across"
        corner = "true class" if "true" in names else "true"  # headings are told apart by their names
        return DetailTable(title, [corner, *names], rows, matrix=True)
    pairs = [
        (counts[true][said], labels[true], labels[said])
        for true in range(len(labels))
        for said in range(len(labels))
        if true != said and counts[true][said]
    ]
    worst = sorted(pairs, key=lambda pair: -pair[0])[:MOST_CLASSES]
    rows = [
        [f"{shortened(true, LONGEST_NAME)} taken for {shortened(said, LONGEST_NAME)}", whole(count)]
        for count, true, said in worst
    ]
    return DetailTable("The classes that are confused most often", ["true taken for predicted", "examples"], rows)


def unique(names: Sequence[str]) -> list[str]:
    """The names; where some were cut to the same one, with their numbers."""
    return [name if names.count(name) == 1 else f"{name} {at + 1}" for at, name in enumerate(names)]


def calibration_table(report: Json) -> DetailTable | None:
    """How often predictions of some probability are right."""
    measured: Json = report.get("calibration") or {}
    if not measured:
        return None
    rows = [
        [
            f"{one['low']:.1f}–{one['high']:.1f}",
            score(one["confidence"]),
            score(one["accuracy"]),
            whole(one["count"]),
        ]
        for one in measured["bins"]
    ]
    title = f"Calibration: expected calibration error {score(measured['error'])} (0: as often right as it says)"
    return DetailTable(title, ["probability", "mean", "right", "examples"], rows)


def channel_table(found: Json) -> DetailTable | None:
    """The errors of each channel in the units of the file."""
    channels: Sequence[Json] = found.get("channels") or ()
    if not channels:
        return None
    rows = [
        [shortened(str(one["channel"]), LONGEST_NAME), amount(one["mae"]), amount(one["rmse"]), score(one["smape"])]
        for one in channels[:MOST_CHANNELS]
    ]
    cut = len(channels) > MOST_CHANNELS
    more = f", the first {MOST_CHANNELS} of {counted(len(channels), 'channel')}" if cut else ""
    return DetailTable(f"Errors in the units of the file{more}", ["channel", "MAE", "RMSE", "sMAPE %"], rows)
