"""Tables that fit a terminal: columns are left out by priority, texts wrap at words, a number never wraps."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from atento.views.wording import printable

GAP = 2  # blanks between two columns
NARROW_TEXT, NARROWEST_TEXT = 22, 8  # columns of a terminal that a text needs to be read well, and at all


def fit_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    numbers: Sequence[str],
    expendable: Sequence[str],
) -> tuple[Table, list[str]]:
    """A plain table of at most that width, and the columns that were left out for it: the `expendable` ones, the first
    named first, then numbers, the last first. Numbers stand to the right; neither they nor the first column wrap.
    """
    cells = [[printable(cell, lines=False) for cell in row] for row in rows]
    fixed = [heading for place, heading in enumerate(headings) if heading in numbers or not place]
    widths = {
        heading: natural_width(heading, [row[place] for row in cells], wraps=heading in fixed)
        for place, heading in enumerate(headings)
    }
    hidden: list[str] = []
    for order, least in ((expendable, NARROW_TEXT), (numbers[:0:-1], NARROWEST_TEXT)):  # numbers but the first
        hidden = columns_to_hide(widths, fixed, order, width, hidden=hidden, least_text=least)
    shown = [place for place, heading in enumerate(headings) if heading not in hidden]
    kept = {headings[place]: widths[headings[place]] for place in shown}
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", show_edge=False)
    for name, each in fitted_widths(kept, fixed, width).items():
        side: Literal["right", "left"] = "right" if name in numbers else "left"
        table.add_column(heading_lines(name, each), justify=side, overflow="fold", width=each)
    for row in cells:
        table.add_row(*(Text(row[place]) for place in shown))
    return table, [heading for heading in headings if heading in hidden]


def natural_width(heading: str, cells: Sequence[str], *, wraps: bool) -> int:
    """The width of a column in which no cell wraps; a heading may, at its blanks."""
    words = [max(map(cell_len, heading.split()), default=0) if wraps else cell_len(heading)]
    return max([*words, *map(cell_len, cells)])


def columns_to_hide(
    widths: Mapping[str, int],
    fixed: Sequence[str],
    order: Sequence[str],
    width: int,
    *,
    hidden: Sequence[str],
    least_text: int,
) -> list[str]:
    """The columns that must go, beside those that are hidden already, for the others to fit: the first of `order`."""
    least = {name: each if name in fixed else min(each, least_text) for name, each in widths.items()}
    gone = list(hidden)
    for name in order:
        kept = [each for each in least if each not in gone]
        if sum(least[each] for each in kept) + GAP * (len(kept) - 1) <= width:
            break
        if name in kept:
            gone.append(name)
    return gone


def fitted_widths(widths: Mapping[str, int], fixed: Sequence[str], width: int) -> dict[str, int]:
    """The widths of the columns in a terminal: the fixed ones as they are, the texts share the rest."""
    free = width - GAP * (len(widths) - 1) - sum(widths[name] for name in widths if name in fixed)
    found = {name: min(each, width) for name, each in widths.items()}
    texts = sorted((name for name in widths if name not in fixed), key=widths.__getitem__)
    for place, name in enumerate(texts):  # the narrowest first: what it does not need is for the others
        found[name] = max(1, min(widths[name], free // (len(texts) - place)))
        free -= found[name]
    return found


def heading_lines(heading: str, width: int) -> str:
    """A heading, wrapped between words where it is wider than its column."""
    return "\n".join(wrap(heading, max(1, width), break_long_words=False, break_on_hyphens=False))
