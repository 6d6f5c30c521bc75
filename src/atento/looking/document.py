"""The frame of every page: one file, nothing fetched, no script or style but ours."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from atento.looking.markup import Markup, joined, tag

SCRIPTS = ("viewer.js", "regions.js", "gallery.js")  # one module, in this order
STYLES = "report.css"


def document(title: str, *body: object) -> str:
    """A whole page. Its policy names the hashes of our own script and style, so nothing else ever runs."""
    style = asset(STYLES)
    script = "\n".join(asset(name) for name in SCRIPTS)
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{fingerprint(script)}'",
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
    inside = joined(*body, tag("script", Markup(script), type="module"))
    return f"<!doctype html>\n{tag('html', head, tag('body', inside), lang='en')}\n"


def asset(name: str) -> str:
    """The text of a file that stands beside this one."""
    return files("atento.looking").joinpath(name).read_text(encoding="utf-8")


def fingerprint(text: str) -> str:
    """The hash by which a content security policy knows a script."""
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
