"""Alignments as shaded text, and counts as bars, for a terminal."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atento.views.attention.alignment import AlignmentView, are_characters, mean_of_heads, printable

SHADES = {0.75: "█", 0.5: "▓", 0.25: "▒", 0.05: "░"}  # a weight of at least so much
LONGEST_ROW_LABEL = 16
LONGEST_WORD = 12
LONGEST_NAME = 24
LEAST_COLUMNS = 8  # the room that row labels must leave
EIGHTHS = " ▏▎▍▌▋▊▉"
BAR_WIDTH = 32


def shade(alignment: AlignmentView, *, width: int = 80, layer: int = -1) -> str:
    """A matrix of shades: rows are output tokens, columns source tokens; one wider than the terminal is folded."""
    matrix = mean_of_heads(alignment, layer=layer)
    source = [printable(token) for token in alignment.source]
    output = [printable(token) for token in alignment.output]
    label_width = min(max(map(columns_of, output), default=0), LONGEST_ROW_LABEL, max(width - LEAST_COLUMNS, 1))
    labels = [fitted(token, label_width) for token in output]
    narrow = are_characters(alignment.source)
    room = max(width - label_width - 1, 2)
    widths = [column_width(token, narrow=narrow, most=room) for token in source]
    bands = [
        band(source[start:stop], widths[start:stop], labels, matrix[:, start:stop], narrow=narrow)
        for start, stop in folds(widths, room=room, gap=len(gap(narrow)))
    ]
    legend = "  ".join(f"{sign} ≥ {least:g}" for least, sign in sorted(SHADES.items()))
    return "\n\n".join([*bands, fitted(legend, width).rstrip()])


def band(
    source: Sequence[str],
    widths: Sequence[int],
    labels: Sequence[str],
    matrix: NDArray[np.float64],
    *,
    narrow: bool,
) -> str:
    """A header of source tokens above a line for each output token."""
    margin = " " * (columns_of(labels[0]) if labels else 0)
    lines = [f"{margin} {line}" for line in header(source, widths, narrow=narrow)]
    for label, weights in zip(labels, matrix, strict=True):
        cells = (shading(weight) * size for weight, size in zip(weights, widths, strict=True))
        lines.append(f"{label} {gap(narrow).join(cells)}")
    return "\n".join(line.rstrip() for line in lines)


def header(source: Sequence[str], widths: Sequence[int], *, narrow: bool) -> Iterator[str]:
    """Words stand above their columns; among characters, a longer token is written downward."""
    if not narrow:
        yield gap(narrow).join(fitted(token, size) for token, size in zip(source, widths, strict=True))
        return
    letters = [clusters(token)[:LONGEST_WORD] for token in source]
    depth = max(map(len, letters), default=0)
    for line in range(depth):
        cells = []
        for column, size in zip(letters, widths, strict=True):
            at = line - (depth - len(column))  # tokens are aligned at the bottom
            cells.append(fitted(column[at] if at >= 0 else "", size))
        yield gap(narrow).join(cells)


def gap(narrow: bool) -> str:
    """The space between two columns."""
    return "" if narrow else " "


def folds(widths: Sequence[int], *, room: int, gap: int) -> Iterator[tuple[int, int]]:
    """The first and the last column of each band."""
    start, used = 0, 0
    for place, size in enumerate(widths):
        if place > start and used + size > room:
            yield start, place
            start, used = place, 0
        used += size + gap
    yield start, len(widths)


def column_width(token: str, *, narrow: bool, most: int) -> int:
    """How many terminal columns the shade of a token takes."""
    if narrow:
        return max(map(columns_of, clusters(token)), default=1)
    return max(min(columns_of(token), LONGEST_WORD, most), 1)


def shading(weight: float) -> str:
    """The block character of a weight; a blank below the least shade, ? for NaN."""
    if np.isnan(weight):
        return "?"
    return next((sign for least, sign in SHADES.items() if weight >= least), " ")


def clusters(text: str) -> list[str]:
    """Characters together with the combining marks on them."""
    found: list[str] = []
    for letter in text:
        if found and columns_of(letter) == 0:
            found[-1] += letter
        else:
            found.append(letter)
    return found


def columns_of(text: str) -> int:
    """How many terminal columns a text takes: two for wide characters, none for combining marks."""
    return sum(0 if unicodedata.category(letter) in ("Mn", "Me", "Cf") else 2 if wide(letter) else 1 for letter in text)


def wide(letter: str) -> bool:
    """Whether a character takes two columns."""
    return unicodedata.east_asian_width(letter) in ("W", "F")


def fitted(text: str, size: int) -> str:
    """The text in exactly `size` columns: cut with … or padded with blanks."""
    if columns_of(text) > size:
        kept = ""
        for cluster in clusters(text):
            if columns_of(kept + cluster) > size - 1:
                break
            kept += cluster
        text = kept + "…" if size > 0 else ""
    return text + " " * (size - columns_of(text))


@dataclass(frozen=True)
class NamedCount:
    """A name, how often it occurs, and that as a share of all."""

    name: str
    count: int
    share: float


def bar(part: float, *, width: int = BAR_WIDTH) -> str:
    """A bar of that share of the width, to an eighth of a character; any share above 0 is visible."""
    eighths = round(8 * width * part)
    if part > 0:
        eighths = max(1, eighths)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def bars(rows: Sequence[NamedCount], *, width: int = BAR_WIDTH) -> list[str]:
    """A line for each: name, bar, count and share in columns; the largest bar fills the width."""
    if not rows:
        return []
    most = max(row.count for row in rows) or 1
    names = [fitted(row.name, min(LONGEST_NAME, max(columns_of(row.name) for row in rows))) for row in rows]
    digits = max(len(f"{row.count:,}") for row in rows)
    return [
        f"{name}  {bar(row.count / most, width=width):<{width}}  {row.count:>{digits},}  {100 * row.share:5.1f} %"
        for name, row in zip(names, rows, strict=True)
    ]
