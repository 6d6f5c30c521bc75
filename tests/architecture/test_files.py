"""Files stay short and say what they hold; the library keeps its promises about what it never does."""

import ast
import functools
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "atento"
LONGEST = 500
GROWN = {}  # a file may pass 320 lines only when it is named here on purpose
AIM = 320
LONGEST_FUNCTION = 50  # of the API, whose commands read like tables of contents
DUMPING_GROUNDS = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "base"}
DEEPEST_INHERITANCE = 2

MODULES = sorted(SOURCE.rglob("*.py"))
CALLED_NEVER = {"eval", "exec", "compile", "__import__", "torch.load", "torch.save"}
IMPORTED_NEVER = {"pickle", "dill", "cloudpickle", "urllib", "requests", "httpx", "socket"}


def name_of(path):
    return str(path.relative_to(SOURCE))


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def faults_of(tree):
    """What a file of the library never does, with the line where it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield f"assert at line {node.lineno}"
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"bare except at line {node.lineno}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) in CALLED_NEVER:
            yield f"{ast.unparse(node.func)} at line {node.lineno}"
        if isinstance(node, ast.Attribute) and node.attr == "splitlines":  # it cuts at U+0085 and U+2028; see lines.py
            yield f"splitlines at line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name.split(".")[0] for alias in node.names}
            names.add((getattr(node, "module", "") or "").split(".")[0])
            yield from (f"import of {name} at line {node.lineno}" for name in sorted(names & IMPORTED_NEVER))


def test_every_file_is_short():
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not {name: count for name, count in lines.items() if count > GROWN.get(name, AIM)}
    assert max([AIM, *GROWN.values()]) <= LONGEST


def test_every_function_of_the_api_is_short():
    lines = {
        f"{name_of(path)}: {node.name}": node.end_lineno - node.lineno + 1
        for path in MODULES
        if path.is_relative_to(SOURCE / "api")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not {name: count for name, count in lines.items() if count > LONGEST_FUNCTION}


def test_no_dumping_ground():
    parts = {name_of(path): {part.removesuffix(".py") for part in path.relative_to(SOURCE).parts} for path in MODULES}
    assert not [name for name, found in parts.items() if DUMPING_GROUNDS & found]


def test_every_module_says_what_it_is():
    assert not [name_of(path) for path in MODULES if not ast.get_docstring(tree_of(path))]


def test_nothing_is_asserted_swallowed_or_executed():
    assert not {name_of(path): faults for path in MODULES if (faults := list(faults_of(tree_of(path))))}


@pytest.mark.parametrize(
    "line, fault",
    [
        ("assert True", "assert at line 1"),
        ("try: x\nexcept: y", "bare except at line 2"),
        ("torch.load(path)", "torch.load at line 1"),
        ("import pickle", "import of pickle at line 1"),
        ("text.splitlines()", "splitlines at line 1"),
        ("from urllib.request import urlopen", "import of urllib at line 1"),
    ],
)
def test_a_fault_is_seen(line, fault):
    assert list(faults_of(ast.parse(line))) == [fault]


def test_inheritance_stays_flat():
    """At most two classes of our own above any class."""
    parents: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                parents[node.name] = [ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases]

    def depth(name: str) -> int:
        return 1 + max(map(depth, parents[name]), default=0) if name in parents else 0

    too_deep = {name: depth(name) - 1 for name in parents if depth(name) - 1 > DEEPEST_INHERITANCE}
    assert not too_deep


def test_the_project_speaks_of_itself_alone():
    """No path of a machine, no address of a registry, no data that is not ours."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    names = [name for name in listed.stdout.splitlines() if not name.endswith((".png", ".svg"))]
    strange = re.compile(r"/(?:root|home)/\w|(?:index|extra-index)[-_]url")
    for name in names:
        if (ROOT / name).is_file() and name != "tests/architecture/test_files.py":
            found = strange.search((ROOT / name).read_text(encoding="utf-8", errors="replace"))
            assert not found, f"{name}: {found}"
