"""Durations as they are typed: 90, 90s, 5m, 1h30."""

import re

from atento.errors import InputError

AMOUNT = r"(\d+(?:\.\d+)?)\s*"
DURATION = re.compile(
    rf"\s*(?:{AMOUNT}(?:h|hrs?|hours?)\b\s*|{AMOUNT}h(?=\d)\s*)?(?:{AMOUNT}(?:m|mins?|minutes?)(?:\b|(?=\d))\s*)?"
    rf"(?:{AMOUNT}(s|secs?|seconds?)?)?\s*",
    flags=re.IGNORECASE,
)


def parse_duration(text: str, *, where: str = "") -> float:
    """Seconds in 90, 90s, 5m, 5min, 1.5h, 1h30 or 1h 30min."""
    match = DURATION.fullmatch(text)
    if not match or not text.strip():
        problem = f"{where + ': ' if where else ''}{text!r} is not a duration."
        raise InputError(problem, found=text, fix="write 90s, 5m or 1h")
    first, second, minutes, rest, unit = match.groups()
    hours = first or second
    scale = 60 if hours and not minutes and not unit else 1  # 1h30 is an hour and thirty minutes
    return 3600 * float(hours or 0) + 60 * float(minutes or 0) + scale * float(rest or 0)
