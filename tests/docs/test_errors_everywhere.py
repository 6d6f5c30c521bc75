"""docs/errors.md has an example from every part of atento that raises errors: a new part without one fails here."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "atento"
PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
RAISED = re.compile(r"(?:(?:Input|Machine|Run|Call|Atento|Callback)Error|damaged)$")  # called with a problem first
LEAST = 12  # letters of a message that are the same each time; fewer would fit anything
OWN_PAGE = {"studio", "web"}  # their messages are shown in a browser, and tested in tests/studio and tests/web


def pattern_of(node: ast.expr) -> str:
    """A regular expression for the text that an expression of strings gives; empty where it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(pattern_of(part) or ".*" for part in node.values)
    return ""


def problems_of(path: Path) -> list[str]:
    """The problems of the errors that a module makes, as regular expressions."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    named = [
        node for node in calls if node.args and RAISED.match(ast.unparse(node.func).rpartition(".")[2]) is not None
    ]
    patterns = [pattern_of(node.args[0]) for node in named]
    return [one for one in patterns if len(re.sub(r"\\.|\W", "", one.replace(".*", ""))) >= LEAST]


def parts() -> dict[str, list[str]]:
    """Each part of atento, a package or a module of its own, with the problems it tells."""
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        found.setdefault(part, []).extend(problems_of(path))
    return {part: problems for part, problems in found.items() if problems and part not in OWN_PAGE}


def shown(problems: list[str], page: str = PAGE) -> bool:
    return any(re.search(rf"^(?:[\w.]+Error: )?{one}$", page, flags=re.MULTILINE) for one in problems)


def test_every_part_that_raises_errors_has_an_example():
    assert len(parts()) > 15
    assert not [part for part, problems in parts().items() if not shown(problems)]


def test_a_part_without_an_example_is_seen():
    assert not shown(["there is no such message at all"])
    assert shown([re.escape("there is no command 'trian'.")])
