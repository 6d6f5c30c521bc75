"""The gradient's way through time on a terminal: a bar for each of some lags, then what it means."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from atento.looking.wording import shortened

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
