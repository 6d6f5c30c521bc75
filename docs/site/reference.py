"""Reference pages made from the code: the public names, the recipe keys and the commands with their options."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import typer.main

from atento.cli.app import BUILD, FIND_OUT, USE, app
from atento.spec.recipe import accepted, keys

ROOT = Path(__file__).parents[2]
NAMES = ROOT / "tests" / "architecture" / "public_names.toml"
PACKAGE = """# {package}

::: {package}
    options:
      members: [{names}]
"""
SECTIONS = {
    "": "The task",
    "data": "Data: where examples come from",
    "tokens": "Tokens: how text is cut",
    "model": "Model: which one, and how large",
    "train": "Training",
    "decode": "Decoding: how an output is written",
}
SHADOWED = """
[](){{#{package}.{name}}}

::: {place}
    options:
      show_root_heading: true
      heading_level: 2
"""
GROUPS = {"Train and compare": BUILD, "Use a trained model": USE, "Find out": FIND_OUT}


def public_names() -> dict[str, list[str]]:
    """Each public package with the names it exports."""
    return tomllib.loads(NAMES.read_text(encoding="utf-8"))


def api_pages() -> dict[str, str]:
    """One page for each public package; mkdocstrings fills it with signatures and docstrings."""
    return {page_of(package): api_page(package, names) for package, names in public_names().items()}


def api_page(package: str, names: list[str]) -> str:
    """The page of a package; a function that has the name of its module is named by its place, as it would be taken for
    the module.
    """
    places = {name: place_of(package, name) for name in names}
    shadowed = [name for name in names if places[name].split(".")[-2] == name]
    plain = [name for name in names if name not in shadowed]
    parts = [PACKAGE.format(package=package, names=", ".join(plain))]
    return "".join(parts + [SHADOWED.format(package=package, name=name, place=places[name]) for name in shadowed])


def place_of(package: str, name: str) -> str:
    """The dotted name of a public name in the module that defines it."""
    path = ROOT.joinpath("src", *package.split("."), "__init__.py")
    if not path.is_file():
        return f"{package}.{name}"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and name in [alias.name for alias in node.names]:
            return place_of(node.module, name)
    return f"{package}.{name}"


def page_of(package: str) -> str:
    """The path of the page of a package."""
    return f"reference/api/{package}.md"


def package_list() -> str:
    """Every public name, by package, with a link to its entry."""
    parts = []
    for package, names in public_names().items():
        page = page_of(package).removeprefix("reference/")
        links = ", ".join(f"[`{name}`]({page}#{package}.{name})" for name in names)
        parts.append(f"**[`{package}`]({page})**\n:   {links}\n")
    return "\n".join(parts)


def key_list() -> str:
    """Every recipe key under its section: meaning, type, limits, default."""
    lines, last = [], None
    for key in keys():
        section = key.name.rpartition(".")[0]
        if section != last:
            lines += [f"## {SECTIONS[section]}", ""]
            last = section
        kind, _, limits = accepted(key.name).partition(", ")
        limits = re.sub(r"\d{5,}", lambda number: f"{int(number[0]):,}", limits)
        facts = [
            ("takes", code_words(kind) + (f", {limits}" if limits else "")),
            ("default", f"`{shown(key.default)}`"),
        ]
        lines += [
            f"### `{key.name}` {{#{key.name} .key}}",
            "",
            f"{sentence(key.description)}",
            "",
            " · ".join(f"{word} {value}" for word, value in facts) + "\n{: .facts}",
            "",
        ]
    return "\n".join(lines)


def code_words(kind: str) -> str:
    """`float`, or the allowed words, each as code."""
    return " ".join(f"`{word or chr(34) * 2}`" for word in kind.split(" | "))


def shown(value: Any) -> str:
    """A default as it is typed behind `--set KEY=`; an empty text as two quotes."""
    return '""' if value == "" else str(value).lower() if isinstance(value, bool) else str(value)


def sentence(text: str) -> str:
    """A help text as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "…")) else ".")


def command_list() -> str:
    """Every command with its arguments and options."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    lines: list[str] = []
    grouped = {title: [getattr(each, "__name__", "") for each in group] for title, group in GROUPS.items()}
    rest = [name for name in commands if not any(name in group for group in grouped.values())]
    grouped["Use a trained model"] += rest
    for title, group in grouped.items():
        lines += [f"## {title}", ""]
        for name in group:
            lines += command_lines(name, commands[name])
    return "\n".join(lines)


def command_lines(name: str, command: Any) -> list[str]:
    """One command: what it does, how it is typed, and what each argument and option means."""
    shown_params = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in shown_params if each.param_type_name == "argument"]
    options = [each for each in shown_params if each.param_type_name == "option"]
    words = ["atento", name, *(typed(each) for each in arguments), "[OPTIONS]"]
    lines = [f"### `atento {name}` {{#{name}}}", "", command.help.strip().replace("\n", " "), ""]
    lines += ["```text", " ".join(words), "```", ""]
    lines += ["| argument or option | meaning | default |", "|---|---|---|"]
    for each in (*arguments, *options):
        spelled = typed(each).strip("[]") if each in arguments else option_words(each)
        lines.append(f"| {code(spelled)} | {cell(sentence(each.help or ''))} | {default_of(each)} |")
    return [*lines, ""]


def typed(argument: Any) -> str:
    """An argument as a usage line shows it."""
    word = argument.metavar or argument.name.upper()
    word = word.strip("[]")
    return word if argument.required else f"[{word}]"


def option_words(option: Any) -> str:
    """The names of an option and the word for its value."""
    names = ", ".join(option.opts)
    return names if option.is_flag else f"{names} {option.metavar or 'NUMBER'}"


def default_of(parameter: Any) -> str:
    """The default of a parameter; empty where there is none to speak of."""
    value = parameter.default
    if parameter.required:
        return "required"
    return "" if value is None or value is False or value == "" or callable(value) else code(str(value))


def code(text: str) -> str:
    """Code within a table."""
    return "`" + re.sub(r"\s+", " ", text) + "`"


def cell(text: str) -> str:
    """Text within a table; what stands between backticks needs no escape."""
    pieces = re.split(r"(`[^`]*`)", re.sub(r"\s+", " ", text))
    return "".join(piece if piece.startswith("`") else piece.replace("|", "\\|") for piece in pieces)


FILLED = {  # pages with a marked place, and what it is filled with
    "reference/python.md": ("<!-- packages -->", package_list),
    "reference/recipe.md": ("<!-- keys -->", key_list),
    "reference/commands.md": ("<!-- commands -->", command_list),
}


def fill(name: str, markdown: str) -> str:
    """The text of a page with its marked place filled."""
    mark, make = FILLED[name]
    before, found, after = markdown.partition(mark)
    if not found:
        raise ValueError(f"{name} has no line {mark}")
    return before + make() + after
