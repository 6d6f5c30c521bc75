"""A table of results that a notebook shows: of an evaluation, a search or a backtest."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from atento.bundle import Json
from atento.views.details import detail_tables
from atento.views.html import page, table, tag
from atento.views.report.table import detail_table
from atento.views.saving import ModelView


@dataclass(frozen=True, kw_only=True)
class ResultsView(ModelView):
    """A title, a sentence, a table whose first column names its rows, and what the scores hide."""

    kind: str
    title: str
    said: str = ""
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    details: Json = field(default_factory=dict)  # of metrics.json or an evaluation: its classes, or its channels


def results_page(view: ResultsView) -> str:
    """The table, and below it the tables of classes or channels."""
    opening = [
        tag("p", view.title, class_="verdict", dir="auto"),
        tag("p", view.said, class_="more") if view.said else "",
    ]
    rows = [[tag("bdi", name), *cells] for name, *cells in view.rows]
    parts = [table(view.headings, rows, class_="number"), *map(detail_table, detail_tables(view.details))]
    return page(view.title, view.kind, opening, tag("section", *parts))
