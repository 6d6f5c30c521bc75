"""The table of a comparison: quality with its interval, then what it cost; small tables of classes and errors.

Every number stands in its cell twice: as people read it, and in full, so that a script can sort by it.
"""

from collections.abc import Callable, Mapping

from atento.views.details import DetailTable
from atento.views.html import Markup, joined, tag
from atento.views.report.board import Comparison, Row
from atento.views.report.charts import interval_strip, strip_axis, strip_scale
from atento.views.report.scales import Axis
from atento.views.wording import duration, interval, is_number, memory, rate, score, whole

FORCED, FREE = "Token accuracy, teacher forcing", "Token accuracy, free running"
LONGEST_PIECE = 26  # characters of a name that are never broken

COSTS: Mapping[str, tuple[str, Callable[[float | None], str]]] = {
    "Parameters": ("parameters", whole),
    "Training": ("seconds", duration),
    "Trained examples/s": ("examples_per_second", rate),
    "Predictions/s": ("predictions_per_second", rate),
    "Peak memory": ("peak_mb", memory),
}


def results_table(board: Comparison) -> Markup:
    """Every model, best first; those that failed stand at the end with the reason."""
    rows = board.ranked()
    metrics = [name for name in board.metrics if name != board.metric]
    best_first = "ascending" if board.smaller_is_better else "descending"
    head = [heading("Model", first="ascending"), heading(board.metric, number=True, first=best_first)]
    body = []
    if rows:
        scale = strip_scale(board)
        best = next((row for row in rows if row.model == board.winner), rows[0])
        spoken = tag("span", "95 % interval", class_="hidden")
        head.append(tag("th", spoken, strip_axis(scale), scope="col", role="columnheader"))
        body = [finished_row(board, row, metrics, scale, best) for row in rows]
    columns = [*metrics, *((FORCED, FREE) if has_exposure(board) else ()), *COSTS]
    head += [heading(name, number=True, first="descending") for name in columns]
    body += [failed_row(row, columns=len(head)) for row in board.failed()]
    table = tag(
        "table",
        tag("caption", f"All models by {board.metric}, best first", class_="hidden"),
        tag("thead", tag("tr", *head, role="row"), role="rowgroup"),
        tag("tbody", *body, role="rowgroup"),
        role="table",  # a phone shows rows as cards, and styles that do so hide from readers that this is a table
        class_="results",
    )
    return tag("div", table, class_="scroll", role="region", aria_label="Results", tabindex="0")


def has_exposure(board: Comparison) -> bool:
    """Whether a model was measured after true tokens and after its own."""
    return any(row.exposure for row in board.ranked())


def finished_row(board: Comparison, row: Row, metrics: list[str], scale: Axis, best: Row) -> Markup:
    """One trained model or baseline."""
    wins = row.model == best.model
    value, low, high = row.interval
    bounds = tag("span", interval(low, high), class_="bounds")
    both = tag("span", tag("strong", score(value)), bounds)
    ends = {"data_value": full(value), "data_low": full(low), "data_high": full(high)}
    main = tag("td", both, class_="number main", role="cell", data_label=board.metric, **ends)
    strip = tag("td", interval_strip(row, scale, band=best, accent=wins), class_="interval", role="cell")
    others = [cell(name, score(of := row.scores[name][0] if name in row.scores else None), of) for name in metrics]
    if has_exposure(board):
        for name, key in ((FORCED, "forced"), (FREE, "free")):
            accuracy = row.exposure[key]["tokens"] if row.exposure else None
            others.append(cell(name, score(accuracy), accuracy))
    costs = [cell(name, wording(getattr(row, key)), getattr(row, key)) for name, (key, wording) in COSTS.items()]
    name = model_cell(board, row)
    return tag(
        "tr", name, main, strip, *others, *costs, role="row", class_="winner" if wins else None, data_model=row.model
    )


def failed_row(row: Row, *, columns: int) -> Markup:
    """A model without a value, and why."""
    reason = row.failed or "there are no test examples"
    word = tag("span", "failed" if row.failed else "no score", class_="word")
    name = tag("th", model_name(row.model), word, scope="row", role="rowheader")
    why = tag("td", reason, colspan=columns - 1, role="cell", class_="reason", dir="auto")
    return tag("tr", name, why, role="row", class_="failed", data_model=row.model)


def model_cell(board: Comparison, row: Row) -> Markup:
    """The name, and in words what is special about it."""
    words = [tag("span", word, class_=f"word {word.split()[0]}") for word in board.standing(row)]
    return tag("th", model_name(row.model), *words, scope="row", role="rowheader")


def model_name(name: str) -> Markup:
    """A name that is broken after a + alone: lstm+additive+sparsemax; only a very long piece may break elsewhere."""
    pieces = name.split("+")
    whole_pieces = max(map(len, pieces)) <= LONGEST_PIECE
    parts = [joined(piece, Markup("+<wbr/>")) for piece in pieces[:-1]]
    return tag("bdi", *parts, pieces[-1], class_="name" if whole_pieces else None)


def cell(name: str, text: str, value: float | None = None) -> Markup:
    """A number as people read it and in full; on a phone its column's name stands beside it."""
    return tag("td", text, class_="number", role="cell", data_label=name, data_value=full(value))


def full(value: float | None) -> str:
    """A number with all its digits, for sorting; nothing where there is none."""
    return repr(value) if value is not None and is_number(value) else ""


def heading(name: str, *, number: bool = False, first: str | None = None) -> Markup:
    """The name of a column; of one that can be sorted by, the direction of the first click."""
    sort = {"data_sort": name, "data_first": first} if first else {}
    return tag("th", name, scope="col", role="columnheader", class_="number" if number else None, **sort)


def detail_table(table: DetailTable) -> Markup:
    """A small table beside the scores; in a confusion matrix what is right stands on the diagonal, and every cell is
    shaded by its share of the true class.
    """
    head = [heading(name, number=at > 0) for at, name in enumerate(table.headings)]
    body = []
    for at, (name, *cells) in enumerate(table.rows):
        first = tag("th", tag("bdi", name), scope="row", role="rowheader")
        counts = [int(text.replace(",", "")) for text in cells] if table.matrix else []
        shades = [f" heat{shade(count, sum(counts))}" for count in counts] or [""] * len(cells)
        right = [" right" if table.matrix and place == at else "" for place in range(len(cells))]
        values: list[int | None] = [*counts] or [None] * len(cells)
        numbers = [
            tag("td", text, class_=f"number{hit}{heat}", role="cell", data_value=value)
            for text, hit, heat, value in zip(cells, right, shades, values, strict=True)
        ]
        body.append(tag("tr", first, *numbers, role="row"))
    whole_table = tag(
        "table",
        tag("caption", table.title, dir="auto"),
        tag("thead", tag("tr", *head, role="row"), role="rowgroup"),
        tag("tbody", *body, role="rowgroup"),
        role="table",
        class_="details matrix" if table.matrix else "details",
    )
    return tag("div", whole_table, class_="scroll", role="region", aria_label=table.title, tabindex="0")


def shade(count: int, total: int) -> int:
    """How dark a cell is, from 0 to 9: only what is nothing is white."""
    return min(9, -(-9 * count // total)) if total else 0
