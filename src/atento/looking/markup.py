"""HTML and SVG as text that data cannot break: whatever is not Markup already is escaped."""

import html
import json
import re

CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
VOID = {"link", "meta"}  # elements without an end tag


class Markup(str):
    """Text that is HTML already."""


def escape(content: object) -> Markup:
    """Text as HTML; Markup stays as it is."""
    if isinstance(content, Markup):
        return content
    text = str(content).encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair fits in no file
    return Markup(html.escape(CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)))


def tag(name: str, /, *inside: object, **attributes: object) -> Markup:
    """One element: `tag("td", "a < b", class_="number")`; attributes that are None or False are left out."""
    opening = "".join(
        f" {attribute_name(key)}" + ("" if value is True else f'="{attribute_value(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{opening}>")
    return Markup(f"<{name}{opening}>{joined(*inside)}</{name}>")


def joined(*parts: object) -> Markup:
    """Several parts as one."""
    return Markup("".join(escape(part) for part in parts))


def attribute_name(key: str) -> str:
    """`class_` -> class, `aria_label` -> aria-label."""
    return key.rstrip("_").replace("_", "-")


def attribute_value(value: object) -> str:
    """Numbers with two digits at most, text escaped."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(value)


def embed(data: object, *, name: str) -> Markup:
    """Data for a script of the page; no character in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII only, so U+2028 is an escape already
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{escape(name)}">{text}</script>')
