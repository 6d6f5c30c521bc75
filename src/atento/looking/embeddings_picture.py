"""A map of words as a picture file."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atento.looking.alignment import shown
from atento.looking.embeddings_page import scales
from atento.looking.map_labels import Box, place_labels
from atento.looking.pictures import KINDS, SETTINGS, kind_of
from atento.looking.terminal import columns_of
from atento.looking.wording import shortened

View = Mapping[str, Any]  # what `atento.looking.embeddings.view_of` gives

INCH = 110.0  # pixels of the page's map
LETTER, LABEL, GAP = 7.2, 13.0, 8.0
LONGEST = 24
ALIGN = {"start": "left", "middle": "center", "end": "right"}


def map_picture(view: View, path: str | Path) -> Path:
    """Save a dot a word and as many names as fit; the suffix says which kind of file."""
    path = Path(path)
    kind = kind_of(path)

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, up = scales(view["map"])
    dots = [(across.place(x), up.place(y)) for _, x, y in view["map"]]
    words = [shortened(shown(word), LONGEST) for word, _, _ in view["map"]]
    frame = Box(across.start, up.stop, across.stop, up.start)
    places = place_labels(dots, [columns_of(word) * LETTER for word in words], height=LABEL, gap=GAP, frame=frame)
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Glyph .* missing from")  # scripts the font lacks become boxes
        figure = Figure(figsize=(across.stop / INCH, up.start / INCH + 0.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        title = f"nearest to {view['asked']}" if view["asked"] else "words used alike stand near each other"
        axes.set_title(f"{title} ({view['model'] or 'embeddings'})", fontsize=11, loc="left", parse_math=False)
        for word, (x, y), place, entry in zip(words, dots, places, view["map"], strict=True):
            accent = entry[0] in view["terms"]
            colour = "C0" if accent else "0.25"
            axes.plot(x, y, "o", color=colour, markersize=6 if accent else 4)
            if place is not None:
                axes.text(
                    *place[:2],
                    word,
                    ha=ALIGN[place.anchor],
                    va="center",
                    color=colour,
                    weight="bold" if accent else "normal",
                    parse_math=False,
                )
        axes.set_xlim(across.start, across.stop)
        axes.set_ylim(up.start, up.stop)
        axes.set_axis_off()
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path
