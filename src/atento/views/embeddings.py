"""The word vectors of a model: neighbours for a terminal, a map as a page or a figure, and a file of vectors."""

import math
from collections.abc import Sequence
from pathlib import Path

from atento.data.text.vectors import write_vectors
from atento.data.text.word_space import Neighbour, WordSpace
from atento.views.attention.alignment import printable
from atento.views.attention.terminal import columns_of, fitted
from atento.views.embeddings_page import render_map
from atento.views.figures import saved_figure
from atento.views.saving import ENDINGS as VIEW_ENDINGS
from atento.views.saving import save_view
from atento.views.word_map import Box, EmbeddingsView, embeddings_view, place_labels, scales
from atento.views.wording import counted, shortened

INCH = 110.0  # pixels of the page's map
LETTER, LABEL, GAP = 7.2, 13.0, 8.0
MAX_LABEL = 24  # characters
ALIGN = {"start": "left", "middle": "center", "end": "right"}
FULL, EIGHTHS = "█", " ▏▎▍▌▋▊▉"
VECTOR_FILES = (".txt", ".vec", ".gz", ".xz")
ENDINGS = (*VIEW_ENDINGS, *VECTOR_FILES)


class Embeddings(WordSpace):
    """The words of a model and their vectors: `.nearest("word")`, `.analogy(...)`, `.map()`, `.save(path)`."""

    def __repr__(self) -> str:
        return f"Embeddings({counted(len(self), 'word')} of {counted(self.vectors.shape[1], 'number')})"

    def save(self, path: str | Path, *, asked: str = "", model: str = "") -> Path:
        """Save a page, a figure, JSON, or vectors in the text format of word2vec, by the name of the file."""
        path = Path(path)
        if path.suffix.lower() in VECTOR_FILES:
            return write_vectors(path, self.words, self.vectors)
        view = embeddings_view(self, asked, model=model)
        return save_view(view, path, page=render_map, figure=map_figure, endings=ENDINGS)


def embeddings_text(view: EmbeddingsView, *, width: int = 80) -> str:
    """The neighbours of the word asked for as bars; else the most frequent words, each with its nearest."""
    size = f"{counted(view.words, 'word')} of {counted(view.size, 'number')} each"
    if view.asked:
        return "\n".join([f"nearest to {view.asked} (cosine; {size})", *bars(view.neighbours, width)])
    longest = max(columns_of(word) for word, _ in view.groups)
    lines = [f"{size}; the most frequent, each with the nearest to it (cosine)"]
    for word, near in view.groups:
        lines.append(f"  {fitted(word, longest)}  {', '.join(f'{one.word} {one.cosine:.2f}' for one in near)}")
    return "\n".join(lines)


def bars(neighbours: Sequence[Neighbour], width: int) -> list[str]:
    """A line for each word: its cosine, and a bar of that length."""
    longest = max((columns_of(one.word) for one in neighbours), default=0)
    room = max(width - longest - 12, 8)
    lines = []
    for word, cosine in neighbours:
        whole, eighths = divmod(round(8 * room * max(cosine, 0.0)), 8)
        number = f"{cosine:.3f}" if math.isfinite(cosine) else "–"
        lines.append(f"  {fitted(word, longest)}  {number:>6} {FULL * whole}{EIGHTHS[eighths]}".rstrip())
    return lines


def map_figure(view: EmbeddingsView, path: Path) -> Path:
    """Save a dot for each word and as many labels as fit."""
    across, up = scales(view.map)
    dots = [(across.place(point.x), up.place(point.y)) for point in view.map]
    words = [shortened(printable(point.word), MAX_LABEL) for point in view.map]
    frame = Box(across.start, up.stop, across.stop, up.start)
    places = place_labels(dots, [columns_of(word) * LETTER for word in words], height=LABEL, gap=GAP, frame=frame)
    with saved_figure(path, size=(across.stop / INCH, up.start / INCH + 0.4)) as figure:
        axes = figure.subplots()
        axes.set_title(f"{view.title} ({view.model or 'embeddings'})", fontsize=11, loc="left", parse_math=False)
        for label, (x, y), place, point in zip(words, dots, places, view.map, strict=True):
            accent = point.word in view.terms
            colour = "C0" if accent else "0.25"
            axes.plot(x, y, "o", color=colour, markersize=6 if accent else 4)
            if place is not None:
                axes.text(
                    *place[:2],
                    label,
                    ha=ALIGN[place.anchor],
                    va="center",
                    color=colour,
                    weight="bold" if accent else "normal",
                    parse_math=False,
                )
        axes.set_xlim(across.start, across.stop)
        axes.set_ylim(up.start, up.stop)
        axes.set_axis_off()
    return path
