"""HTML and SVG as text in which data cannot break out of its place, and the frame of every page.

Whatever is not Markup already is escaped. A page is one file: it fetches nothing and runs no script but ours.
"""

import html
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
VOID = {"link", "meta"}  # elements without an end tag
# The attention viewer, whose `showAttention` pages, notebooks and the studio use.
VIEWER = (
    "web/attention/elements.js",
    "web/attention/colour_scale.js",
    "web/attention/selection.js",
    "web/attention/weights.js",
    "web/attention/heat_map.js",
    "web/attention/links.js",
    "web/attention/head_grid.js",
    "web/attention/regions.js",
    "web/attention/shaded_text.js",
    "web/attention/answer_steps.js",
    "web/attention/tables.js",
    "web/attention/saving.js",
    "web/attention/viewer.js",
    "web/attention/gallery.js",
)
# The scripts of a page: each group is one ES module, its files in this order, so that groups share no names.
SCRIPTS: dict[str, tuple[str, ...]] = {
    "attention": (*VIEWER, "web/attention/start.js"),
    "report": (
        "web/charts/scales.js",
        "web/charts/copying.js",
        "web/charts/drawing.js",
        "web/charts/chart.js",
        "web/board.js",
        "web/page.js",
    ),
    "steps": ("web/steps.js",),
    "states": ("web/states.js",),
    "graph": ("web/graph.js",),
    "heat": ("web/heat.js",),
    "ridges": ("web/ridges.js",),
    "space": ("web/space.js",),
    "words": ("web/word_map.js",),
    "live": (
        "web/charts/scales.js",
        "web/charts/copying.js",
        "web/charts/drawing.js",
        "web/live/panels.js",
        "web/live/live.js",
    ),
}
USUAL = tuple(name for name in SCRIPTS if name != "live")  # a live picture has a page of its own
STYLES = ("web/page.css", "web/attention/attention.css", "web/steps.css", "web/model.css")
IMPORT = re.compile(r"^import .*\n", flags=re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", flags=re.MULTILINE)


class Markup(str):
    """Text that is HTML already."""


class Page(str):
    """A whole page as text; `body` is what stands in it, without the frame and its scripts, for notebooks."""

    body: Markup


def escape(content: object) -> Markup:
    """Text as HTML; Markup stays as it is."""
    if isinstance(content, Markup):
        return content
    text = str(content).encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair fits in no file
    return Markup(html.escape(CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)))


def tag(name: str, /, *inside: object, **attributes: object) -> Markup:
    """One element: `tag("td", "a < b", class_="number")`; attributes that are None or False are left out, and
    `aria_label` is written aria-label.
    """
    opening = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{attribute_value(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{opening}>")
    return Markup(f"<{name}{opening}>{joined(*inside)}</{name}>")


def joined(*parts: object) -> Markup:
    """Several parts as one Markup, each escaped."""
    return Markup("".join(escape(part) for part in parts))


def attribute_value(value: object) -> str:
    """The value of an attribute: numbers with at most two decimals, text escaped."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(value)


def embed(data: object, *, name: str) -> Markup:
    """Data as JSON in a script element, for a script of the page; no character in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII only, so U+2028 is an escape already
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{escape(name)}">{text}</script>')


def document(
    title: str,
    *body: object,
    groups: Sequence[str] = USUAL,
    styles: Sequence[str] = STYLES,
    language: str = "en",
) -> Page:
    """A whole page with some groups of scripts. Its content security policy names the hashes of our scripts and style,
    so nothing else runs.
    """
    style = "\n".join(map(asset, styles))
    scripts = [module(SCRIPTS[name]) for name in groups]
    policy = "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src", *(f"'{fingerprint(script)}'" for script in scripts))),
            f"style-src '{fingerprint(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),  # or a browser would ask a server for one
        tag("style", Markup(style)),
    )
    inside = joined(*body, *(tag("script", Markup(script), type="module") for script in scripts))
    whole = Page(f"<!doctype html>\n{tag('html', head, tag('body', inside), lang=language)}\n")
    whole.body = joined(*body)
    return whole


def page(title: str, kicker: str, opening: Sequence[object], *main: object, groups: Sequence[str] = USUAL) -> Page:
    """The page of one view: what it shows in a line, its opening, and its sections."""
    header = tag("header", tag("p", f"atento · {kicker}", class_="kicker"), *opening)
    return document(title, header, tag("main", *main), groups=groups)


def table(
    headings: Sequence[str], rows: Sequence[Sequence[object]], *, class_: str | None = None, stacked: bool = False
) -> Markup:
    """A table that scrolls by itself; the first cell of a row names it, the others may have a class. A `stacked` one,
    whose cells hold sentences, becomes a list of cards on a phone.
    """
    first, *others = headings
    head = [tag("th", first, scope="col"), *(tag("th", name, scope="col", class_=class_) for name in others)]
    body = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            *(tag("td", cell, class_=class_, data_label=heading) for cell, heading in zip(cells, others, strict=True)),
        )
        for name, *cells in rows
    ]
    kind = "stacked" if stacked else None
    return tag("div", tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), class_=kind), class_="scroll")


def module(names: Sequence[str]) -> str:
    """Several files as one ES module, each after those it imports from; a file that imports has a scope of its own."""
    parts = []
    for text in map(asset, names):
        if IMPORT.search(text):
            exported = ", ".join(EXPORT.findall(text))
            body = EXPORT.sub("", IMPORT.sub("", text))
            text = f"export const {{ {exported} }} = (() => {{\n{body}return {{ {exported} }};\n}})();"
        parts.append(text)
    return "\n".join(parts)


def asset(name: str) -> str:
    """The text of a script or style sheet of this package."""
    return files("atento.views").joinpath(name).read_text(encoding="utf-8")


def fingerprint(text: str) -> str:
    """The hash of a script or style in a content security policy."""
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
