"""The report of a comparison as one HTML file: the answer first, then the evidence, then how to repeat it."""

from collections.abc import Callable, Sequence

from atento.data.records import counted, in_words
from atento.views.attention.alignment import can_be_viewed
from atento.views.attention.page import gallery
from atento.views.details import detail_tables
from atento.views.forecast_page import forecasts_section
from atento.views.html import Markup, document, joined, tag
from atento.views.report.board import Comparison, Row
from atento.views.report.chart_data import MOST_POINTS, live_chart
from atento.views.report.charts import beyond, is_off, learning_curves, length_limits, length_panel, strip_scale
from atento.views.report.classes import channel_comparison, class_comparison
from atento.views.report.costs import cost_chart, cost_data, pareto_front
from atento.views.report.curves import is_thinned, learning_data
from atento.views.report.mistakes import mistakes
from atento.views.report.table import detail_table, has_exposure, model_name, results_table
from atento.views.wording import change, is_number, quality, round_duration, score, whole

SHAPES = {
    "wide": {"width": 1000.0, "height": 420.0},
    "narrow": {"width": 340.0, "height": 400.0},  # for a phone, with letters of the same size
}
SHOWN_AT_ONCE = 8  # notes and refusals; more are folded


def render_report(board: Comparison, *, folder: str = "") -> str:
    """The whole page; with the folder of the comparison also the lines of Python that load a model."""
    parts: dict[str, tuple[str, Callable[[Comparison], Markup]]] = {
        "results": ("Results", results),
        "costs": ("Quality against cost", costs),
        "details": (details_title(board), details),
        "learning": ("Learning", learning),
        "length": ("Near and far" if is_ahead(board) else "Short and long sources", lengths),
        "forecasts": ("Forecasts", lambda board: forecasts_section(board.forecasts)),
        "attention": ("Where the models looked", attention),
        "mistakes": ("Mistakes", worst_outputs),
        "repeat": ("Repeat it", lambda board: repeating(board, folder)),
        "facts": ("Data and versions", facts),
    }
    sections, links = [], []
    for name, (title, write) in parts.items():
        if content := write(board):
            sections.append(tag("section", tag("h2", title, id=f"{name}-title"), content, id=name))
            links.append(tag("li", tag("a", title, href=f"#{name}")))
    contents = tag("nav", tag("ul", *links), aria_label="Parts of this report")
    footer = tag("footer", tag("p", f"Written by atento {board.versions.get('atento', '')}".rstrip()))
    return document(f"{board.title}: report", opening(board), contents, tag("main", *sections), footer)


def opening(board: Comparison) -> Markup:
    """Title and verdict: who won, in one glance."""
    kind = "comparison" if len(board.rows) > 1 else "run"
    first, *rest = list(board.verdict) or [plain_verdict(board)]
    tests = board.data["parts"].get("test")
    details = [
        counted(len(board.rows), "model"),
        f"{round_duration(board.share)} of training each" if board.share else "",
        f"{whole(tests)} test examples" if tests else "",
        f"on {board.device}" if board.device else "",
        board.created,
    ]
    return tag(
        "header",
        tag("p", f"atento {kind} · {board.task}", class_="kicker"),
        tag("h1", board.title, dir="auto"),
        tag("p", first, class_="verdict", dir="auto"),
        *(tag("p", sentence, class_="more", dir="auto") for sentence in rest),
        tag("p", Markup(" · ".join(tag("bdi", detail) for detail in details if detail)), class_="note"),
    )


def plain_verdict(board: Comparison) -> str:
    """A sentence for a board that brings none."""
    rows = board.ranked()
    if not rows:
        return "No model finished."
    best = rows[0]
    return f"{best.model}: {board.metric} {quality(*best.interval)}."


def results(board: Comparison) -> Markup:
    """The table, and what its numbers mean."""
    meanings = [tag("div", tag("dt", name), tag("dd", text)) for name, text in board.metrics.items()]
    said = "A dot is the value on test data, its whisker the 95 % interval"
    if len(board.ranked()) > 1:
        said += "; the shaded band repeats the winner’s interval"
    if any(is_off(row, strip_scale(board)) for row in board.ranked()):
        said += "; an arrow stands for what is far off"
    if has_exposure(board):
        text = "accuracy of each token after the true ones (teacher forcing), and after the model’s own (free running)"
        meanings.append(tag("div", tag("dt", "Token accuracy"), tag("dd", text)))
    return joined(tag("p", f"{said}."), results_table(board), tag("dl", *meanings, class_="meanings"))


