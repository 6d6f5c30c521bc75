"""Alignments as shaded text, for a terminal.

Counts as bars of blocks, for a terminal.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atento.views.attention.alignment import Alignment, is_spelled, mean_of_heads, shown

SHADES = {0.75: "█", 0.5: "▓", 0.25: "▒", 0.05: "░"}  # a weight of at least so much
LONGEST_ROW_LABEL = 16
LONGEST_WORD = 12
LEAST_COLUMNS = 8  # the room that row labels must leave


def shade(alignment: Alignment, *, width: int = 80, layer: int = -1) -> str:
    """Rows are output pieces, columns source pieces; a source wider than the terminal goes on in a further band."""
    matrix = mean_of_heads(alignment, layer=layer)
    source = [shown(piece) for piece in alignment["source"]]
    output = [shown(piece) for piece in alignment["output"]]
    label_width = min(max(map(columns_of, output), default=0), LONGEST_ROW_LABEL, max(width - LEAST_COLUMNS, 1))
    labels = [fitted(piece, label_width) for piece in output]
    narrow = is_spelled(alignment["source"])
    room = max(width - label_width - 1, 2)
    widths = [column_width(piece, narrow=narrow, most=room) for piece in source]
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
    """A header of source pieces over one line an output piece."""
    margin = " " * (columns_of(labels[0]) if labels else 0)
    lines = [f"{margin} {line}" for line in header(source, widths, narrow=narrow)]
    for label, weights in zip(labels, matrix, strict=True):
        cells = (shading(weight) * size for weight, size in zip(weights, widths, strict=True))
        lines.append(f"{label} {gap(narrow).join(cells)}")
    return "\n".join(line.rstrip() for line in lines)


def header(source: Sequence[str], widths: Sequence[int], *, narrow: bool) -> Iterator[str]:
    """Words lie over their columns; among characters, a longer piece is written downward."""
    if not narrow:
        yield gap(narrow).join(fitted(piece, size) for piece, size in zip(source, widths, strict=True))
        return
    letters = [clusters(piece)[:LONGEST_WORD] for piece in source]
    depth = max(map(len, letters), default=0)
    for line in range(depth):
        cells = []
        for column, size in zip(letters, widths, strict=True):
            at = line - (depth - len(column))  # pieces stand on the first row, short ones leave room above
            cells.append(fitted(column[at] if at >= 0 else "", size))
        yield gap(narrow).join(cells)


def gap(narrow: bool) -> str:
    """What stands between two columns."""
    return "" if narrow else " "


def folds(widths: Sequence[int], *, room: int, gap: int) -> Iterator[tuple[int, int]]:
    """Where each band starts and stops."""
    start, used = 0, 0
    for place, size in enumerate(widths):
        if place > start and used + size > room:
            yield start, place
            start, used = place, 0
        used += size + gap
    yield start, len(widths)


def column_width(piece: str, *, narrow: bool, most: int) -> int:
    """The columns a piece's shading takes."""
    if narrow:
        return max(map(columns_of, clusters(piece)), default=1)
    return max(min(columns_of(piece), LONGEST_WORD, most), 1)


def shading(weight: float) -> str:
    """The block of a weight; a blank below the least, ? for what is no number."""
    if np.isnan(weight):
        return "?"
    return next((sign for least, sign in SHADES.items() if weight >= least), " ")


def clusters(text: str) -> list[str]:
    """Letters together with the marks that stand on them."""
    found: list[str] = []
    for letter in text:
        if found and columns_of(letter) == 0:
            found[-1] += letter
        else:
            found.append(letter)
    return found


def columns_of(text: str) -> int:
    """How many columns a terminal gives a text: two for wide letters, none for marks on letters."""
    return sum(0 if unicodedata.category(letter) in ("Mn", "Me", "Cf") else 2 if wide(letter) else 1 for letter in text)


def wide(letter: str) -> bool:
    """Whether a letter takes two columns."""
    return unicodedata.east_asian_width(letter) in ("W", "F")


def fitted(text: str, size: int) -> str:
    """Exactly `size` columns: cut with … or filled with blanks."""
    if columns_of(text) > size:
        kept = ""
        for cluster in clusters(text):
            if columns_of(kept + cluster) > size - 1:
                break
            kept += cluster
        text = kept + "…" if size > 0 else ""
    return text + " " * (size - columns_of(text))


EIGHTHS = " ▏▎▍▌▋▊▉"
WIDTH = 32
LONGEST_NAME = 24


@dataclass(frozen=True)
class Counted:
    """A name, how often it came, and that as a share."""

    name: str
    count: int
    share: float


def bar(part: float, *, width: int = WIDTH) -> str:
    """A share of the full width, to an eighth of a letter; what is more than nothing shows."""
    eighths = round(8 * width * part)
    if part > 0:
        eighths = max(1, eighths)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def bars(rows: Sequence[Counted], *, width: int = WIDTH) -> list[str]:
    """A line each: name, bar, count and share, the largest as long as the width; columns stand under each other."""
    if not rows:
        return []
    most = max(row.count for row in rows) or 1
    names = [fitted(row.name, min(LONGEST_NAME, max(columns_of(row.name) for row in rows))) for row in rows]
    digits = max(len(f"{row.count:,}") for row in rows)
    return [
        f"{name}  {bar(row.count / most, width=width):<{width}}  {row.count:>{digits},}  {100 * row.share:5.1f} %"
        for name, row in zip(names, rows, strict=True)
    ]
