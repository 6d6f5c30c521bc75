"""Static pages of what the viewer and other scripts show in a browser: attention maps, matrices, units, tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from atento.data.records import counted
from atento.models.diagnostics.attention_maps import AttentionMap
from atento.tasks.traces import Alignment, TraceMatrix
from atento.views.attention.alignment import (
    AlignmentView,
    are_characters,
    has_weights,
    joined_text,
    output_text,
    printable,
    weights_of,
)
from atento.views.attention.attribution import shade_of
from atento.views.attention.maps import AttentionMapsView
from atento.views.context import ContextView, WordInContext
from atento.views.html import Markup, joined, page, table, tag
from atento.views.model.positions import PositionsView, PositionTable
from atento.views.notebook.pictures import heat_map, line_chart
from atento.views.report.charts import Point
from atento.views.states import StatesView
from atento.views.steps import StepsView, matrix_text
from atento.views.tokens import TokenLevel, TokensView, shown
from atento.views.wording import shortened

# Axes: L layers, H heads, Q queries, K keys.

LONG = 300  # characters of a text
MOST_PICTURES = 12
MOST_CURVES = 8
MOST_CELLS = 8  # rows, and columns, of a matrix
WIDE = 200  # columns of text, in which they stand side by side


def alignment_page(alignment: Alignment | AlignmentView) -> str:
    """One output with its source, and the mean over the heads of the last layer."""
    view = alignment if isinstance(alignment, AlignmentView) else AlignmentView(**alignment.to_json())
    source = joined_text(view.source) if not view.image else "an image"
    parts: list[object] = [tag("p", view.explanation)] if view.explanation else []
    if has_weights(view):
        weights = weights_of(view)
        parts.append(map_picture("attention", weights, view.output, view.source, layer=len(weights) - 1))
    return pair_page("attention", view.model, source, output_text(view), *parts)


def maps_page(view: AttentionMapsView) -> str:
    """Every attention map of one input: for each layer the mean over its heads."""
    pictures = [picture for one in view.maps for picture in pictures_of(one)]
    left = len(pictures) - MOST_PICTURES
    more = tag("p", f"{counted(left, 'more map')} not shown. ", class_="note") if left > 0 else ""
    parts = [
        tag("p", view.explanation) if view.explanation else "",
        tag("div", *pictures[:MOST_PICTURES], class_="heats"),
    ]
    return pair_page("attention maps", view.model, view.source, view.output, *parts, more)


def pictures_of(one: AttentionMap) -> Iterator[Markup]:
    """A picture for each layer of a map, the last first."""
    weights = one.weights.detach().cpu().double().numpy()
    for layer in reversed(range(len(weights))):
        yield map_picture(one.name, weights, one.queries, one.keys, layer=layer)


def map_picture(
    name: str, weights: NDArray[np.float64], queries: Sequence[str], keys: Sequence[str], *, layer: int
) -> Markup:
    """The mean over the heads of one layer of weights (L, H, Q, K), with its name below."""
    layers, heads = weights.shape[:2]
    parts = [name, f"layer {layer + 1} of {layers}" * (layers > 1), f"mean of {heads} heads" * (heads > 1)]
    text = ", ".join(filter(None, parts))
    with np.errstate(invalid="ignore"):
        mean = weights[layer].mean(axis=0)
    picture = heat_map(mean, queries=queries, keys=keys, label=f"{text}: queries down, keys across.")
    return tag("figure", picture, tag("figcaption", text, class_="note"))


def pair_page(kicker: str, model: str, source: str, output: str, *parts: object) -> str:
    """A source, what the model wrote, and what is shown of it."""
    said = [
        tag("bdi", shortened(source, LONG)),
        tag("span", " → ", class_="arrow"),
        tag("bdi", shortened(output, LONG)),
    ]
    about = f"{kicker} of {model}" if model else kicker
    return page(about, about, [tag("p", *said, class_="verdict")], tag("section", *parts))


def matrices_page(view: StepsView) -> str:
    """One forward pass: the title, shape and formula of each matrix, and its first numbers folded."""
    matrices = tag("div", *map(folded_matrix, view.steps), class_="matrices")
    return pair_page("one forward pass", view.model, view.source, view.output, matrices)


def folded_matrix(step: TraceMatrix) -> Markup:
    """One matrix, its first rows and columns folded."""
    first = replace(
        step,
        rows=[printable(name) for name in step.rows[:MOST_CELLS]],
        columns=[printable(name) for name in step.columns[:MOST_CELLS]],
        matrix=[numbers[:MOST_CELLS] for numbers in step.matrix[:MOST_CELLS]],
    )
    _, _, numbers = matrix_text(first, width=WIDE).strip().partition("\n")
    more = f"\n… {len(step.rows) - MOST_CELLS} more rows" if len(step.rows) > MOST_CELLS else ""
    size = " × ".join(map(str, step.shape))
    summary = tag("summary", step.title, tag("span", f"{size} · {step.formula}"))
    return tag("details", summary, tag("pre", numbers + more))


def static_positions(view: PositionsView) -> str:
    """The heat map of each position encoding, and its curves against distance."""
    title = f"positions of {view.model}" if view.model else "position encodings"
    return page(title, "how order is encoded", [tag("p", title.capitalize(), class_="verdict")],
                *map(encoding_section, view.tables))  # fmt: skip


def encoding_section(one: PositionTable) -> Markup:
    """One encoding: blue is positive, orange is negative."""
    curves = [
        (name, list(map(Point, map(float, one.distances), values)))
        for name, values in list(one.curves.items())[:MOST_CURVES]
    ]
    said = f"{one.kind}; down: {one.down}, across: {one.across}. Blue is positive, orange is negative."
    return tag(
        "section",
        tag("h2", one.name),
        tag("p", said, class_="note"),
        tag("figure", heat_map(np.array(one.table), label=f"{one.name}: {one.kind}")),
        tag("figure", line_chart(curves, across=f"{one.measure} against distance", label=one.measure)),
    )


def units_page(view: StatesView) -> str:
    """The text, shaded by the unit that follows a pattern best, and a table of such units."""
    rows = [[one.pattern, str(one.unit + 1), f"{one.held_out:.2f}", f"{one.correlation:.2f}"] for one in view.patterns]
    unit = max(view.patterns, key=lambda one: abs(one.held_out)).unit if view.patterns else 0
    states = view.states.states[:, unit].tolist()
    largest = max(map(abs, states), default=0.0) or 1.0
    apart = "" if are_characters(view.states.tokens) else " "
    spans = [
        joined(tag("span", printable(token), class_=shade_of(state / largest), title=f"{state:.3f}"), apart)
        for token, state in zip(view.states.tokens, states, strict=True)
    ]
    return pair_page(
        "hidden states",
        view.model,
        view.source,
        f"unit {unit + 1} of {view.states.states.shape[1]}",
        tag("p", *spans, class_="shaded states-text", dir="auto"),
        tag("p", "Blue: the state is positive; orange: negative.", class_="note"),
        table(["pattern", "unit", "r on other texts", "r where chosen"], rows, class_="number") if rows else "",
    )


def tokens_page(view: TokensView) -> str:
    """The tokens of a text at every level."""
    parts = [part for level in view.levels for part in level_parts(level)]
    return page("tokens", "tokens", [tag("p", shortened(view.text, LONG), class_="verdict", dir="auto")],
                tag("section", *parts))  # fmt: skip


def level_parts(level: TokenLevel) -> list[Markup]:
    """A line about a level, and its tokens; those that the vocabulary lacks are marked."""
    mine = ", which the model reads" if level.own else ""
    spans = [
        tag("span", shown(token), class_="unknown" if at in level.unknown else None, title=f"{start}–{end}")
        for at, (token, (start, end)) in enumerate(zip(level.tokens, level.offsets, strict=True))
    ]
    return [tag("p", f"{len(spans)} {level.level}{mine}", class_="note"), tag("p", *spans, class_="tokens", dir="auto")]


def context_page(view: ContextView) -> str:
    """What context does to the vector of each word, stage by stage."""
    tables = [part for word in view.words for part in word_tables(word)]
    return page("context", f"words in context, {view.model}", [], tag("section", *tables))


def word_tables(word: WordInContext) -> list[Markup]:
    """The cosines of one word in each sentence, and between the sentences."""
    found = [tag("h2", word.word, dir="auto")]
    for one in word.sentences:
        rows = [[other, *(signed(cosine) for cosine in cosines)] for other, cosines in one.cosines.items()]
        found += [tag("p", one.sentence, dir="auto"), table(["cosine with", *word.stages], rows, class_="number")]
    if word.between:
        rows = [["first with second", *(signed(cosine) for cosine in word.between)]]
        found.append(table(["the word itself", *word.stages], rows, class_="number"))
    return found


def signed(number: float) -> str:
    """A number with three digits and a minus sign."""
    return f"{number:.3f}".replace("-", "−")
