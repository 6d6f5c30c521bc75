"""Short representations of results: what they are, in a few hundred characters, however much they hold."""

import reprlib
from dataclasses import fields
from importlib import import_module

SHORT = reprlib.Repr()
SHORT.maxlevel, SHORT.maxlist, SHORT.maxtuple, SHORT.maxdict, SHORT.maxstring, SHORT.maxother = 2, 3, 3, 3, 60, 60
LONGEST = 500  # characters


def short_repr(result: object) -> str:
    """The name of a result's class and its fields, of which long ones are cut."""
    names = getattr(result, "_fields", None) or [field.name for field in fields(result)]  # type: ignore[arg-type]
    parts = [f"{name}={SHORT.repr(getattr(result, name))}" for name in names]
    text = ", ".join(part for part in parts if part.partition("=")[2] not in ("''", "[]", "{}", "()", "None"))
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(', ')[0]}, …"
    return f"{type(result).__name__}({cut})"


def repr_html(shown: object) -> str:
    """What a notebook shows of a result, a view or a module. The views are imported when a notebook asks for one: they
    stand above most of what they show.
    """
    html: str = import_module("atento.views.notebook.display").notebook_html(shown)
    return html
