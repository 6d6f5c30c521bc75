"""The gradient's way through time as a page of its own."""

import math

from atento.looking.charts import COLOURS, LABEL_GAP, Point, curve, drawing, end_label
from atento.looking.document import document
from atento.looking.flow import LOWEST, Flow, Part, gate_words, rate, short_names, title_of
from atento.looking.markup import Markup, joined, tag
from atento.looking.scales import Scale, spread

WIDTH, HEIGHT = 1000.0, 420.0
LETTERS = 34  # of a line's name


def render_flow(flow: Flow) -> str:
    """A single HTML file: the verdict, the curves, and the numbers of every part."""
    name = flow.get("model") or "the model"
    header = tag(
        "header",
        tag("p", f"atento · how the gradient travels through time in {name}", class_="kicker"),
        tag("p", flow["words"], class_="verdict"),
        tag("p", flow["remedy"], class_="more"),
    )
    words = "Norm of ∂(now) / ∂(so many steps ago), median over positions; 1 means that nothing is lost."
    body = tag("section", tag("p", words), tag("figure", flow_chart(flow)), part_table(flow), id="flow")
    return document(f"{name}: the gradient through time", header, tag("main", body))


def flow_chart(flow: Flow) -> Markup:
    """A line a part over the lags, upwards by powers of ten."""
    parts = flow["parts"]
    logs = [logarithms(part) for part in parts]
    low, high = math.floor(min(map(min, logs))), max(math.ceil(max(map(max, logs))), 0)
    across = Scale(0.0, float(max(part["curve"]["lags"][-1] for part in parts)), 56.0, WIDTH - 270)
    up = Scale(float(low), float(high if high > low else low + 1), HEIGHT - 44, 14.0)
    lines, ends = [], []
    order = sorted(range(len(parts)), key=lambda place: parts[place]["part"] != flow["part"])  # the gravest is s0
    for number, place in enumerate(order):
        points = [Point(across.place(lag), up.place(log)) for lag, log in enumerate(logs[place])]
        lines.append(curve(points, number))
        ends.append(points[-1])
    names = short_names([parts[place] for place in order], most=LETTERS)
    heights = spread([end.y for end in ends], gap=LABEL_GAP, bottom=up.start)
    labels = [
        end_label(name, f"s{number % COLOURS}", end, Point(across.stop + 20, level))
        for number, (name, end, level) in enumerate(zip(names, ends, heights, strict=True))
    ]
    spoken = "; ".join(f"{title_of(part)} {part['verdict']}" for part in parts)
    return drawing(
        WIDTH, HEIGHT, axes(across, up), *lines, *labels, label=f"Norm against lag. {spoken}.", class_="curves"
    )


def logarithms(part: Part) -> list[float]:
    """Powers of ten at lags 0, 1, …, down to where next to nothing is left."""
    norms = part["curve"]["median"]
    kept = next((lag for lag, norm in enumerate(norms) if norm < LOWEST), len(norms))
    return [math.log10(max(norm, LOWEST)) for norm in norms[: max(kept, 2)]]


def axes(across: Scale, up: Scale) -> Markup:
    """Powers of ten as level lines, lags below; the line where nothing is lost is dashed."""
    marks = []
    for power in up.ticks(6):
        level = up.place(power)
        kind = "baseline" if power == 0 else "grid"
        marks.append(tag("line", class_=kind, x1=across.start, x2=across.stop, y1=level, y2=level))
        label = f"{10.0**power:g}"
        marks.append(tag("text", label, class_="tick", x=across.start - 8, y=level + 4, text_anchor="end"))
    for lag in across.ticks(8):
        place = across.place(lag)
        marks.append(tag("text", f"{lag:g}", class_="tick", x=place, y=up.start + 18, text_anchor="middle"))
    name = tag("text", "lag: steps back in time", class_="tick", x=across.stop, y=up.start + 36, text_anchor="end")
    return joined(*marks, tag("line", class_="axis", x1=across.start, x2=across.stop, y1=up.start, y2=up.start), name)


def part_table(flow: Flow) -> Markup:
    """A row a part: verdict, rate, matrices and gates."""
    headings = ("part", "verdict", "largest singular value, spectral radius", "gates")
    rows = []
    for part in flow["parts"]:
        stretches = {**part["matrices"], **({"a step": part["step"]} if part["step"] else {})}
        matrices = [f"{name} {one['singular']:.3g}, {one['radius']:.3g}" for name, one in stretches.items()]
        gates = [f"{name} {gate_words(one)}" for name, one in part["gates"].items()]
        cells = [f"{part['verdict']}: {rate(part)}", "; ".join(matrices) or "–", "; ".join(gates) or "–"]
        rows.append(tag("tr", tag("th", title_of(part), scope="row"), *(tag("td", cell) for cell in cells)))
    head = tag("thead", tag("tr", *(tag("th", heading, scope="col") for heading in headings)))
    return tag("div", tag("table", head, tag("tbody", *rows)), class_="scroll")
