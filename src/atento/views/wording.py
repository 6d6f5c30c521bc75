"""Numbers and texts formatted for readers: scores, durations, memory."""

import math
from collections.abc import Mapping

NOTHING = "–"


def is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def score(value: float | None) -> str:
    """A score: 0.987; 34.2 from ten on; 0.00042 where three decimals would be 0."""
    if value is None or not math.isfinite(value):
        return NOTHING
    plain = f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"
    return (f"{value:.2g}" if 0 < abs(value) < 0.01 else plain).replace("-", "−")


def change(value: float) -> str:
    """A signed difference: +0.012 or −0.590."""
    return ("+" if value > 0 else "−" if value < 0 else "±") + score(abs(value))


def whole(value: float | None) -> str:
    """A whole number: 325,923."""
    return NOTHING if value is None else f"{round(value):,}"


def rate(value: float | None) -> str:
    """A rate for each second: 1,540 or 12.5."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def duration(seconds: float | None) -> str:
    """A duration: 12.5 s, 34.0 min or 5.2 h."""
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    for size, name in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} s"


def round_duration(seconds: object) -> str:
    """A duration that a user set: 60 s, not 60.0 s; empty where none is set."""
    return duration(float(str(seconds))).replace(".0 ", " ") if is_number(seconds) else ""


def memory(megabytes: float | None) -> str:
    """An amount of memory: 612 MB or 12.3 GB."""
    if megabytes is None or not math.isfinite(megabytes):
        return NOTHING
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 4096 else f"{megabytes:,.0f} MB"


def exposure(found: Mapping[str, Mapping[str, float]]) -> str:
    """Exposure bias: accuracy after the true tokens against accuracy after the model's own."""
    forced, free = found["forced"], found["free"]
    return (
        f"{score(forced['tokens'])} of tokens right after the true ones, {score(free['tokens'])} after its own "
        f"(exact {score(forced['exact'])}, {score(free['exact'])})"
    )


def shortened(text: str, most: int) -> str:
    """The first characters of a text, with … where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
