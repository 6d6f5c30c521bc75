"""Windows of a series as arrays, for libraries that ask their users to cut them."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Windows(NamedTuple):
    """Rows before (N, look-back, 1) and the row after them (N, 1)."""

    before: Any
    after: Any


def windows_of(folder: str, part: str, look_back: int) -> Windows:
    """The windows of a part."""
    values = np.load(Path(folder) / f"{part}.npy").astype(np.float32)
    cut = np.lib.stride_tricks.sliding_window_view(values, look_back + 1)
    return Windows(np.ascontiguousarray(cut[:, :-1, None]), np.ascontiguousarray(cut[:, -1:]))
