"""Who stands where on a board: finished rows best first, failed ones apart, each model's place in the charts."""

from collections.abc import Mapping
from typing import Any

from atento.views.wording import is_number

Board = Mapping[str, Any]
Row = Mapping[str, Any]


def ranked(board: Board) -> list[Row]:
    """The rows that have a value, best first; the winner leads its equals."""
    rows = [row for row in board["rows"] if has_value(row)]
    sign = 1 if board.get("smaller_is_better") else -1
    return sorted(rows, key=lambda row: (sign * row["value"], row["model"] != board.get("winner")))


def failed(board: Board) -> list[Row]:
    """The rows that have none."""
    return [row for row in board["rows"] if not has_value(row)]


def has_value(row: Row) -> bool:
    """Whether the model was trained and scored."""
    return not row.get("failed") and is_number(row.get("value"))


def series(board: Board) -> dict[str, int]:
    """The number of each model's colour and marker; the winner's is 0, the accent."""
    models = [row["model"] for row in ranked(board)]
    models.sort(key=lambda model: model != board.get("winner"))
    return {model: number for number, model in enumerate(models)}


def standing(board: Board, row: Row) -> list[str]:
    """What to say of a row in words, beside its name."""
    words = []
    if row["model"] == board.get("winner") and len(board["rows"]) > 1:
        words.append("winner")
    elif row["model"] in board.get("ties", ()):
        words.append("tied")
    if row.get("baseline"):
        words.append("baseline")
    return words
