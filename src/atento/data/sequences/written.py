"""Sequences as one text: cells of each channel to `0.53,0 0.91,1`, steps parted by spaces, channels by commas."""

from collections.abc import Sequence

from atento.data.number_sequences import is_missing

SEQUENCE, LABEL, TARGET = "sequence", "label", "target"  # what columns are called where a format does not name them
GAP = "nan"  # a number that is missing


def write_channels(channels: Sequence[Sequence[str]]) -> str:
    """One text of channels, each a list of cells as long as the others."""
    if len(channels) == 1:
        return " ".join(channels[0])
    return " ".join(map(",".join, zip(*channels, strict=True)))


def cells_of(text: str, between: str = ",") -> list[str]:
    """The cells of a channel, those that are missing as `nan`."""
    cells = text.split(between)
    if "?" in text or " " in text or not all(cells):
        cells = [cell.strip() for cell in cells]
        return [GAP if is_missing(cell) else cell for cell in cells]
    return cells


def without_missing_end(channels: Sequence[list[str]]) -> list[list[str]]:
    """The channels up to the last step of which any number is there."""
    end = len(channels[0])
    while end > 1 and all(is_missing(cells[end - 1]) for cells in channels):
        end -= 1
    return [[GAP if is_missing(cell) else cell for cell in cells[:end]] for cells in channels]
