"""The word vectors of a model: neighbours for a terminal, a map as a page or a figure, and a file of vectors."""

import math
from collections.abc import Sequence
from pathlib import Path

from atento.data.records import counted
from atento.data.text.vectors import write_vectors
from atento.data.text.word_space import Neighbour, WordSpace
from atento.reprs import repr_html
from atento.views.attention.alignment import printable
from atento.views.attention.terminal import bar, columns_of, fitted
from atento.views.figures import saved_figure
from atento.views.html import Markup, embed, page, table, tag
from atento.views.report.charts import LETTER, drawing
from atento.views.saving import ENDINGS as VIEW_ENDINGS
from atento.views.saving import save_view
from atento.views.word_map import HEIGHT, WIDTH, EmbeddingsView, embeddings_view, placed_words, scales
from atento.views.wording import shortened

INCH = 110.0  # pixels of the page's map
DOT = 3.5
MAX_LABEL = 24  # characters
ALIGN = {"start": "left", "middle": "center", "end": "right"}
VECTOR_FILES = (".txt", ".vec", ".gz", ".xz")
ENDINGS = (*VIEW_ENDINGS, *VECTOR_FILES)


class Embeddings(WordSpace):
    """The words of a model and their vectors: `.nearest("word")`, `.analogy(...)`, `.map()`, `.save(path)`."""

    _repr_html_ = repr_html

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
    size = f"{counted(view.words, 'token')} of {counted(view.size, 'number')} each"
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
        number = f"{cosine:.3f}" if math.isfinite(cosine) else "–"
        lines.append(f"  {fitted(word, longest)}  {number:>6} {bar(max(cosine, 0.0), width=room)}".rstrip())
    return lines


def render_map(view: EmbeddingsView) -> str:
    """A single HTML file: the map, and the neighbours of the word that was asked for."""
    kicker = f"{counted(view.words, 'token')} of {view.size} numbers each in {view.model or 'the model'}"
    text = "The first two principal components of the directions of these words."
    data = {
        "words": [point.word for point in view.map],
        "places": [[round(across, 1), round(up, 1)] for across, up in map_places(view)],
        "near": [[[one.word, one.cosine] for one in some] for some in view.near],
        "terms": view.terms,
    }
    figure = tag(
        "section",
        tag("p", text),
        tag("div", tag("figure", map_chart(view), class_="static"), class_="word-map", data_words="word-map-data"),
        embed(data, name="word-map-data"),
        id="map",
    )
    return page(view.title, kicker, [tag("h1", tag("bdi", view.title), class_="pair")], figure, neighbour_table(view))


def map_places(view: EmbeddingsView) -> list[tuple[float, float]]:
    """Where the dot of each word stands."""
    across, up = scales(view.map)
    return [(across.place(point.x), up.place(point.y)) for point in view.map]


def map_chart(view: EmbeddingsView) -> Markup:
    """A dot for every word, with the word as its tooltip, and as many labels as fit."""
    words, parts = [point.word for point in view.map], []
    for word, ((x, y), label) in zip(words, placed_words(view.map, words, letter=LETTER, height=15.0), strict=True):
        accent = word in view.terms
        parts.append(
            tag("circle", tag("title", word), class_="dot accent" if accent else "dot", cx=x, cy=y, r=DOT + 2 * accent)
        )
        if label is not None:
            text = tag("text", word, x=label.x, y=label.y + 4, text_anchor=label.anchor)
            parts.append(tag("g", text, class_="label s0") if accent else text)
    description = f"A map of {len(words)} tokens, among them {', '.join(words[:8])}."
    return drawing(WIDTH, HEIGHT, *parts, label=description, class_="curves")


def neighbour_table(view: EmbeddingsView) -> Markup:
    """The nearest words with their cosines; of the most frequent words when none was asked for."""
    if view.asked:
        found = table(("word", "cosine"), [(one.word, f"{one.cosine:.3f}") for one in view.neighbours])
    else:
        rows = [(word, ", ".join(f"{one.word} {one.cosine:.2f}" for one in near)) for word, near in view.groups]
        found = table(("word", "nearest, with the cosine"), rows)
    return tag("section", found, id="neighbours")


def map_figure(view: EmbeddingsView, path: Path) -> Path:
    """Save a dot for each word and as many labels as fit."""
    words = [shortened(printable(point.word), MAX_LABEL) for point in view.map]
    with saved_figure(path, size=(WIDTH / INCH, HEIGHT / INCH + 0.4)) as figure:
        axes = figure.subplots()
        axes.set_title(f"{view.title} ({view.model or 'embeddings'})", fontsize=11, loc="left", parse_math=False)
        for point, word, (dot, label) in zip(
            view.map, words, placed_words(view.map, words, letter=7.2, height=13.0), strict=True
        ):
            accent = point.word in view.terms
            colour, weight = ("C0", "bold") if accent else ("0.25", "normal")
            axes.plot(*dot, "o", color=colour, markersize=6 if accent else 4)
            if label is not None:
                style = {"ha": ALIGN[label.anchor], "va": "center", "color": colour, "weight": weight}
                axes.text(label.x, label.y, word, parse_math=False, **style)
        axes.set_xlim(0.0, WIDTH)
        axes.set_ylim(HEIGHT, 0.0)
        axes.set_axis_off()
    return path
