"""Down only: a part may import what stands below it, never above, never a sibling."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "atento"

LEVELS = [
    {"python"},
    {"cli"},
    {"studio", "estimators", "serving"},
    {"api"},
    {"training", "predictor", "views", "checks", "tuning", "exporting"},
    {"bundle"},
    {"tasks"},
    {"decoding"},
    {"models", "baselines", "data"},
    {"blocks"},
    {"attention", "recurrent"},
    {"layers", "metrics"},
    {"spec"},
    {"web", "native"},
    {"extras", "node", "writing"},
    {"errors", "lines", "reprs", "system", "version"},
]
HEIGHT = {part: len(LEVELS) - level for level, parts in enumerate(LEVELS) for part in parts}
ENTRANCES = {"__init__", "__main__", "rank", "worker"}  # the package's own doors may open on anything
# The rooms of a package, sub-folders or single modules: each may import from those after it. "." are all other modules.
ROOMS = {
    "data": [
        "evidence",
        "builtin",
        "dynamics",
        "images",
        "sequences",
        "series",
        "examples",
        "sources",
        "columns",
        "tables",
        "numbers",
        "text",
        "files",
        ".",
    ],
    "models": ["builders", "diagnostics", ".", "backbones", "summaries", "protocols", "names"],
    "tasks": [
        "finding",
        "catalogue",
        "autoencode",
        "embed",
        "generate",
        "pairs",
        "reading",
        "forecast",
        "defaults",
        "recognising",
        "outputs",
        "inputs",
        ".",
        "leaks",
        "task",
        "traces",
    ],
}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(text: str) -> set[str]:
    """Which parts of atento a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = node.module.split(".")
            if module[0] == "atento":
                names |= {module[1]} if len(module) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("atento.")}
    return names


def violations(part: str, text: str) -> list[str]:
    return [other for other in imported_parts(text) if other != part and HEIGHT[other] >= HEIGHT[part]]


def imported_modules(text: str) -> set[str]:
    """Every module of atento that a module imports, anywhere in it, by its dotted name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.startswith("atento.")}


def room_of(package: str, inside: str) -> str:
    """The room of a package that holds a module, by the first part of its name in the package."""
    return inside if inside in ROOMS[package] else "."


def room_violations(package: str, room: str, text: str) -> list[str]:
    rooms = ROOMS[package]
    found = {name.split(".")[2] for name in imported_modules(text) if name.startswith(f"atento.{package}.")}
    return sorted(other for other in {room_of(package, one) for one in found} if rooms.index(other) < rooms.index(room))


MODULES = sorted(path for path in SOURCE.rglob("*.py") if part_of(path) not in ENTRANCES)


def test_every_part_has_its_place():
    assert {part_of(path) for path in MODULES} <= set(HEIGHT)


def test_imports_go_down_only():
    found = {path.relative_to(SOURCE): violations(part_of(path), path.read_text(encoding="utf-8")) for path in MODULES}
    assert not {str(path): parts for path, parts in found.items() if parts}


def test_an_upward_or_sideways_import_is_seen():
    assert violations("attention", "from atento.models.builders.encoder_decoder import build_encoder") == ["models"]
    assert violations("data", "def late():\n    import atento.models.builders.encoder_decoder") == ["models"]
    assert violations("layers", "from atento import api") == ["api"]
    assert not violations("models", "from atento.attention import Attention")


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_import_one_way_only(package):
    folders = {path.name for path in (SOURCE / package).iterdir() if path.is_dir() and path.name != "__pycache__"}
    modules = {path.stem for path in (SOURCE / package).glob("*.py")}
    assert folders | {"."} <= set(ROOMS[package]) <= folders | modules | {"."}
    found = {}
    for path in (SOURCE / package).rglob("*.py"):
        inside = path.relative_to(SOURCE / package).parts
        if inside != ("__init__.py",):
            found["/".join(inside)] = room_violations(
                package, room_of(package, inside[0].removesuffix(".py")), path.read_text("utf-8")
            )
    assert not {name: rooms for name, rooms in found.items() if rooms}


def test_an_import_from_a_higher_room_is_seen():
    assert room_violations("data", "tables", "from atento.data.examples.pairs import Pair") == ["examples"]
    assert room_violations("data", "files", "def late():\n    from atento.data import tables") == ["tables"]
    assert room_violations("data", ".", "import atento.data.files.opening") == ["files"]
    assert not room_violations("data", "tables", "from atento.data.records import Refusal")
    assert room_violations("models", "backbones", "from atento.models.classifier import Classifier") == ["."]
    assert room_violations("models", ".", "from atento.models.builders import build_encoder") == ["builders"]
    assert not room_violations("models", "backbones", "from atento.models.protocols import Encoder")


LATE = (
    "torch._dynamo",
    "torch.distributed.tensor",
    "torch.distributed.fsdp",
    "sympy",
    "sklearn",
    "matplotlib",
    "pandas",
)


def test_what_takes_long_to_load_is_loaded_where_it_is_used():
    """A prediction, a view or a server needs none of these."""
    code = (
        f"import sys, atento.api, atento.api.fit, atento.tasks.catalogue; print(sorted(set({LATE}) & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


COMPILER = ("torch._dynamo", "torch._inductor", "torch.distributed.tensor", "torch.distributed.fsdp")
TEXTS = "text,label\n" + "".join(
    f"a {word} film {n},{label}\n" for n in range(40) for word, label in (("good", 1), ("bad", 0))
)
TAGS = "".join(f"the\tD\nfilm{n}\tN\nended\tV\n\n" for n in range(40))
TRAINED = [
    ("translate", "gru", "numbers", "vier"),
    ("translate", "transformer", "numbers", "vier"),
    ("classify", "gru", TEXTS, "a good film"),
    ("classify", "transformer", TEXTS, "a good film"),
    ("tag", "lstm+crf", TAGS, "the film ended"),
]


@pytest.mark.parametrize("task, model, data, asked", TRAINED)
def test_a_run_loads_no_compiler(task, model, data, asked, tmp_path):
    """Nor does the model that it leaves, when it is loaded again."""
    file = tmp_path / ("data.csv" if data is TEXTS else "data.conll")
    file.write_text(data, encoding="utf-8")
    source = data if data == "numbers" else str(file)
    code = (
        "import sys, atento\n"
        "few = {'train.steps': 3, 'train.validations': 1, 'train.baselines': 'no', 'model.hidden': 8}\n"
        f"atento.fit({source!r}, task={task!r}, model={model!r}, settings=few, device='cpu', out='run')\n"
        f"atento.load('run').predict([{asked!r}])\n"
        f"print(sorted(set({COMPILER}) & set(sys.modules)))"
    )
    done = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=tmp_path)
    assert done.splitlines()[-1] == "[]"
