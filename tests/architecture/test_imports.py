"""Down only: a part may import what stands below it, never above, never a sibling."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "atento"

LEVELS = [
    {"cli", "estimators"},
    {"api"},
    {"training", "predictor", "views", "checks", "tuning"},
    {"bundle"},
    {"tasks"},
    {"decoding"},
    {"models", "baselines", "data"},
    {"blocks"},
    {"attention", "recurrent"},
    {"layers", "metrics"},
    {"spec"},
    {"errors", "version"},
]
HEIGHT = {part: len(LEVELS) - level for level, parts in enumerate(LEVELS) for part in parts}
ENTRANCES = {"__init__", "__main__"}  # the package's own doors may open on anything


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


MODULES = sorted(path for path in SOURCE.rglob("*.py") if part_of(path) not in ENTRANCES)


def test_every_part_has_its_place():
    assert {part_of(path) for path in MODULES} <= set(HEIGHT)


def test_imports_go_down_only():
    found = {path.relative_to(SOURCE): violations(part_of(path), path.read_text(encoding="utf-8")) for path in MODULES}
    assert not {str(path): parts for path, parts in found.items() if parts}


def test_an_upward_or_sideways_import_is_seen():
    assert violations("attention", "from atento.models.build.encoder_decoder import build_encoder") == ["models"]
    assert violations("data", "def late():\n    import atento.models.build.encoder_decoder") == ["models"]
    assert violations("layers", "from atento import api") == ["api"]
    assert not violations("models", "from atento.attention import Attention")
