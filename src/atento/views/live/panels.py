"""The panels of a live picture: what one frame shows, as plain data for the script of the page and for matplotlib.

Numbers may be lists, numpy arrays or tensors; a NaN is a gap.
"""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.bundle import Json

DIGITS = 5  # significant digits kept: more than a figure can show
Limits = tuple[float, float]


class Panel:
    """One part of a frame: its kind, its texts and its numbers."""

    def __init__(self, kind: str, **content: Any) -> None:
        self.content: Json = {"kind": kind, **content}


class Lines(Panel):
    """Curves by name over shared x values: `Lines({"LSTM": losses}, across="step", up="loss")`.

    Without `x` the values are numbered from 1. `cursor` draws an upright line at one x; `dots` marks every value.
    """

    def __init__(
        self,
        curves: Mapping[str, Any],
        *,
        x: Any = None,
        across: str = "",
        up: str = "",
        title: str = "",
        log_x: bool = False,
        log_y: bool = False,
        cursor: float | None = None,
        dots: bool = False,
        x_limits: Limits | None = None,
        y_limits: Limits | None = None,
    ) -> None:
        longest = max((len(values) for values in curves.values()), default=0)
        places = plain(np.arange(1, longest + 1) if x is None else x)
        series = [
            {"name": name, "x": places[: len(values)], "y": plain(values), "line": True, "dots": dots}
            for name, values in curves.items()
        ]
        given = {"x": x_limits, "y": y_limits}
        log = {"log_x": log_x, "log_y": log_y}
        super().__init__(
            "chart", title=title, across=across, up=up, series=series, cursor=cursor, equal=False, given=given, **log
        )


class Plane(Panel):
    """Points and trajectories in the plane, each an array (N, 2) by name; `labels` names the points of a group.

    A trajectory ends in a dot. `equal` gives both axes one scale.
    """

    def __init__(
        self,
        points: Mapping[str, Any] | None = None,
        *,
        paths: Mapping[str, Any] | None = None,
        labels: Mapping[str, Sequence[str]] | None = None,
        across: str = "",
        up: str = "",
        title: str = "",
        equal: bool = False,
        x_limits: Limits | None = None,
        y_limits: Limits | None = None,
    ) -> None:
        series = []
        for name, values in {**(paths or {}), **(points or {})}.items():
            pairs = numbers(values).reshape(-1, 2)
            is_path = name in (paths or {})
            one = {"name": name, "x": plain(pairs[:, 0]), "y": plain(pairs[:, 1]), "line": is_path, "dots": not is_path}
            series.append(one | {"head": is_path, "labels": list((labels or {}).get(name, ()))})
        given = {"x": x_limits, "y": y_limits}
        super().__init__(
            "chart", title=title, across=across, up=up, series=series, cursor=None, equal=equal, given=given,
            log_x=False, log_y=False,
        )  # fmt: skip


class Bars(Panel):
    """Bars side by side: for each of `names` the value of every series, `Bars(["RNN", "GRU"], {"accuracy": [...]})`."""

    def __init__(
        self,
        names: Sequence[str],
        series: Mapping[str, Any],
        *,
        up: str = "",
        title: str = "",
        y_limits: Limits | None = None,
    ) -> None:
        rows = [{"name": name, "y": plain(values)} for name, values in series.items()]
        super().__init__("bars", title=title, up=up, names=list(names), series=rows, given={"y": y_limits})


class HeatMap(Panel):
    """A matrix (rows, columns) in shades, such as attention weights with queries as rows and keys as columns.

    `diverging` gives negative and positive values two colours; `show_values` writes each value into its cell.
    """

    def __init__(
        self,
        values: Any,
        *,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        across: str = "",
        up: str = "",
        title: str = "",
        limits: Limits | None = None,
        diverging: bool = False,
        show_values: bool = False,
    ) -> None:
        matrix = np.atleast_2d(numbers(values))
        names = {"rows": texts(rows, matrix.shape[0]), "columns": texts(columns, matrix.shape[1])}
        shown = {"values": [plain(row) for row in matrix], "diverging": diverging, "show_values": show_values}
        super().__init__("heat", title=title, across=across, up=up, given={"v": limits}, **names, **shown)


class Cells(Panel):
    """Rows of labelled cells, such as the weights of one query over the words of a sentence, a row by name.

    `Cells(["the", "cat"], {"dot": [0.9, 0.1]})` shades the same texts in every row; `Cells({"day 1": ["sun", "pie"]})`
    has texts of its own in each. `marked` draws a frame around some places of every row.
    """

    def __init__(
        self,
        words: Sequence[str] | Mapping[str, Sequence[str]],
        weights: Mapping[str, Any] | None = None,
        *,
        title: str = "",
        marked: Sequence[int] = (),
        limits: Limits | None = None,
        diverging: bool = False,
        show_values: bool = False,
    ) -> None:
        own = words if isinstance(words, Mapping) else {name: words for name in weights or {"": ()}}
        rows = [
            {"name": name, "texts": list(row), "y": plain((weights or {}).get(name, [np.nan] * len(row)))}
            for name, row in own.items()
        ]
        look = {"marked": list(marked), "diverging": diverging, "show_values": show_values}
        super().__init__("cells", title=title, rows=rows, given={"v": limits}, **look)


class Note:
    """A sentence under a frame: `Note("after {step} steps the loss is {loss:.2f}", step=3, loss=0.1234)`."""

    def __init__(self, text: str, **values: Any) -> None:
        self.text, self.values = text, values

    def written(self, words: Mapping[str, str], language: str) -> str:
        """The sentence in a language."""
        values = {
            key: words.get(value, value) if isinstance(value, str) else value for key, value in self.values.items()
        }
        return fill(words.get(self.text, self.text), values, language)


class LocalFormatter(Formatter):
    """`str.format` with the decimal comma and the point of thousands where a language has them."""

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> str:
        """One value as text."""
        if hasattr(value, "item"):  # a number of numpy or torch
            value = value.item()
        text = format(value, format_spec)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return local_number(text, self.language) if is_number else text


def fill(text: str, values: Mapping[str, Any], language: str) -> str:
    """A text whose placeholders, such as {loss:.2f} or {scores[LSTM]:.0%}, have values."""
    return LocalFormatter(language).vformat(text, (), values)


def local_number(text: str, language: str) -> str:
    """A number as it is written in a language: 1,234.5 in English, 1.234,5 and 12 % in Spanish."""
    if language != "es":
        return text.replace("-", "−")
    return text.translate(str.maketrans(",.-", ".,−")).replace("%", "\N{NO-BREAK SPACE}%")


def numbers(values: Any) -> NDArray[np.float64]:
    """Numbers of any kind as an array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values, dtype=np.float64)


def plain(values: Any) -> list[float | None]:
    """A row of numbers for JSON; what is not finite is a gap."""
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in numbers(values).ravel()]


def texts(names: Sequence[str], count: int) -> list[str]:
    """The names of rows or columns; numbers from 1 where none are given."""
    return [str(name) for name in names] or [str(number) for number in range(1, count + 1)]
