"""The gradient's way through time on a terminal: a bar for each of some lags, then what it means.

The gradient's way through time as a page of its own.
The gradient's way through time as a picture file.
"""

import math
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from textwrap import wrap
from typing import Any

from atento.views.attention.images import KINDS, SETTINGS, kind_of
from atento.views.html import Markup, document, joined, tag
from atento.views.report.charts import COLOURS, LABEL_GAP, Point, curve, drawing, end_label
from atento.views.report.scales import Scale, spread
from atento.views.wording import shortened

Flow = Mapping[str, Any]  # what `GradientFlow.to_json` gives, and the model's name
Part = Mapping[str, Any]

BARS = 12  # lags shown, evenly spread
LOWEST = 1e-6  # what is smaller has no bar
FULL = "█"
EIGHTHS = " ▏▎▍▌▋▊▉"


def flow_text(flow: Flow, *, width: int = 80) -> str:
    """The gravest part as bars, the others in a line each, the verdict and the remedy."""
    gravest = next(part for part in flow["parts"] if part["part"] == flow["part"])
    others = [part for part in flow["parts"] if part is not gravest]
    lines = [title_of(gravest), *bars(gravest, width=width), *(["", *facts(gravest)] if facts(gravest) else [])]
    if others:
        lines += ["", *(f"{title_of(part)}: {part['verdict']}, {rate(part)}" for part in others)]
    return "\n".join([*lines, "", flow["words"], flow["remedy"]])


def title_of(part: Part) -> str:
    """`encoder.stack, backward (LSTM)`."""
    return f"{part['part']} ({part['kind']})" if part["kind"] != part["part"] else str(part["part"])


def rate(part: Part) -> str:
    """The slope, and in how many steps the norm halves or doubles."""
    slope = f"slope {part['curve']['slope']:+.4f} a step".replace("-", "−")
    if part["half_life"] is None:
        return slope
    verb = "halves" if part["curve"]["slope"] < 0 else "doubles"
    return f"{slope}, {verb} every {part['half_life']:.3g} steps"


def bars(part: Part, *, width: int) -> list[str]:
    """One line a lag, the bar's length by the logarithm of the norm."""
    curve = part["curve"]
    shown = some_of(len(curve["lags"]))
    norms = [max(curve["median"][place], LOWEST) for place in shown]
    low, high = max(decade_below(min(norms)), LOWEST), max(max(norms), 1.0)
    room = max(width - 18, 8)
    lines = [f"  lag  norm     a logarithmic scale from {low:g} to {high:.3g}"]
    for place, norm in zip(shown, norms, strict=True):
        whole, eighths = divmod(round(8 * room * share(norm, low, high)), 8)
        bar = FULL * whole + EIGHTHS[eighths]
        lines.append(f"{curve['lags'][place]:>5}  {curve['median'][place]:<8.3g} {bar}".rstrip())
    return lines


def some_of(count: int) -> list[int]:
    """At most so many places of all, the first and the last among them."""
    if count <= BARS:
        return list(range(count))
    return [round(place * (count - 1) / (BARS - 1)) for place in range(BARS)]


def decade_below(norm: float) -> float:
    """The power of ten below: 0.03 -> 0.01."""
    power = 1.0
    while power >= norm and power > LOWEST:
        power /= 10
    return power


def share(norm: float, low: float, high: float) -> float:
    """How far between two norms, by their logarithms."""
    return (math.log(norm) - math.log(low)) / (math.log(high) - math.log(low))


def facts(part: Part) -> list[str]:
    """Matrices, the step's Jacobian and the gates, a line each."""
    lines = [
        f"{name} matrix: largest singular value {one['singular']:.3g}, spectral radius {one['radius']:.3g}"
        for name, one in part["matrices"].items()
    ]
    if part["step"]:
        one = part["step"]
        lines.append(f"a step: largest singular value {one['singular']:.3g}, spectral radius {one['radius']:.3g}")
    lines += [f"{name} gate: {gate_words(one)}" for name, one in part["gates"].items()]
    return lines


def gate_words(gate: Mapping[str, float]) -> str:
    """`3 % nearly shut, 20 % nearly open`."""
    return f"{gate['shut']:.0%} nearly shut, {gate['open']:.0%} nearly open".replace("%", " %")


def short_names(parts: Sequence[Part], *, most: int) -> list[str]:
    """Labels for the lines of a chart."""
    return [shortened(str(part["part"]), most) for part in parts]


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


LETTERS_A_LINE = 112  # of the words over the picture
SHADE = 0.15
LEAST = 1e-12  # lines end there


def flow_picture(flow: Flow, path: str | Path) -> Path:
    """Save the norm against lag, a line a part with its quartiles shaded; the suffix says which kind of file."""
    path = Path(path)
    kind = kind_of(path)

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(8.0, 4.8), layout="constrained")
        FigureCanvasAgg(figure)
        said = [*wrap(flow["words"], LETTERS_A_LINE), *wrap(flow["remedy"], LETTERS_A_LINE)]
        axes = figure.subplots()
        axes.set_title("\n".join(said), fontsize=8.5, loc="left", color="0.3", parse_math=False)
        figure.suptitle(
            f"how the gradient travels in {flow.get('model') or 'the model'}", fontsize=11, parse_math=False
        )
        for place, part in enumerate(flow["parts"]):
            draw_part(axes, part, f"C{place}", bold=part["part"] == flow["part"])
        finish_axes(axes)
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path


def draw_part(axes: Any, part: Part, colour: str, *, bold: bool) -> None:
    """The median as a line, the quartiles as a band."""
    curve = part["curve"]
    low, median, high = ([norm if norm >= LEAST else nan for norm in curve[name]] for name in ("low", "median", "high"))
    label = f"{title_of(part)}: {part['verdict']}"
    axes.plot(curve["lags"], median, color=colour, linewidth=2.4 if bold else 1.2, label=label)
    axes.fill_between(curve["lags"], low, high, color=colour, alpha=SHADE, linewidth=0)


def finish_axes(axes: Any) -> None:
    """Logarithmic upwards, with a line where nothing is lost."""
    axes.set_yscale("log")
    bottom, top = axes.get_ylim()
    axes.set_ylim(max(min(bottom, 0.1), LEAST), max(top, 3.0))
    axes.axhline(1.0, color="0.5", linewidth=0.8, linestyle=(0, (5, 4)))
    axes.set_xlim(left=0)
    axes.set_xlabel("lag: steps back in time")
    axes.set_ylabel("norm of ∂(now) / ∂(so many steps ago)")
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False)
