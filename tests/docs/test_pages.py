"""The Python of every page, run as a reader would run it: all blocks of a page together, in an empty folder."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
PAGES = {str(path.relative_to(DOCS)): BLOCK.findall(path.read_text(encoding="utf-8")) for path in DOCS.rglob("*.md")}
SCREEN = 40  # lines
TASKS = (
    *("classify", "label", "tag", "translate", "generate", "match"),
    *("forecast", "dynamics", "paths", "autoencode", "classify-series", "transcribe"),
    *("caption", "classify-pictures", "match-pictures"),
)


@pytest.mark.parametrize("name", sorted(name for name, blocks in PAGES.items() if blocks))
def test_the_python_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "page.py"
    script.write_text("\n".join(PAGES[name]), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("task", TASKS)
def test_the_python_of_a_task_fits_on_one_screen(task):
    blocks = PAGES[f"tasks/{task}.md"]
    assert blocks
    assert sum(block.count("\n") for block in blocks) <= SCREEN
    assert any("atento.fit(" in block for block in blocks)
