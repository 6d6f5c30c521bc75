"""Tables in narrow terminals: which columns stay, and that no number is broken."""

import io
import re

import pytest
from rich.console import Console

from atento.cli import output
from atento.cli.compare import show
from atento.cli.tables import fit_table
from atento.views.report.board import Comparison

HEADINGS = ("model", "exact", "95 % interval", "chrf", "bleu", "parameters", "seconds", "examples/s", "peak MB", "")
NUMBERS = HEADINGS[1:-1]
EXPENDABLE = ("peak MB", "examples/s", "bleu", "chrf", "seconds", "parameters")
ROWS = [
    ("nearest", "0.000", "0.000–0.000", "0.547", "0.370", "–", "0", "–", "285", "winner simple baseline"),
    ("lstm+additive+sparsemax", "0.987", "0.981–0.992", "0.998", "0.991", "1,325,923", "60", "1,540", "612", "tie"),
    (
        "漢字",
        "0.100",
        "0.090–0.110",
        "0.1",
        "0.1",
        "1",
        "1",
        "1",
        "1",
        "failed: exit code 4: training diverged at step 3",
    ),
]


def drawn(width, **options):
    table, hidden = fit_table(HEADINGS, ROWS, width, **{"numbers": NUMBERS, "expendable": EXPENDABLE, **options})
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    return console.file.getvalue(), hidden


@pytest.mark.parametrize(
    "width, hidden",
    [
        (60, ["chrf", "bleu", "parameters", "seconds", "examples/s", "peak MB"]),
        (80, ["chrf", "bleu", "seconds", "examples/s", "peak MB"]),
        (100, ["bleu", "examples/s", "peak MB"]),
        (120, []),
    ],
)
def test_a_comparison_fits_and_every_number_stays_whole(width, hidden):
    text, left_out = drawn(width)
    assert left_out == hidden
    assert max(map(len, text.split("\n"))) <= width
    shown = [place for place, heading in enumerate(HEADINGS[:-1]) if heading not in hidden]
    for row in ROWS:
        line = next(line for line in text.split("\n") if line.startswith(row[0]))
        for place in shown:
            assert re.search(rf"(^|\s){re.escape(row[place])}(\s|$)", line), (row[place], line)


def test_a_terminal_that_holds_no_table_shows_names_and_the_first_number():
    text, hidden = drawn(40)
    assert hidden == list(NUMBERS[1:])
    assert "lstm+additive+sparsemax  0.987" in text


def test_cells_cannot_leave_their_line():
    table, _ = fit_table(["name", "n"], [["a\x1b[31m\nb", "1"]], 40, numbers=["n"], expendable=[])
    console = Console(file=io.StringIO(), width=40)
    console.print(table)
    assert r"a\x1b[31m\nb" in console.file.getvalue()


def test_valid_times_stay_where_they_are_what_is_asked(monkeypatch, capsys):
    monkeypatch.setattr(output, "results", lambda: Console(width=80))
    scores = {"mse": [6.2e-13, 4.9e-13, 7.6e-13], "valid_time": [4.321, 4.0, 4.5], "mae": [0.5, 0.4, 0.6]}
    cost = {"seconds": 3.0, "predictions_per_second": 70.0, "peak_mb": 300.0, "parameters": 201_219}
    row = {"value": 6.2e-13, "low": 4.9e-13, "high": 7.6e-13, "scores": scores, "baseline": True, **cost}
    rows = [{**row, "model": name} for name in ("polynomial", "autoregression")]
    metrics = dict.fromkeys(scores, "")
    board = {"title": "", "task": "forecast", "metric": "mse", "metrics": metrics, "rows": rows, "winner": "polynomial"}
    show(Comparison.from_json({**board, "data": {"name": "", "parts": {}}}))
    assert re.search(r"6\.2e−13 +4\.9e−13–7\.6e−13 +4\.321", capsys.readouterr().out)
