"""All models side by side: the F1 of each class, or the errors of each channel, so that one sees where they differ."""

from collections.abc import Sequence

from atento.views.details import DetailTable
from atento.views.html import Markup, tag
from atento.views.report.board import Row
from atento.views.report.table import full, model_name
from atento.views.wording import amount, is_number, score, shortened, whole

MOST_CLASSES = 20  # that the table shows: those with the most examples
MOST_MODELS = 10
MOST_CHANNELS = 4  # with a table each; of more, each model has a table
LONGEST_NAME = 24
BEST = 1e-9  # how much a rounding error is


def class_comparison(rows: Sequence[Row]) -> Markup:
    """A row for each class, a column for each model, the best F1 of a class marked."""
    found = {row.model: scores_of(row) for row in rows[:MOST_MODELS] if scores_of(row)}
    if len(found) < 2:
        return Markup()
    support = {label: count for scores in found.values() for label, (_, count) in scores.items()}
    labels = sorted(support, key=lambda label: -support[label])
    head = [tag("th", "class", scope="col"), tag("th", "support", scope="col", class_="number")]
    head += [tag("th", model_name(model), scope="col", class_="number") for model in found]
    body = []
    for label in labels[:MOST_CLASSES]:
        values = [scores[label][0] if label in scores else None for scores in found.values()]
        best = max((value for value in values if value is not None), default=0.0)
        cells = [
            tag("td", score(value), class_=f"number{' right' if is_best(value, best) else ''}", data_value=full(value))
            for value in values
        ]
        name = tag("th", tag("bdi", shortened(label, LONGEST_NAME)), scope="row")
        body.append(tag("tr", name, tag("td", whole(support[label]), class_="number"), *cells))
    cut = f", the {MOST_CLASSES} most frequent of {len(labels)}" if len(labels) > MOST_CLASSES else ""
    title = f"F1 of each class by model{cut}; the best is marked"
    table = tag("table", tag("caption", title), tag("thead", tag("tr", *head)), tag("tbody", *body), class_="details")
    return tag("div", table, class_="scroll", role="region", aria_label=title, tabindex="0")


def is_best(value: float | None, best: float) -> bool:
    """Whether a value is the best of its row, and not nothing."""
    return value is not None and value > 0 and value >= best - BEST


def scores_of(row: Row) -> dict[str, tuple[float | None, int]]:
    """F1 and support of each class that has examples."""
    classes = row.other.get("class_report", {}).get("classes") or ()
    return {
        str(one["label"]): (one["f1"] if is_number(one["f1"]) else None, one["support"])
        for one in classes
        if one["support"]
    }


def channel_comparison(rows: Sequence[Row]) -> list[DetailTable]:
    """Of a few channels: the errors of all models in the units of the file, a table for each channel."""
    names = [str(one["channel"]) for row in rows[:1] for one in row.other.get("channels") or ()]
    errors = [{str(one["channel"]): one for one in row.other.get("channels") or ()} for row in rows]
    if not 0 < len(names) <= MOST_CHANNELS or any(list(found) != names for found in errors):
        return []
    return [
        DetailTable(
            f"{shortened(name, LONGEST_NAME)}: errors in the units of the file",
            ["model", "MAE", "RMSE", "sMAPE %"],
            [
                [row.model, amount(found[name]["mae"]), amount(found[name]["rmse"]), score(found[name]["smape"])]
                for row, found in zip(rows, errors, strict=True)
            ],
        )
        for name in names
    ]
