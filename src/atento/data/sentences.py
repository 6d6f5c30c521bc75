"""A text as sentences: its lines; a text of one line is cut after . ! ? and what closes with them."""

import re

ENDS = re.compile(r"(?<=[.!?…。！？])[\"'”’»)\]]*\s+")


def sentences(text: str) -> list[str]:
    """Every sentence that is not empty, in order."""
    lines = text.splitlines() if "\n" in text.strip() else ENDS.split(text)
    return [line for line in map(str.strip, lines) if line]
