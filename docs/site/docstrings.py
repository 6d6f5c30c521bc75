"""How docstrings read on the site: examples become code, shapes stay on lines of their own, columns become lists."""

import re
from typing import Any

import griffe

PROMPT = ">>> "
QUOTES = "'\""
LONGEST_VALUE = 200  # characters of a constant that is shown
DIRECTIVE = re.compile(r"\s*# doctest: .*$", re.MULTILINE)
COLUMNS = re.compile(r"^ *(?P<name>[\w/]+(?:, [\w/]+)*)  +(?P<meaning>\S.*)$")


class PlainDocstrings(griffe.Extension):
    """Our docstrings are plain sentences with examples and lines of shapes: written as Markdown here."""

    def on_object(self, *, obj: griffe.Object, **options: Any) -> None:
        """Rewrite the docstring of an object, where it has one."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_attribute(self, *, attr: griffe.Attribute, **options: Any) -> None:
        """A constant of a module without a docstring shows its names, where it is a table, or its value."""
        if attr.docstring is not None or not isinstance(attr.parent, griffe.Module):
            return
        text = f"{attr.name} = {attr.value}"
        if isinstance(attr.value, griffe.ExprDict):
            names = ", ".join(f"`{str(key).strip(QUOTES)}`" for key in attr.value.keys if key is not None)
            attr.docstring = griffe.Docstring(f"A table with {names}.", parent=attr)
        elif attr.value is not None and len(text) <= LONGEST_VALUE:
            attr.docstring = griffe.Docstring(f"```python\n{text}\n```", parent=attr)

    def on_class(self, *, cls: griffe.Class, **options: Any) -> None:
        """Leave out what a constructor assigns without a word: the parts of a module are not its interface."""
        made = cls.members.get("__init__")
        if not isinstance(made, griffe.Function) or made.lineno is None or made.endlineno is None:
            return
        for name, member in list(cls.members.items()):
            inside = member.is_attribute and made.lineno <= (member.lineno or 0) <= made.endlineno
            if inside and not member.docstring:
                del cls.members[name]


def as_markdown(text: str) -> str:
    """A docstring as Markdown."""
    return "\n\n".join(map(paragraph, re.split(r"\n\s*\n", DIRECTIVE.sub("", text).strip())))


def paragraph(text: str) -> str:
    """One paragraph: a session of Python as code, lines that are set in as code, shapes with their line breaks."""
    lines = text.split("\n")
    if lines[0].lstrip().startswith(PROMPT):
        return "\n".join(["```pycon", *lines, "```"])
    for place, line in enumerate(lines[1:], start=1):  # an example right below a sentence
        if line.startswith(PROMPT):
            return "\n\n".join([paragraph("\n".join(lines[:place])), paragraph("\n".join(lines[place:]))])
    columns = [COLUMNS.match(line) for line in lines]
    if len(lines) > 1 and sum(map(bool, columns)) >= len(lines) - 1:
        return "\n".join(map(item, lines, columns))
    if all(line.startswith("    ") for line in lines):
        return text
    if all(" -> " in line or line.startswith(" ") for line in lines):
        return "\n".join(["```text", *lines, "```"])
    return escaped(text)


def item(line: str, columns: re.Match[str] | None) -> str:
    """One line of a list in columns, a name and its meaning."""
    name, meaning = (columns["name"], columns["meaning"]) if columns else line.strip().split(" ", 1)
    return f"- `{name}`: {escaped(meaning)}"


def escaped(text: str) -> str:
    """Markdown's own signs, where a formula uses them, outside of code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([*<]|(?<=\w)_(?=\w))", r"\\\1", piece) for piece in pieces
    )
