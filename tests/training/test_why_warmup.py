"""Why warm-up, in one figure and one table: the page as it is kept, and the script that writes it, in a small form."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PNG = b"\x89PNG"


@pytest.fixture
def script():
    """The benchmark that writes the page; benchmarks are no package, so it is loaded by its place."""
    place = importlib.util.spec_from_file_location("why_warmup", DOCS.parent / "benchmarks" / "why_warmup.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def rows_of(text: str) -> dict[str, list[str]]:
    """Every row of the tables of a page by its first cell."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {first: rest for first, *rest in lines}


@pytest.mark.spec("O08")
def test_the_kept_page_holds_five_ways_with_five_seeds_each(script):
    text = (DOCS / "why-warmup.md").read_text(encoding="utf-8")
    rows, means = rows_of(text), {}
    for name, case in script.CASES.items():
        losses, mean, gradients, updates = rows[case.title]
        finals = [float(loss) for loss in losses.split()]
        assert len(finals) == script.SEEDS == 5
        means[name] = float(mean)
        assert means[name] == pytest.approx(sum(finals) / 5, abs=0.01)
        assert len(gradients.split(", ")) == len(updates.split(", ")) == 3
    slopes = [float(rows[f"{order}-norm"][-1].removeprefix("L^").replace("−", "-")) for order in ("post", "pre")]
    assert slopes == pytest.approx([0.0, -0.5], abs=0.1), "level in post-norm, 1/√L in pre-norm"
    assert means["warm"] < means["post"], "what the page says of warm-up is what its table says"
    assert len(re.findall(r"\*\*(Reproduced|Not reproduced|In part)", text)) == 6
    assert (DOCS / "images" / "why-warmup.png").read_bytes()[:4] == PNG


def test_the_final_loss_is_the_mean_of_the_last_steps(script, monkeypatch):
    monkeypatch.setattr(script, "LAST", 2)
    assert script.Training([9.0, 1.0, 2.0, 4.0], []).final == 3.0


@pytest.mark.spec("O08")
def test_the_script_trains_every_way_and_writes_what_it_saw(script, tmp_path, monkeypatch, capsys):
    small = {"model.layers": 1, "model.hidden": 8, "model.feed_forward": 8, "train.steps": 21}
    settings = {"STEPS": 21, "SEEDS": 2, "WATCHED": 20, "LAST": 5, "DEPTHS": (1, 2), "DOCS": tmp_path}
    for name, value in {**settings, "COMMON": {**script.COMMON, **small}}.items():
        monkeypatch.setattr(script, name, value)
    (tmp_path / "images").mkdir()
    assert script.main() == 0
    rows = rows_of((tmp_path / "why-warmup.md").read_text(encoding="utf-8"))
    told = re.findall(r"seed (\d)  (.+?) +final loss ([\d.]+)", capsys.readouterr().out)
    assert len(told) == 2 * len(script.CASES)
    for case in script.CASES.values():
        finals = [float(loss) for _, title, loss in told if title == case.title]
        assert [float(loss) for loss in rows[case.title][0].split()] == pytest.approx(finals, abs=0.006)
    assert (tmp_path / "images" / "why-warmup.png").read_bytes()[:4] == PNG
