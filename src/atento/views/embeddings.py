"""Words as points, to look at and to keep: neighbours on a terminal, a map as page or picture, a file of vectors.

A map of words as a picture file.
"""

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atento.data.text.vectors import write_vectors
from atento.data.text.word_space import WordSpace, terms_of
from atento.views.attention.alignment import shown
from atento.views.attention.images import KINDS, SETTINGS, kind_of
from atento.views.attention.terminal import columns_of, fitted
from atento.views.embeddings_page import Box, place_labels, render_map, scales
from atento.views.saving import ENDINGS as VIEW_ENDINGS
from atento.views.saving import View, save_view
from atento.views.wording import counted, shortened

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


ON_MAP = 120  # words of a map
AROUND = 40  # of them neighbours of the word asked for
NEIGHBOURS = 10
COMMON = 12  # words whose neighbours are shown when none is asked for
FULL, EIGHTHS = "█", " ▏▎▍▌▋▊▉"
VECTOR_FILES = (".txt", ".vec", ".gz", ".xz")
ENDINGS = (*VIEW_ENDINGS, *VECTOR_FILES)


class Embeddings(WordSpace):
    """The words of a model and their vectors: `.nearest("word")`, `.analogy(...)`, `.map()`, `.save(path)`."""

    def __repr__(self) -> str:
        return f"Embeddings({counted(len(self), 'word')} of {counted(self.vectors.shape[1], 'number')})"

    def save(self, path: str | Path, *, asked: str = "", model: str = "") -> Path:
        """A page, a picture, JSON, or a file of vectors in word2vec's text format, by the name given."""
        path = Path(path)
        if path.suffix.lower() in VECTOR_FILES:
            return write_vectors(path, self.words, self.vectors)
        view = view_of(self, asked, model=model)
        return save_view(view, path, page=render_map, picture=map_picture, endings=ENDINGS)


def view_of(space: WordSpace, asked: str = "", *, model: str = "") -> dict[str, Any]:
    """What is shown, as plain data: the neighbours of what is asked, and a map around it or of the commonest words."""
    terms = [term.word for term in terms_of(asked, space)] if asked.strip() else []
    near = space.nearest(asked, AROUND) if terms else []
    words = list(dict.fromkeys([*terms, *(one.word for one in near)])) or common_words(space, ON_MAP)
    shown = WordSpace(words, [space.vector(word) for word in words])
    groups = [] if terms else [[word, neighbours_of(space, word, 3)] for word in words[:COMMON]]
    return {
        "model": model,
        "asked": asked.strip(),
        "terms": terms,
        "words": len(space),
        "size": space.vectors.shape[1],
        "neighbours": [[one.word, round(one.cosine, 4)] for one in near[:NEIGHBOURS]],
        "groups": groups,
        "map": [[word, round(x, 4), round(y, 4)] for word, (x, y) in zip(words, shown.map().tolist(), strict=True)],
    }


def common_words(space: WordSpace, most: int) -> list[str]:
    """Words stand in the order of how common they are; punctuation has no meaning to show."""
    return [word for word in space.words if any(letter.isalpha() for letter in word)][:most] or list(space.words[:most])


def neighbours_of(space: WordSpace, word: str, count: int) -> list[list[Any]]:
    """The nearest words with their cosines."""
    return [[one.word, round(one.cosine, 4)] for one in space.around(terms_of(word, space), count)]


def embeddings_text(view: View, *, width: int = 80) -> str:
    """The neighbours of what is asked as bars; else the commonest words, each with its nearest."""
    title = f"{counted(view['words'], 'word')} of {counted(view['size'], 'number')} each"
    if view["asked"]:
        return "\n".join([f"nearest to {view['asked']} (cosine; {title})", *bars(view["neighbours"], width)])
    longest = max(columns_of(word) for word, _ in view["groups"])
    lines = [f"{title}; the commonest, each with the nearest to it (cosine)"]
    for word, near in view["groups"]:
        said = ", ".join(f"{other} {cosine:.2f}" for other, cosine in near)
        lines.append(f"  {fitted(word, longest)}  {said}")
    return "\n".join(lines)


def bars(neighbours: Sequence[Sequence[Any]], width: int) -> list[str]:
    """A word, its cosine, and a bar as long as the cosine says."""
    longest = max((columns_of(word) for word, _ in neighbours), default=0)
    room = max(width - longest - 12, 8)
    lines = []
    for word, cosine in neighbours:
        whole, eighths = divmod(round(8 * room * max(cosine, 0.0)), 8)
        number = f"{cosine:.3f}" if math.isfinite(cosine) else "–"
        lines.append(f"  {fitted(word, longest)}  {number:>6} {FULL * whole}{EIGHTHS[eighths]}".rstrip())
    return lines
