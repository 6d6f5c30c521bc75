"""Counts as bars of blocks, for a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from atento.looking.terminal import columns_of, fitted

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
