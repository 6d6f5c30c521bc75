"""The graph of a model as a page, a figure and a table: its parts with shapes, parameters and shared weights."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atento.bundle import Json
from atento.data.records import counted
from atento.models.diagnostics.model_graph import OUTPUT, GraphPart, ModelGraph
from atento.models.diagnostics.part_calls import Shape
from atento.views.attention.terminal import fitted
from atento.views.figures import saved_figure
from atento.views.html import Markup, joined, page, tag
from atento.views.model.layout import Arrow, GraphBox, GraphLayout, fold, shape_text
from atento.views.model.unrolled import unroll
from atento.views.report.charts import Point, points_of
from atento.views.saving import ModelView, save_view
from atento.views.wording import shortened

INCH = 96.0  # pixels
LETTERS = 30  # of a box's title
MARGIN = 8.0
HALO = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # behind a label, so that no line crosses it
MANY = 60  # parts from which on their table is folded away
DEEPEST = 3  # levels of the table on a terminal


@dataclass(frozen=True, kw_only=True)
class ModelGraphView(ModelView):
    """The graph of a model for one input."""

    source: str = ""
    graph: ModelGraph

    def to_json(self) -> Json:
        """The parts, the nodes and the edges."""
        return {"model": self.model, "source": self.source, **asdict(self.graph)}

    def save(self, path: str | Path) -> Path:
        """Save a page, a figure or JSON, by the name of the file."""
        return save_graph(self, Path(path))

    def __repr__(self) -> str:
        return graph_text(self)


def save_graph(view: ModelGraphView, path: Path) -> Path:
    """A page, an image or the numbers, by the name given."""
    return save_view(view, path, page=graph_page, figure=graph_figure)


def shapes(part: GraphPart) -> str:
    """What goes in and comes out: 1 × 7 → 1 × 7 × 128."""
    sides = [shape_text(side[0]) for side in (part.inputs, part.outputs) if side]
    return " → ".join(sides)


def times_text(part: GraphPart, steps: int) -> str:
    """How often a part is applied."""
    return f"at {counted(steps, 'step')}" if steps > 1 else f"{part.calls} times" if part.calls > 1 else ""


def summary(view: ModelGraphView) -> str:
    """The size of the model, and what is shared."""
    graph = view.graph
    text = f"{counted(graph.parameters, 'parameter')} in {counted(len(graph.nodes), 'part')}"
    looped = [node for node in graph.nodes if graph.steps(node.name) > 1]
    if looped:
        text += f"; {counted(len(looped), 'part')} applied step by step with the same weights"
    return text


def shared_sentences(graph: ModelGraph) -> list[str]:
    """Which weights are used twice."""
    return [f"{part.name or 'the model'} shares weights with {', '.join(part.shared)}" for part in shared_parts(graph)]


def shared_parts(graph: ModelGraph) -> list[GraphPart]:
    """Parts that own weights which others use too, each pair once."""
    found: list[GraphPart] = []
    for part in graph.parts:
        if part.shared and not any(part.name in other.shared for other in found):
            found.append(part)
    return found


def graph_text(view: ModelGraphView, *, width: int = 80) -> str:
    """For a terminal: a line for each part, indented as parts are nested."""
    rows = [
        (
            "  " * part.depth + (part.name.rpartition(".")[2] or view.model or part.kind),
            shapes(part),
            f"{part.parameters:,}",
            times_text(part, view.graph.steps(part.name)),
        )
        for part in view.graph.parts
        if part.depth <= DEEPEST and (part.parameters or part.calls)
    ]
    headings = ("part", "shape in → out", "parameters", "")
    sizes = [max(len(row[column]) for row in [headings, *rows]) for column in range(3)]
    sizes[0] = min(sizes[0], max(width - sizes[1] - sizes[2] - 18, 16))
    lines = [summary(view)]
    for name, flow, count, more in [headings, *rows]:
        line = f"{fitted(shortened(name, sizes[0]), sizes[0])}  {flow:<{sizes[1]}}  {count:>{sizes[2]}}  {more}"
        lines.append(line.rstrip())
    return "\n".join([*lines, *shared_sentences(view.graph)])


def graph_page(view: ModelGraphView) -> str:
    """A single HTML file: the model folded, unrolled over time, and every part in a table."""
    graph = view.graph
    name = view.model or graph.parts[0].kind
    opening = [
        tag("h1", "The model ", tag("bdi", name), class_="pair"),
        tag("p", summary(view) + ".", class_="more"),
    ]
    wide, narrow = fold(graph, columns=True), fold(graph, columns=False)
    readout = tag("p", "Point at a part to see what it reads.", class_="note graph-readout", role="status")
    text = "Each box is a part with its number of parameters; at the arrows, the shape of what flows for one real input"
    about = f"{text}: {shortened(view.source, 120)}." if view.source else f"{text}."
    folded = tag(
        "section",
        tag("h2", "Folded"),
        tag("p", about),
        *(tag("p", f"{sentence}.") for sentence in shared_sentences(graph)),
        readout,
        tag("div", tag("div", graph_drawing(graph, wide), class_="wide"), class_="scroll"),
        tag("div", graph_drawing(graph, narrow), class_="narrow graph-narrow"),
        id="folded",
        class_="graph",
    )
    steps = unroll(graph)
    unrolled: object = ""
    if steps is not None:
        words = (
            "The same boxes over time: a column is a step, a part that reads all steps at once is as wide as they are. "
            "Every box of a row has the same weights."
        )
        unrolled = tag(
            "section",
            tag("h2", "Unrolled over time"),
            tag("p", words),
            tag("div", graph_drawing(graph, steps), class_="scroll"),
            id="unrolled",
            class_="graph",
        )
    rows = part_table(graph)
    if len(graph.parts) > MANY:
        rows = tag("details", tag("summary", f"{len(graph.parts)} parts with shapes"), rows)
    parts = tag("section", tag("h2", "Every part"), rows, id="parts")
    return page(f"{name}: the model", "the model as a graph", opening, folded, unrolled, parts)


def graph_drawing(graph: ModelGraph, layout: GraphLayout) -> Markup:
    """The layout as SVG; a script marks what a part reads."""
    facts = node_facts(graph)
    frames = [
        joined(
            tag("rect", x=one.x, y=one.y, width=one.width, height=one.height, rx=8, class_="frame"),
            tag("text", one.title, x=one.x + 10, y=one.y + 17, class_="tick"),
        )
        for one in layout.frames
    ]
    texts = [tag("text", shortened(text, 32), x=x, y=y, class_="row-name") for x, y, text in layout.texts]
    arrows = [arrow_svg(one) for one in layout.arrows]
    boxes = [box_svg(one, facts.get(one.node, one.node)) for one in layout.boxes]
    view_box = f"{-MARGIN:g} {-MARGIN:g} {layout.width + 2 * MARGIN:g} {layout.height + 2 * MARGIN:g}"
    label = f"{len(layout.boxes)} boxes and {len(layout.arrows)} arrows; the table below names every part"
    size: dict[str, object] = {
        "width": layout.width + 2 * MARGIN,
        "height": layout.height + 2 * MARGIN,
        "viewBox": view_box,
    }
    size |= {"class_": "chart model-graph", "role": "group", "aria_label": label}
    return tag("svg", *frames, *texts, *arrows, *boxes, **size)


def box_svg(box: GraphBox, facts: str) -> Markup:
    """A box with its name, and what it is."""
    middle = box.y + box.height / 2
    lines = [
        tag("text", shortened(box.title, LETTERS), x=box.middle, y=middle + (-3 if box.note else 4), class_="title"),
    ]
    if box.note:
        note = shortened(box.note, LETTERS + 6)
        lines.append(tag("text", note, x=box.middle, y=middle + 13, class_="note-line"))
    if box.note and box.width > 300:  # an unrolled row: all in one line
        lines = [tag("text", f"{box.title}  ", tag("tspan", box.note, class_="note-line"), x=box.middle, y=middle + 4)]
    shape = tag("rect", x=box.x, y=box.y, width=box.width, height=box.height, rx=17 if box.kind == "end" else 5)
    return tag(
        "g",
        tag("title", facts),
        shape,
        *lines,
        class_=f"node {box.kind}".rstrip(),
        tabindex="0",
        role="img",
        aria_label=facts,
        data_node=box.node,
        data_facts=facts,
    )


def arrow_svg(arrow: Arrow) -> Markup:
    """A line with a head at its end, and the shape beside it."""
    (x, y), (to_x, to_y) = arrow.points[-2], arrow.points[-1]
    sideways = abs(to_x - x) > abs(to_y - y)
    sign = 1 if (to_x > x if sideways else to_y > y) else -1
    head = f"M{to_x:g} {to_y:g}l{-6 * sign} -4v8z" if sideways else f"M{to_x:g} {to_y:g}l-4 {-6 * sign}h8z"
    line = tag("polyline", class_="flow", points=points_of([Point(*point) for point in arrow.points]))
    parts: list[object] = [tag("title", f"{arrow.source} → {arrow.target}: {arrow.label}"), line]
    parts.append(tag("path", class_="head", d=head))
    if arrow.loop:
        (x, _), _, (_, high), _ = arrow.points
        parts.append(tag("text", arrow.label, x=x - 26, y=high - 6, class_="tick", text_anchor="middle"))
    elif arrow.labelled and arrow.label and len(arrow.points) == 2 and not sideways and to_y - y < 80:
        parts.append(tag("text", arrow.label, x=x + 8, y=(y + to_y) / 2 + 4, class_="tick"))
    return tag("g", *parts, class_="arrow", data_source=arrow.source, data_target=arrow.target)


def node_facts(graph: ModelGraph) -> dict[str, str]:
    """What each node is, in a sentence."""
    reads: dict[str, list[str]] = {}
    for edge in graph.edges:
        before = f"{edge.source} ({shape_text(edge.shape)})"
        if edge.source != edge.target and before not in reads.setdefault(edge.target, []):
            reads[edge.target].append(before)
    found = {name: f"{name}: {shape_text(shape)}" for name, shape in graph.inputs.items()}
    found[OUTPUT] = f"output: {shape_text(graph.outputs[0]) if graph.outputs else ''}"
    for node in graph.nodes:
        steps = graph.steps(node.name)
        text = f"{node.name}: {node.kind}, {counted(node.parameters, 'parameter')}"
        text += f", reads {', '.join(reads.get(node.name, ['nothing']))}, gives {shape_list(node.outputs)}"
        text += f", the same weights at {steps} steps" if steps > 1 else ""
        text += f", shares weights with {', '.join(node.shared)}" if node.shared else ""
        found[node.name] = text
    return found


def shape_list(some: Sequence[Shape]) -> str:
    """Several shapes, each once."""
    return ", ".join(dict.fromkeys(map(shape_text, some)))


def part_table(graph: ModelGraph) -> Markup:
    """A row for each part: shapes, parameters, how often it is applied, what it shares."""
    headings = ("part", "kind", "shape in → out", "parameters", "applied", "shares weights with")
    head = [tag("th", name, scope="col", class_="number" if name == "parameters" else None) for name in headings]
    rows = [
        tag(
            "tr",
            tag("th", part.name.rpartition(".")[2] or "the model", scope="row", class_=f"level{min(part.depth, 7)}"),
            tag("td", part.kind),
            tag("td", shapes(part)),
            tag("td", f"{part.parameters:,}", class_="number"),
            tag("td", times_text(part, graph.steps(part.name))),
            tag("td", ", ".join(part.shared)),
        )
        for part in graph.parts
        if part.parameters or part.calls
    ]
    return tag(
        "div", tag("table", tag("thead", tag("tr", *head)), tag("tbody", *rows), class_="parts"), class_="scroll"
    )


def graph_figure(view: ModelGraphView, path: Path) -> Path:
    """Save the model folded and, where a part is applied step by step, unrolled below it."""
    layouts = [one for one in (fold(view.graph, columns=True), unroll(view.graph)) if one is not None]
    width = max(one.width for one in layouts) + 2 * MARGIN
    heights = [one.height + 2 * MARGIN for one in layouts]
    with saved_figure(path, size=(width / INCH, sum(heights) / INCH + 0.5)) as figure:
        figure.suptitle(f"{view.model or 'the model'}: {summary(view)}", fontsize=10, parse_math=False)
        panels = figure.subplots(len(layouts), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, layout in zip(panels, layouts, strict=True):
            draw_layout(axes, layout, width)
    return path


def draw_layout(axes: Any, layout: GraphLayout, width: float) -> None:
    """Draw boxes, frames and arrows in pixels."""
    from matplotlib.patches import FancyBboxPatch, Rectangle

    axes.set_xlim(-MARGIN, width - MARGIN)
    axes.set_ylim(layout.height + MARGIN, -MARGIN)
    axes.set_aspect("equal", adjustable="box", anchor="NW")
    axes.set_axis_off()
    for one in layout.frames:
        axes.add_patch(Rectangle((one.x, one.y), one.width, one.height, fill=False, edgecolor="0.75", linewidth=0.8))
        axes.text(one.x + 8, one.y + 14, one.title, fontsize=7, color="0.35", parse_math=False)
    for x, y, text in layout.texts:
        axes.text(x, y, shortened(text, 34), fontsize=7, parse_math=False, va="center")
    for arrow in layout.arrows:
        xs, ys = [x for x, _ in arrow.points], [y for _, y in arrow.points]
        axes.plot(xs[:-1], ys[:-1], color="0.45", linewidth=0.8)
        head = {"arrowstyle": "-|>", "color": "0.45", "linewidth": 0.8, "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (xs[-1], ys[-1]), (xs[-2], ys[-2]), arrowprops=head)
        if arrow.loop:
            axes.text(xs[0] - 26, ys[2] - 6, arrow.label, fontsize=6.5, color="0.35", ha="center")
        elif arrow.labelled and arrow.label and len(xs) == 2 and xs[0] == xs[1] and ys[1] - ys[0] < 80:
            axes.text(xs[0] + 6, sum(ys) / 2 + 3, arrow.label, fontsize=6.5, color="0.35", parse_math=False, bbox=HALO)
    for box in layout.boxes:
        colour = {"end": "0.95", "shared": "#fde8d7"}.get(box.kind, "#e3eefb")
        style = f"round,pad=0,rounding_size={14 if box.kind == 'end' else 4}"
        size = ((box.x, box.y), box.width, box.height)
        patch = FancyBboxPatch(*size, boxstyle=style, facecolor=colour, edgecolor="0.5", zorder=3)
        axes.add_patch(patch)
        middle = box.y + box.height / 2
        inline = box.width > 300
        title = shortened(box.title, LETTERS) + (f"   {box.note}" if inline and box.note else "")
        below = bool(box.note) and not inline
        style_of = {"ha": "center", "va": "center", "parse_math": False, "zorder": 4}
        axes.text(box.middle, middle - 7 * below, title, fontsize=7.5, **style_of)
        if below:
            axes.text(box.middle, middle + 9, shortened(box.note, LETTERS + 6), fontsize=6.5, color="0.35", **style_of)