def costs(board: Comparison) -> Markup:
    """Every model's quality against what it costs, where there are two models to compare."""
    data = cost_data(board)
    rows = [row for row in board.ranked() if data.x and is_number(getattr(row, data.x[0].key))]
    if len(rows) < 2:
        return Markup()
    cost = data.x[0]
    front = pareto_front(rows, cost, smaller_is_better=board.smaller_is_better)
    text = (
        f"{board.metric} on test data against {cost.name}, with 95 % intervals. The line is the Pareto front, the "
        f"models that no other one beats in both: {in_words([row.model for row in front])}."
    )
    shapes = [tag("div", cost_chart(board, cost, **size), class_=name) for name, size in SHAPES.items()]
    return joined(tag("p", text), live_chart(data, *shapes))


def details_title(board: Comparison) -> str:
    """What the tables beside the scores are about."""
    return "Errors in the file’s units" if is_ahead(board) else "Classes"


def details(board: Comparison) -> Markup:
    """What the scores hide, of each model: its classes and which it confuses, or its errors in the file's units."""
    rows = [row for row in board.ranked() if detail_tables(row.other)]
    if len(rows) == 1:
        return joined(*map(detail_table, detail_tables(rows[0].other)))
    if by_channel := channel_comparison(rows):
        return joined(*map(detail_table, by_channel))
    return joined(class_comparison(rows), *(model_details(row, is_open=row is rows[0]) for row in rows))


def model_details(row: Row, *, is_open: bool) -> Markup:
    """The tables of one model, the best model's open."""
    tables = map(detail_table, detail_tables(row.other))
    return tag("details", tag("summary", model_name(row.model)), *tables, open=is_open)


def learning(board: Comparison) -> Markup:
    """The learning curves, in a wide and a narrow shape."""
    shapes = {name: learning_curves(board, **size) for name, size in SHAPES.items()}
    if not all(shapes.values()):
        return Markup()
    data = learning_data(board)
    better = "lower" if board.smaller_is_better else "higher"
    text = f"On validation data, {board.metric} against training time: {better} and earlier is better."
    if any(row.baseline for row in board.ranked()):
        text += " Dashed: baselines, which need no training; their value is the one on test data."
    far = [f"{row.model} {score(row.interval.value)}" for row in beyond(board)]
    text += f" Too large to be shown: {', '.join(far)}." if far else ""
    if is_thinned(board, data):
        text += f" Long curves are thinned to {MOST_POINTS} points, their least and greatest values kept."
    return joined(tag("p", text), live_chart(data, *(tag("div", drawn, class_=name) for name, drawn in shapes.items())))


LENGTHS = {"steps ahead": "how many steps ahead a number lies", "digits": "number of digits"}


def is_ahead(board: Comparison) -> bool:
    """Whether quality is shown by steps ahead, as of forecasts."""
    return any(group.get("by") == "steps ahead" for row in board.rows for group in row.lengths)


def lengths(board: Comparison) -> Markup:
    """A small panel a model: does quality hold when sources grow?"""
    rows = [row for row in board.ranked() if row.lengths]
    if not rows:
        return Markup()
    limits, ahead = length_limits(rows), is_ahead(board)
    panels = []
    for row in rows:
        others = [other for other in rows if other is not row]
        first, last = row.lengths[0]["value"], row.lengths[-1]["value"]
        words = [tag("span", word, class_="word") for word in board.standing(row)]
        moved = f"{change(last - first)} from {'near to far' if ahead else 'short to long'}"
        caption = tag("figcaption", tag("strong", model_name(row.model)), *words, tag("span", moved, class_="change"))
        panels.append(tag("figure", caption, length_panel(row, others, limits, accent=row.model == board.winner)))
    groups = rows[0].lengths
    counts = ", ".join(f"{group['label']} ({counted(group['count'], 'example')})" for group in groups)
    unit = groups[0].get("by", "characters")
    what = LENGTHS.get(unit, f"length of the source in {unit}")
    text = f"On test data, {board.metric} by {what}: {counts}."
    if board.writes:
        text += " A model that squeezes the source into one vector falls as sources grow;"
        text += " one that looks back at it should hold."
    if len(rows) > 1:
        text += " Grey: the other models."
    return joined(tag("p", text), tag("div", *panels, class_="panels"))


