"""How a file writes its times, found by writing them again: so that what comes after them is written alike."""

from collections.abc import Sequence
from datetime import datetime
from itertools import product

import numpy as np

from atento.data.series.series import Times

DAYS = (
    "%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d",
    "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%d%b%Y",
)  # fmt: skip
MONTHS = ("%Y-%m", "%m/%Y", "%Y/%m", "%m.%Y", "%Y%m", "%b %Y", "%Y")
CLOCKS = ("", " %H:%M:%S", " %H:%M", "T%H:%M:%S", "T%H:%M", "T%H:%M:%SZ", " %I:%M %p")
SAMPLE = 50  # cells at either end that are written again


def time_format(cells: Sequence[str], last: np.datetime64) -> str:
    """The format of strftime in which these cells are written, the latest of which means `last`; empty: not known.

    Day and month are told apart by what the latest one means.
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    sample = [*filled[:SAMPLE], *filled[-SAMPLE:]]
    known = (*(day + clock for day, clock in product(DAYS, CLOCKS)), *MONTHS)
    for form, padded in product(known, (True, False)):
        written = form if padded else form.replace("%d", "%-d").replace("%m", "%-m").replace("%H", "%-H")
        if sample and all(rewritten(cell, form, written) == cell for cell in sample):
            latest = max(datetime.strptime(cell, form) for cell in filled if rewritten(cell, form, written) == cell)
            if np.datetime64(latest) == last:
                return written
    return ""


def rewritten(cell: str, form: str, written: str) -> str:
    """A time read and written again; empty where it is no such time."""
    try:
        return datetime.strptime(cell, form).strftime(written)
    except ValueError:
        return ""


def write_times(times: Times, form: str) -> list[str]:
    """Times as a file writes them."""
    return [one.strftime(form) for one in times.astype("datetime64[us]").astype(datetime)]
