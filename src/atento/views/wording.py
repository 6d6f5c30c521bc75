"""Numbers and texts formatted for readers: scores, durations, memory."""

import math
import re
from collections.abc import Mapping
from typing import Any

NOTHING = "–"
HUGE = 1e6  # from here on a score is written as 6.94e+64


def is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def score(value: float | None) -> str:
    """A score: 0.987; 34.2 from ten on; 0.00042 where three decimals would be 0; 6.94e+64 of very large ones."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if abs(value) >= HUGE:
        return f"{value:.2e}".replace("-", "−", 1 if value < 0 else 0)
    plain = f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"
    return (f"{value:.2g}" if 0 < abs(value) < 0.01 else plain).replace("-", "−")


def amount(value: float) -> str:
    """A number in the units of a file: 12,346 or 0.00123."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def interval(low: float | None, high: float | None, *, digits: int | None = None) -> str:
    """An interval: 0.981–0.992, or – where there is none; with so many digits after the point, where they are given."""
    if not is_number(low) or not is_number(high):
        return NOTHING
    return "–".join(score(end) if digits is None else decimals(end, digits) for end in (low, high) if end is not None)


def decimals(value: float | None, digits: int) -> str:
    """A score with so many digits after the point: 0.9870; 6.9377e+64 of very large ones; – where there is none."""
    if value is None:
        return NOTHING
    return f"{value:.{digits}e}" if abs(value) >= HUGE else f"{value:.{digits}f}"


def quality(value: float | None, low: float | None, high: float | None) -> str:
    """A score with its interval: 0.987 (0.981–0.992); the score alone where there is no interval."""
    bounds = interval(low, high)
    return score(value) if bounds == NOTHING else f"{score(value)} ({bounds})"


def beside_baselines(found: Mapping[str, Any]) -> str:
    """The simple baselines that were tested with a model, and how the best of them stands to it; nothing without."""
    if not found:
        return ""
    each = ", ".join(f"{name} {score(value)}" for name, value in found["scores"].items())
    best = found["best"]
    ends = {
        "better": f": {best} is better than this model",
        "tied": f": {best} and this model do not differ significantly",
    }
    return f"simple baselines on the same examples: {each}{ends.get(found['standing'], '')}"


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
        f"token accuracy: teacher forcing {score(forced['tokens'])}, free running {score(free['tokens'])} "
        f"(exact {score(forced['exact'])}, {score(free['exact'])})"
    )


CONTROLS = re.compile(  # C0, DEL and C1, lone surrogates, marks that turn the direction of writing, line separators
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


def printable(text: str, *, lines: bool = True) -> str:
    r"""A text that is safe to show: control characters, which could move the cursor or colour a terminal, are written
    out as \x1b or \u202e. Without `lines` so are line breaks and tabs.
    """
    text = CONTROLS.sub(written_out, text)
    return text if lines else text.replace("\n", "\\n").replace("\t", " ")


def written_out(found: re.Match[str]) -> str:
    """A character as Python writes it: \\x1b, \\u202e; a byte that is no text as \\xff."""
    code = ord(found[0])
    code = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shortened(text: str, most: int) -> str:
    """The first characters of a text, with … where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
