"""The public surface: every package exports a list of names that changes only on purpose, and the documentation uses
nothing else. After a change on purpose: `python tests/architecture/test_public_names.py` writes the list anew.
"""

import ast
import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import atento

ROOT = Path(__file__).parents[2]
FROZEN = Path(__file__).with_name("public_names.toml")
PRIVATE = ("atento.api", "atento.cli", "atento.tuning")  # atento itself exports what users need of them
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "examples").rglob("*.py"),
]
CODE = re.compile(r"^```(?:python|pycon)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def public_packages():
    """The packages a user imports from: those that export names, and the module of errors."""
    found = [module.name for module in pkgutil.walk_packages(atento.__path__, "atento.") if module.ispkg]
    return ["atento", "atento.errors", *(name for name in found if not name.startswith(PRIVATE))]


def exported():
    """Each public package with the names it exports."""
    names = {package: getattr(importlib.import_module(package), "__all__", []) for package in public_packages()}
    return {package: sorted(some) for package, some in names.items() if some}


def imports_in(code):
    """(module, name) of everything that a piece of Python takes from atento; a name of None: the module itself."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "atento":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.partition(".")[0] == "atento")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "atento":
            yield "atento", node.attr


def code_of(page):
    """The Python of a page; of an interactive session, what is typed."""
    text = page.read_text(encoding="utf-8")
    blocks = [text] if page.suffix == ".py" else CODE.findall(text)
    for block in blocks:
        typed = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
        yield "\n".join(typed) if typed else block


def test_the_public_names_are_those_agreed_on():
    frozen, found = tomllib.loads(FROZEN.read_text(encoding="utf-8")), exported()
    changes = {
        package: (sorted(set(found.get(package, [])) - set(names)), sorted(set(names) - set(found.get(package, []))))
        for package, names in {**{key: [] for key in found}, **frozen}.items()
        if sorted(names) != found.get(package)
    }
    assert not changes, f"package: (new names, lost names) {changes}"


def test_every_exported_name_is_there_once_and_can_be_completed():
    for package, names in exported().items():
        module = importlib.import_module(package)
        assert len(set(names)) == len(names), package
        lacking = [name for name in names if getattr(module, name, None) is None or name not in dir(module)]
        assert not lacking, package


def test_atento_completes_its_functions_and_packages():
    assert {"fit", "compare", "inspect", "recipe", "Run", "Board", "attention", "recurrent", "estimators"} <= set(
        dir(atento)
    )
    assert all(hasattr(atento, name) for name in dir(atento))
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        atento.fitt  # noqa: B018


def test_no_class_name_is_defined_twice():
    places = {}
    for path in sorted((ROOT / "src" / "atento").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_documentation_imports_public_names_only():
    names = exported()
    packages = {*names, *public_packages(), *(f"atento.{name}" for name in atento.PACKAGES)}
    shown = [
        (str(page.relative_to(ROOT)), module, name)
        for page in PAGES
        for code in code_of(page)
        for module, name in imports_in(code)
    ]
    assert shown
    assert not [
        (page, module, name)
        for page, module, name in shown
        if module not in packages or (name and name not in names.get(module, []) and name not in dir(atento))
    ]


def test_a_deep_import_is_seen():
    assert list(imports_in("from atento.api.run import load")) == [("atento.api.run", "load")]
    assert list(imports_in("import atento\natento.hidden(3)")) == [("atento", None), ("atento", "hidden")]


if __name__ == "__main__":
    lines = [
        "\n".join([f'"{package}" = [', *(f'    "{name}",' for name in names), "]"])
        for package, names in exported().items()
    ]
    FROZEN.write_text("\n".join(lines) + "\n", encoding="utf-8")
