"""Files stay short and say what they hold; the library keeps its promises about what it never does."""

import ast
import collections
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "atento"
LONGEST = 500
GROWN = {
    "spec/sections.py": 380
}  # a table of keys, one after the other; a file may pass 320 lines only when it is named here on purpose
AIM = 320
MOST_IN_FOLDER = 20  # modules beside __init__.py: a folder reads like a table of contents
LONGEST_FUNCTION = 50  # of the API, whose commands read like tables of contents
DUMPING_GROUNDS = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "base"}
DEEPEST_INHERITANCE = 2

MODULES = sorted(SOURCE.rglob("*.py"))
CALLED_NEVER = {"eval", "exec", "compile", "__import__", "torch.load", "torch.save"}
IMPORTED_NEVER = {"pickle", "dill", "cloudpickle", "urllib", "requests", "httpx", "socket"}
SOCKETS = {  # the files that open a socket
    "web/server.py": "import of socket",  # it listens, and connects to nothing
    "api/comparison/cluster.py": "import of socket",  # it asks whether the cluster that a user named is there
}


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


WRITERS = {  # the files that open one for writing: all others call `write_atomically`
    "writing.py": "open",
    "api/folders.py": "open",  # the lock
    "training/events.py": "open",  # a log, to which lines are added
    "api/comparison/workers.py": "open",  # what a process says
    "node.py": "open",  # the same, on a node of a cluster
    "rank.py": "open",  # events for the process that started it, in a temporary folder
    "studio/uploads.py": "open",  # a dropped file, streamed beside its place and moved there when it is whole
    "studio/jobs.py": "open",  # the same
    "data/tables/chunks.py": "write_bytes",  # in a temporary folder
    "serving/sources.py": "write_bytes",  # the same
}


def writes_of(tree):
    """The calls with which a file is written in place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            modes = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            opens = name == "open" and any(set(mode) <= set("wxab+t") and set(mode) & set("wxa+") for mode in modes)
            if opens or name in ("write_text", "write_bytes"):
                yield name


def test_files_are_written_as_a_whole_or_not_at_all():
    found = {name_of(path): set(writes_of(tree_of(path))) for path in MODULES}
    assert {name: calls for name, calls in found.items() if calls} == {name: {call} for name, call in WRITERS.items()}
    assert list(writes_of(ast.parse('path.open("wb"); open(path, "a"); path.write_text("x"); path.open()'))) == [
        "open", "open", "write_text",
    ]  # fmt: skip


def test_every_file_is_short():
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not {name: count for name, count in lines.items() if count > GROWN.get(name, AIM)}
    assert max([AIM, *GROWN.values()]) <= LONGEST


def test_no_folder_holds_too_many_modules():
    counts = collections.Counter(name_of(path.parent) for path in MODULES if path.name != "__init__.py")
    assert not {name: count for name, count in counts.items() if count > MOST_IN_FOLDER}


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
    found = {name_of(path): faults for path in MODULES if (faults := list(faults_of(tree_of(path))))}
    opening = {name: faults for name, faults in found.items() if name in SOCKETS}
    assert {name: len(faults) for name, faults in opening.items()} == dict.fromkeys(SOCKETS, 1)
    assert all(faults[0].startswith(SOCKETS[name]) for name, faults in opening.items())
    assert {name: faults for name, faults in found.items() if name not in SOCKETS} == {}


def test_the_file_that_listens_connects_to_nothing():
    """It may bind and accept; no call in it could reach another machine."""
    text = (SOURCE / "web" / "server.py").read_text(encoding="utf-8")
    called = {ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}
    assert not [
        name for name in called if name.rpartition(".")[2] in ("connect", "connect_ex", "create_connection", "sendto")
    ]


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
                bases = [ast.unparse(base).split("[")[0] for base in node.bases]
                parents[node.name] = [base.split(".")[-1] for base in bases if not base.startswith("nn.")]

    def depth(name: str) -> int:
        return 1 + max(map(depth, parents[name]), default=0) if name in parents else 0

    too_deep = {name: depth(name) - 1 for name in parents if depth(name) - 1 > DEEPEST_INHERITANCE}
    assert not too_deep


ELSEWHERE = re.compile(
    r"/(?:root|home|work)/\w|/tmp/\w/|\.\./shared|(?:index|extra-index)[-_]url"
    r"|\bpypi\.org|pythonhosted|download\.pytorch|\b[Ii]ssues? #?\d"
)


def test_the_project_speaks_of_itself_alone():
    """No path of a machine, no address of a registry, no data that is not ours, nothing of how it is made."""
    folders = ("src", "tests", "docs", "examples", "benchmarks", ".ci")
    inside = (path for folder in folders for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts)
    files = [path for path in (*inside, *ROOT.glob("*.[mt]*"), ROOT / "Makefile") if path.is_file()]  # .md, .toml, .txt
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files if path != Path(__file__)}
    assert len(texts) > 500
    found = {str(path): ELSEWHERE.search(text) for path, text in texts.items() if path.suffix not in (".png", ".svg")}
    assert not {name: match for name, match in found.items() if match}
