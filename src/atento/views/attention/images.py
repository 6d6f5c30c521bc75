"""Picture files: alignments, and positions as a heat map."""

import warnings
from math import ceil, sqrt
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError
from atento.views.attention.alignment import Alignment, is_spelled, shown, spelled, weights_of, written
from atento.views.wording import shortened

# Each kind of file, and what keeps two pictures of the same numbers equal byte for byte.
KINDS: dict[str, dict[str, Any]] = {
    ".png": {"dpi": 160},
    ".svg": {"metadata": {"Date": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
}
MOST_PANELS = 8
LONGEST_LABEL = 24
LETTERS_AN_INCH = 13  # in the title
TICKS = (0, 0.1, 0.25, 0.5, 1)  # of the scale of weights
SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "atento", "font.size": 9}


def alignment_picture(alignment: Alignment, path: str | Path) -> Path:
    """Save one panel a head, or a layer's mean where heads are many; the suffix says which kind of file."""
    path = Path(path)
    kind = kind_of(path)

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import PowerNorm
    from matplotlib.figure import Figure

    panels = panels_of(alignment)
    columns = ceil(sqrt(len(panels)))
    rows = ceil(len(panels) / columns)
    output, source = len(alignment["output"]), len(alignment["source"])
    size = (columns * min(max(0.16 * source, 2.2), 10.0) + 1.2, rows * (min(max(0.24 * output, 1.2), 12.0) + 0.9) + 0.5)
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Glyph .* missing from")  # scripts the font lacks become boxes
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        title = f"{shown(spelled(alignment['source']))} → {shown(written(alignment))}"
        lines = wrap(title, int(size[0] * LETTERS_AN_INCH), max_lines=3, placeholder=" …")
        figure.suptitle("\n".join(lines), fontsize=10, parse_math=False)
        grid = figure.subplots(rows, columns, squeeze=False)
        colours = {"cmap": "Blues", "norm": PowerNorm(0.5, vmin=0.0, vmax=1.0)}  # the root lets small weights be seen
        for place, (name, matrix) in enumerate(panels.items()):
            image = draw_panel(grid.flat[place], alignment, matrix, colours, name if len(panels) > 1 else "")
        figure.colorbar(image, ax=grid, ticks=TICKS, format="%g", fraction=0.03, pad=0.01, label="weight")
        for spare in grid.flat[len(panels) :]:
            spare.set_axis_off()
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path


def positions_picture(table: NDArray[np.float64], path: str | Path) -> Path:
    """Save positions as a heat map: table (positions, features), e.g. `Sinusoidal(500)(torch.arange(2000))`."""
    path = Path(path)
    kind = kind_of(path)
    if table.ndim != 2:
        raise InputError(
            "positions are a table of positions × features.",
            found=f"shape {table.shape}",
            fix="give two axes, e.g. Sinusoidal(500)(torch.arange(2000)).numpy()",
        )

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.0, 6.0), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        figure.colorbar(draw_positions(axes, table), ax=axes, fraction=0.04, pad=0.02, label="value")
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path


def draw_positions(axes: Any, table: NDArray[np.float64]) -> Any:
    """Each position a row, from the top, each feature a column; gives back the image, which holds the numbers."""
    most = float(np.abs(table).max(initial=0.0)) or 1.0
    image = axes.imshow(table, aspect="auto", interpolation="nearest", cmap="RdBu", vmin=-most, vmax=most)
    axes.set_xlabel("feature")
    axes.set_ylabel("position")
    return image


def kind_of(path: Path) -> str:
    """The suffix, if a picture can be saved so, where it says."""
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise InputError(
            f"pictures cannot be saved as {path.suffix or 'a file without suffix'!r}.",
            found=str(path),
            fix=f"end the name with {', '.join(KINDS)}",
        )
    if not path.parent.is_dir():
        raise InputError("the folder of the picture does not exist.", found=str(path.parent), fix="create it first")
    return kind


def panels_of(alignment: Alignment) -> dict[str, NDArray[np.float64]]:
    """Titled matrices (O, S): every head, or the mean of each layer when heads are more than eight."""
    weights = weights_of(alignment)
    layers, heads = weights.shape[:2]
    if layers * heads > MOST_PANELS:
        return {f"layer {layer + 1}, mean of {heads} heads": weights[layer].mean(axis=0) for layer in range(layers)}
    return {
        f"layer {layer + 1}, head {head + 1}" if layers > 1 else f"head {head + 1}": weights[layer, head]
        for layer in range(layers)
        for head in range(heads)
    }


def draw_panel(
    axes: Any, alignment: Alignment, matrix: NDArray[np.float64], colours: dict[str, Any], title: str
) -> Any:
    """One matrix with its pieces around it; gives back the image, which knows the scale of colours."""
    output = [shortened(shown(piece), LONGEST_LABEL) for piece in alignment["output"]]
    source = [shortened(shown(piece), LONGEST_LABEL) for piece in alignment["source"]]
    image = axes.imshow(matrix, aspect="auto", interpolation="nearest", **colours)
    rotation = 0 if is_spelled(alignment["source"]) else 90
    axes.set_xticks(range(len(source)), source, rotation=rotation, parse_math=False, family="DejaVu Sans")
    axes.set_yticks(range(len(output)), output, parse_math=False, family="DejaVu Sans")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if title:
        axes.set_xlabel(title, color="0.35")
    return image
