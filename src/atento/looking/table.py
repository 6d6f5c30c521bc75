"""The table of a comparison: quality with its interval, then what it cost."""

from collections.abc import Callable, Mapping

from atento.looking.charts import interval_strip, strip_axis, strip_scale
from atento.looking.markup import Markup, joined, tag
from atento.looking.scales import Scale
from atento.looking.standings import Board, Row, failed, ranked, standing
from atento.looking.wording import duration, memory, rate, score, whole

COSTS: Mapping[str, tuple[str, Callable[[float | None], str]]] = {
    "Parameters": ("parameters", whole),
    "Training": ("seconds", duration),
    "Trained examples/s": ("examples_per_second", rate),
    "Predictions/s": ("predictions_per_second", rate),
    "Peak memory": ("peak_mb", memory),
}


def results_table(board: Board) -> Markup:
    """Every model, best first; those that failed stand at the end with the reason."""
    rows = ranked(board)
    metrics = [name for name in board["metrics"] if name != board["metric"]]
    head = [heading("Model"), heading(board["metric"], number=True)]
    body = []
    if rows:
        scale = strip_scale(board)
        best = next((row for row in rows if row["model"] == board.get("winner")), rows[0])
        head.append(tag("th", hidden("95 % interval"), strip_axis(scale), scope="col", role="columnheader"))
        body = [finished_row(board, row, metrics, scale, best) for row in rows]
    columns = [*metrics, *COSTS]
    head += [heading(name, number=True) for name in columns]
    body += [failed_row(row, columns=len(head)) for row in failed(board)]
    table = tag(
        "table",
        tag("caption", f"All models by {board['metric']}, best first", class_="hidden"),
        tag("thead", tag("tr", *head, role="row"), role="rowgroup"),
        tag("tbody", *body, role="rowgroup"),
        role="table",  # a phone shows rows as cards, and styles that do so hide from readers that this is a table
        class_="results",
    )
    return tag("div", table, class_="scroll", role="region", aria_label="Results", tabindex="0")


def finished_row(board: Board, row: Row, metrics: list[str], scale: Scale, best: Row) -> Markup:
    """One trained model or baseline."""
    wins = row["model"] == best["model"]
    bounds = tag("span", f"{score(row['low'])}–{score(row['high'])}", class_="bounds")
    both = tag("span", tag("strong", score(row["value"])), bounds)
    value = tag("td", both, class_="number main", role="cell", data_label=board["metric"])
    interval = tag("td", interval_strip(row, scale, band=best, accent=wins), class_="interval", role="cell")
    others = [cell(name, score((row["scores"].get(name) or [None])[0])) for name in metrics]
    costs = [cell(name, wording(row.get(key))) for name, (key, wording) in COSTS.items()]
    return tag(
        "tr", model_cell(board, row), value, interval, *others, *costs, role="row", class_="winner" if wins else None
    )


def failed_row(row: Row, *, columns: int) -> Markup:
    """A model without a value, and why."""
    reason = row.get("failed") or "no score was recorded"
    name = tag("th", tag("bdi", row["model"]), tag("span", "failed", class_="word"), scope="row", role="rowheader")
    return tag("tr", name, tag("td", reason, colspan=columns - 1, role="cell", class_="reason", dir="auto"), role="row")


def model_cell(board: Board, row: Row) -> Markup:
    """The name, and in words what is special about it."""
    words = [tag("span", word, class_=f"word {word.split()[0]}") for word in standing(board, row)]
    return tag("th", tag("bdi", row["model"]), *words, scope="row", role="rowheader")


def cell(name: str, text: str) -> Markup:
    """A number; on a phone its column's name stands beside it."""
    return tag("td", text, class_="number", role="cell", data_label=name)


def heading(name: str, *, number: bool = False) -> Markup:
    """The name of a column."""
    return tag("th", name, scope="col", role="columnheader", class_="number" if number else None)


def hidden(text: str) -> Markup:
    """Words for readers who listen."""
    return joined(tag("span", text, class_="hidden"))
