"""The table of a comparison: quality with its interval, then what it cost.

The worst outputs of each model, with the words that differ from the reference marked.
"""

from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from typing import Any

from atento.data.records import counted
from atento.views.details import DetailTable
from atento.views.html import Markup, joined, tag
from atento.views.report.board import Comparison, Row
from atento.views.report.charts import interval_strip, strip_axis, strip_scale
from atento.views.report.scales import Axis
from atento.views.wording import duration, interval, memory, rate, score, whole

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
    head = [heading("Model"), heading(board.metric, number=True)]
    body = []
    if rows:
        scale = strip_scale(board)
        best = next((row for row in rows if row.model == board.winner), rows[0])
        spoken = tag("span", "95 % interval", class_="hidden")
        head.append(tag("th", spoken, strip_axis(scale), scope="col", role="columnheader"))
        body = [finished_row(board, row, metrics, scale, best) for row in rows]
    columns = [*metrics, *COSTS]
    head += [heading(name, number=True) for name in columns]
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


def finished_row(board: Comparison, row: Row, metrics: list[str], scale: Axis, best: Row) -> Markup:
    """One trained model or baseline."""
    wins = row.model == best.model
    bounds = tag("span", interval(row.interval.low, row.interval.high), class_="bounds")
    both = tag("span", tag("strong", score(row.interval.value)), bounds)
    value = tag("td", both, class_="number main", role="cell", data_label=board.metric)
    strip = tag("td", interval_strip(row, scale, band=best, accent=wins), class_="interval", role="cell")
    others = [cell(name, score(row.scores[name][0] if name in row.scores else None)) for name in metrics]
    costs = [cell(name, wording(getattr(row, key))) for name, (key, wording) in COSTS.items()]
    return tag(
        "tr", model_cell(board, row), value, strip, *others, *costs, role="row", class_="winner" if wins else None
    )


def failed_row(row: Row, *, columns: int) -> Markup:
    """A model without a value, and why."""
    reason = row.failed or "there are no test examples"
    name = tag(
        "th",
        tag("bdi", row.model),
        tag("span", "failed" if row.failed else "no score", class_="word"),
        scope="row",
        role="rowheader",
    )
    return tag("tr", name, tag("td", reason, colspan=columns - 1, role="cell", class_="reason", dir="auto"), role="row")


def model_cell(board: Comparison, row: Row) -> Markup:
    """The name, and in words what is special about it."""
    words = [tag("span", word, class_=f"word {word.split()[0]}") for word in board.standing(row)]
    return tag("th", tag("bdi", row.model), *words, scope="row", role="rowheader")


def cell(name: str, text: str) -> Markup:
    """A number; on a phone its column's name stands beside it."""
    return tag("td", text, class_="number", role="cell", data_label=name)


def heading(name: str, *, number: bool = False) -> Markup:
    """The name of a column."""
    return tag("th", name, scope="col", role="columnheader", class_="number" if number else None)


def detail_table(table: DetailTable) -> Markup:
    """A small table beside the scores; in a confusion matrix what is right stands on the diagonal."""
    head = [heading(name, number=at > 0) for at, name in enumerate(table.headings)]
    body = []
    for at, (name, *cells) in enumerate(table.rows):
        first = tag("th", tag("bdi", name), scope="row", role="rowheader")
        right = [table.matrix and place == at for place in range(len(cells))]
        numbers = [
            tag("td", text, class_="number right" if hit else "number", role="cell")
            for text, hit in zip(cells, right, strict=True)
        ]
        body.append(tag("tr", first, *numbers, role="row"))
    whole_table = tag(
        "table",
        tag("caption", table.title, dir="auto"),
        tag("thead", tag("tr", *head, role="row"), role="rowgroup"),
        tag("tbody", *body, role="rowgroup"),
        role="table",
        class_="details",
    )
    return tag("div", whole_table, class_="scroll", role="region", aria_label=table.title, tabindex="0")


LONGEST_COMPARED = 400  # words; comparing takes time that grows with their square


def mistakes(row: Row, *, is_open: bool, far: bool = False) -> Markup:
    """One model's worst examples, wrong ones first; of numbers, which are `far` off rather than wrong, all."""
    worst = sorted(row.worst, key=is_right)
    wrong = sum(not is_right(example) for example in worst) if row.mistakes is None else row.mistakes
    title = f"the {len(worst)} farthest off" if far else f"{counted(wrong, 'mistake')}, {len(worst)} shown"
    summary = joined(tag("bdi", row.model), tag("span", title))
    return tag(
        "details",
        tag("summary", summary),
        tag("ol", *(mistake(example, far=far) for example in worst), class_="mistakes"),
        open=is_open,
    )


def is_right(example: Mapping[str, Any]) -> bool:
    """Whether the output is a reference."""
    return in_line(example["output"]) in map(in_line, example.get("references", [example["reference"]]))


def in_line(output: Any) -> str:
    """An output as one line of text: what is a list has spaces between; of a list and its ranking, the list."""
    if isinstance(output, list):
        return in_line(output[0]) if output and isinstance(output[0], list) else " ".join(map(str, output))
    return str(output).replace("\t", " ")


def mistake(example: Mapping[str, Any], *, far: bool = False) -> Markup:
    """What was read, written and expected."""
    output, reference = in_line(example["output"]), in_line(example["reference"])
    facts = {"Source": tag("span", in_line(example["source"]))}
    if is_right(example):
        facts["Wrote"] = joined(tag("span", output), tag("em", " – right, but least sure"))
    else:
        wrote = tag("span", output) if far else marked(output, reference)
        facts |= {"Forecast" if far else "Wrote": wrote, "Actual" if far else "Reference": tag("span", reference)}
    lines = [tag("div", tag("dt", name), tag("dd", text, dir="auto")) for name, text in facts.items()]
    known = example.get("score") is not None
    likelihood = tag("p", f"log-likelihood {score(example['score'])}", class_="note") if known else ""
    return tag("li", tag("dl", *lines), likelihood)


def marked(output: str, reference: str) -> Markup:
    """The output with every word that the reference has not there marked."""
    if not output.strip():
        return tag("em", "nothing")
    words, wanted = output.split(" "), reference.split(" ")
    if max(len(words), len(wanted)) > LONGEST_COMPARED:
        return tag("span", output)
    parts = []
    for kind, start, stop, _, _ in SequenceMatcher(None, words, wanted, autojunk=False).get_opcodes():
        if start < stop:
            text = " ".join(words[start:stop])
            parts.append(joined(text) if kind == "equal" else tag("mark", text))
    return Markup(" ".join(parts))
