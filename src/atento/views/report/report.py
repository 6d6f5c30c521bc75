"""The report of a comparison as one HTML file: the answer first, then the evidence, then how to repeat it."""

from collections.abc import Callable

from atento.data.records import counted
from atento.views.attention.alignment import has_weights
from atento.views.attention.page import gallery
from atento.views.details import detail_tables
from atento.views.forecast_page import forecasts_section
from atento.views.html import Markup, document, joined, tag
from atento.views.report.board import Comparison, Row
from atento.views.report.charts import beyond, is_off, learning_curves, length_limits, length_panel, strip_scale
from atento.views.report.table import detail_table, mistakes, results_table
from atento.views.wording import change, exposure, quality, round_duration, score, whole

WIDE = {"width": 1000.0, "height": 420.0}
NARROW = {"width": 340.0, "height": 400.0}  # for a phone, with letters of the same size


def render_report(board: Comparison) -> str:
    """The whole page."""
    parts: dict[str, tuple[str, Callable[[Comparison], Markup]]] = {
        "results": ("Results", results),
        "details": (details_title(board), details),
        "learning": ("Learning", learning),
        "length": ("Near and far" if is_ahead(board) else "Short and long sources", lengths),
        "forecasts": ("Forecasts", lambda board: forecasts_section(board.forecasts)),
        "attention": ("Where the models looked", attention),
        "mistakes": ("Mistakes", worst_outputs),
        "repeat": ("Repeat it", repeating),
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
    text = "A dot is the value on test data, its whisker the 95 % interval"
    if len(board.ranked()) > 1:
        text += "; the shaded band repeats the winner’s interval"
    if any(is_off(row, strip_scale(board)) for row in board.ranked()):
        text += "; an arrow stands for what is far off"
    alone = [
        tag("p", tag("bdi", row.model), f": {exposure(row.exposure)}.", class_="note")
        for row in board.ranked()
        if row.exposure  # what a model loses when it goes on from its own tokens
    ]
    return joined(tag("p", f"{text}."), results_table(board), *alone, tag("dl", *meanings, class_="meanings"))


def details_title(board: Comparison) -> str:
    """What the tables beside the scores are about."""
    return "Errors in the file’s units" if is_ahead(board) else "Classes"


def details(board: Comparison) -> Markup:
    """What the scores hide, of each model: its classes and which it confuses, or its errors in the file's units."""
    rows = [row for row in board.ranked() if detail_tables(row.other)]
    if len(rows) == 1:
        return joined(*map(detail_table, detail_tables(rows[0].other)))
    return joined(*(model_details(row, is_open=row is rows[0]) for row in rows))


def model_details(row: Row, *, is_open: bool) -> Markup:
    """The tables of one model, the best model's open."""
    tables = map(detail_table, detail_tables(row.other))
    return tag("details", tag("summary", tag("bdi", row.model)), *tables, open=is_open)


def learning(board: Comparison) -> Markup:
    """The learning curves, in a wide and a narrow shape."""
    wide = learning_curves(board, **WIDE)
    if not wide:
        return Markup()
    better = "lower" if board.smaller_is_better else "higher"
    text = f"On validation data, {board.metric} against training time: {better} and earlier is better."
    if any(row.baseline for row in board.ranked()):
        text += " Dashed: baselines, which need no training; their value is the one on test data."
    far = [f"{row.model} {score(row.interval.value)}" for row in beyond(board)]
    text += f" Too large to be shown: {', '.join(far)}." if far else ""
    shapes = tag("div", wide, class_="wide"), tag("div", learning_curves(board, **NARROW), class_="narrow")
    return joined(tag("p", text), tag("figure", *shapes))


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
        caption = tag("figcaption", tag("strong", tag("bdi", row.model)), *words, tag("span", moved, class_="change"))
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
    if not any(has_weights(alignment) for alignment in board.alignments):
        return Markup()
    text = (
        "A row for each output token, a column for each source token; the stronger the colour, the more weight. "
        "Point at a cell, tap it, or use the arrow keys."
    )
    if any(alignment.image for alignment in board.alignments):
        text = "The image once for each word, clear where the weight is; beside the word, its largest weight."
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


def repeating(board: Comparison) -> Markup:
    """The command of the whole, and recipe and command of each model."""
    models = [
        tag(
            "details",
            tag("summary", tag("bdi", row.model)),
            code(row.command, name="Command", class_="command"),
            code(row.recipe, name="Recipe"),
        )
        for row in [*board.ranked(), *board.failed()]
        if row.recipe or row.command
    ]
    return joined(code(board.command, name="Command of all", class_="command"), *models)


def code(text: str, *, name: str, class_: str = "") -> Markup:
    """Text to copy, scrolling in its own box."""
    if not text:
        return Markup()
    return tag("pre", tag("code", text), tabindex="0", role="region", aria_label=name, class_=class_ or None)


def facts(board: Comparison) -> Markup:
    """What the numbers rest on."""
    data = board.data
    parts = ", ".join(f"{whole(count)} {name}" for name, count in data["parts"].items())
    entries = {
        "Data": data["name"],
        "Examples": parts,
        "Notes": "; ".join(data.get("notes", ())),
        "Refused": "; ".join(data.get("refused", ())),
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
