"""Matplotlib figures saved as files: the formats, and what every figure has in common."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from atento.errors import InputError
from atento.extras import require_extra
from atento.writing import write_atomically

# Each format, and the settings that make two files of the same numbers equal byte for byte.
FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"dpi": 160},
    ".svg": {"metadata": {"Date": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
}
SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "atento", "font.size": 9}


@contextmanager
def saved_figure(path: Path, *, size: tuple[float, float]) -> Iterator[Any]:
    """A new figure of so many inches; it is saved to the path when the block ends, in the format of its suffix."""
    drawn = io.BytesIO()
    with new_figure(drawn, format_of(path), size=size) as figure:
        yield figure
    write_atomically(path, drawn.getvalue())


@contextmanager
def new_figure(target: BinaryIO, suffix: str, *, size: tuple[float, float]) -> Iterator[Any]:
    """The same for a buffer in memory."""
    require_extra("figures", f"a figure as {suffix[1:].upper()}", instead="save it as .html where there is a page")
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Glyph .* missing from")  # scripts the font lacks become boxes
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        figure.savefig(target, format=suffix[1:], **FORMATS[suffix])


def format_of(path: Path) -> str:
    """The suffix of the path, if it is one of FORMATS and the folder exists."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(
            f"figures cannot be saved as {path.suffix or 'a file without suffix'!r}.",
            found=str(path),
            fix=f"end the name with {', '.join(FORMATS)}",
        )
    if not path.parent.is_dir():
        raise InputError("the folder of the figure does not exist.", found=str(path.parent), fix="create it first")
    return suffix


def light_grid(axes: Any) -> None:
    """Draw a light grid behind the data, and no frame at the top and on the right."""
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