def attention(board: Comparison) -> Markup:
    """The viewer, where a model gave weights."""
    if not any(map(can_be_viewed, board.alignments)):
        return Markup()
    text = (
        "A row for each query, a column for each key; the stronger the colour, the more weight. "
        "Point at a cell, tap it, or use the arrow keys: the same tokens are marked in every model."
    )
    if any(alignment.image for alignment in board.alignments):
        text = "The image in grey under the weights of each word; the brightest region has the largest weight."
    order = [row.model for row in board.ranked()]
    return joined(tag("p", text, class_="on-screen"), gallery(board.alignments, order=order))


def worst_outputs(board: Comparison) -> Markup:
    """Mistakes of each model, the best model's open."""
    rows = [row for row in board.ranked() if row.worst]
    if not rows:
        return Markup()
    text = "The test examples each model was worst at. Words that the reference does not have are marked."
    if is_ahead(board):
        text = "The forecasts of each model that were farthest off, the worst first."
    return joined(tag("p", text), *(mistakes(row, is_open=row is rows[0], far=is_ahead(board)) for row in rows))


def repeating(board: Comparison, folder: str) -> Markup:
    """The command of the whole; of each model its command, the Python that loads it, and its recipe."""
    models = [
        tag(
            "details",
            tag("summary", model_name(row.model)),
            code(row.command, name="command", class_="command"),
            code(python_of(row, folder), name="Python"),
            code(row.recipe, name="recipe"),
        )
        for row in [*board.ranked(), *board.failed()]
        if row.recipe or row.command
    ]
    return joined(code(board.command, name="command", class_="command"), *models)


def python_of(row: Row, folder: str) -> str:
    """The lines of Python that load a model; nothing for one that failed, or where the folder is not known."""
    if row.failed or not folder:
        return ""
    place = f"{folder}/{row.folder}" if row.folder else folder
    return f"import atento\n\nrun = atento.load({place!r})\n"


def code(text: str, *, name: str, class_: str = "") -> Markup:
    """Text to copy, scrolling in its own box."""
    if not text:
        return Markup()
    box = {"tabindex": "0", "role": "region", "aria_label": name.capitalize(), "data_copy": name}
    return tag("pre", tag("code", text), class_=class_ or None, **box)


def facts(board: Comparison) -> Markup:
    """What the numbers rest on."""
    data = board.data
    parts = ", ".join(f"{whole(count)} {name}" for name, count in data["parts"].items())
    entries: dict[str, object] = {
        "Data": data["name"],
        "Examples": parts,
        "Notes": listed(data.get("notes", ()), "notes"),
        "Refused": listed(data.get("refused", ()), "refused rows"),
        "Fingerprint": data.get("fingerprint", ""),
        "Seed": board.seed,
        "Budget": round_duration(board.budget),
        "Device": board.device,
        "Versions": ", ".join(f"{name} {version}" for name, version in board.versions.items()),
    }
    lines = [
        tag("div", tag("dt", name), tag("dd", text, dir="auto"))
        for name, text in entries.items()
        if text not in (None, "")
    ]
    return tag("dl", *lines, class_="facts")


def listed(lines: Sequence[str], what: str) -> Markup:
    """A list of sentences; a long one is folded after the first few."""
    items = [tag("li", line, dir="auto") for line in lines]
    if not items:
        return Markup()
    first = tag("ul", *items[:SHOWN_AT_ONCE])
    if len(items) <= SHOWN_AT_ONCE:
        return first
    more = tag("summary", f"{len(items) - SHOWN_AT_ONCE:,} more {what}")
    return joined(first, tag("details", more, tag("ul", *items[SHOWN_AT_ONCE:]), class_="rest"))
