"""The Python of every page, run as a reader would run it: all blocks of a page together, in an empty folder."""

import re
import runpy
from pathlib import Path

import pytest

from atento.tasks.catalogue import TASKS as CATALOGUE

ROOT = Path(__file__).parents[2]
DOCS, SOURCE = ROOT / "docs", ROOT / "src"
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
LESSONS = DOCS / "learn"  # their code is run as notebooks by test_lessons.py
PAGES = {
    str(path.relative_to(DOCS)): BLOCK.findall(path.read_text(encoding="utf-8"))
    for path in DOCS.rglob("*.md")
    if not path.is_relative_to(LESSONS)
}
SCREEN = 40  # lines
TASKS = (
    *("classify", "label", "tag", "translate", "generate", "match"),
    *("forecast", "dynamics", "paths", "autoencode", "classify-series", "transcribe"),
    *("caption", "classify-images", "match-images", "combinations"),
)


def learned(metrics) -> bool:
    """Whether a run is better than the simplest model: the most frequent answer, the mean or the last value."""
    (_, low, high), *_ = metrics["scores"].values()
    simple = (metrics.get("baselines") or {}).get("scores", {})
    if "majority" in simple:
        return low > simple["majority"]
    return high < simple.get("mean", simple.get("last-value", float("inf")))


@pytest.mark.usefixtures("light_recording")
@pytest.mark.parametrize("name", sorted(name for name, blocks in PAGES.items() if blocks))
def test_the_python_of_a_page_runs(name, tmp_path, monkeypatch):
    """A page whose model learns nothing says so; one whose model does, shows what it attended to."""
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "page.py"
    script.write_text("\n".join(PAGES[name]), encoding="utf-8")
    names = runpy.run_path(str(script), run_name="__main__")
    if "run" in names:
        short = "too few to learn" in script.read_text(encoding="utf-8")
        assert short or learned(names["run"].metrics)
    assert "alignment" not in names or names["alignment"].weights.numel()


@pytest.mark.parametrize("task", TASKS)
def test_the_python_of_a_task_fits_on_one_screen(task):
    blocks = PAGES[f"tasks/{task}.md"]
    assert blocks
    assert sum(block.count("\n") for block in blocks) <= SCREEN
    assert any("atento.fit(" in block for block in blocks)


def test_every_task_is_among_the_combinations_and_in_the_readme():
    for page in (DOCS / "tasks" / "combinations.md", ROOT / "README.md"):
        words = set(re.findall(r"[\w-]+", page.read_text(encoding="utf-8")))
        assert set(CATALOGUE) <= words, page


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_pages_import_from_packages_alone(page):
    for module in re.findall(r"^(?:>>> )?from (atento[\w.]*) import", page.read_text(encoding="utf-8"), re.MULTILINE):
        path = SOURCE.joinpath(*module.split("."))
        assert path.is_dir() or path.parent == SOURCE / "atento", module
