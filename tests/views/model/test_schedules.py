"""Learning-rate curves against the formulas, and in a browser."""

import json
import math

import pytest

from atento.api.explain.model import HIDDEN, STEPS, WARMUP, all_schedules
from atento.training.schedules import DECAYS, WARM_UPS, rectification
from atento.views.model.schedules import save_schedules, schedules_page, schedules_text

BETA2 = 0.98


@pytest.fixture(scope="module")
def view():
    return all_schedules()


def decayed(name, step):
    """The share of the peak by the formulas of the papers, written anew."""
    done, rise = (step - 1) / STEPS, min(1.0, step / WARMUP)
    if name == "noam":
        return min(step**-0.5, step * WARMUP**-1.5) * WARMUP**0.5
    return (
        rise
        * {
            "linear": 1 - done,
            "cosine": 0.5 + 0.5 * math.cos(math.pi * done),
            "exponential": math.exp(math.log(0.01) * done),
            "inverse-sqrt": (WARMUP / max(WARMUP, step)) ** 0.5,
            "constant": 1.0,
            "plateau": 1.0,  # no validation without improvement
        }[name]
    )


def risen(name, step):
    if name == "none":
        return 1.0
    tau = {"untuned-linear": 2 / (1 - BETA2), "untuned-exponential": 1 / (1 - BETA2)}.get(name, WARMUP)
    return min(1.0, step / tau) if name.endswith("linear") else -math.expm1(-step / tau)


@pytest.mark.spec("V04")
def test_every_schedule_follows_its_formula(view):
    falls, rises, _ = view.charts
    assert [curve.name for curve in falls.curves] == [*DECAYS, "noam"]
    assert [curve.name for curve in rises.curves] == list(WARM_UPS)
    for chart, formula in ((falls, decayed), (rises, risen)):
        for curve in chart.curves:
            assert curve.values == pytest.approx([formula(curve.name, step) for step in curve.steps], rel=1e-9)
    assert falls.curves[0].steps[-1] == STEPS and HIDDEN == 512


@pytest.mark.spec("V04")
@pytest.mark.parametrize("beta2", [0.9, 0.98, 0.999])
def test_rectification_is_that_of_the_paper(view, beta2):
    """Liu et al. (2020), alg. 2, from ρ > 5 on as torch has it."""
    curve = next(one for one in view.charts[2].curves if one.name == f"β₂ = {beta2:g}")
    longest = 2 / (1 - beta2) - 1
    for step, value in zip(curve.steps, curve.values, strict=True):
        length = longest - 2 * step * beta2**step / (1 - beta2**step)
        if length <= 5:
            assert rectification(step, beta2) is None and value == 0.0
        else:
            top = (length - 4) * (length - 2) * longest
            assert value == pytest.approx(math.sqrt(top / ((longest - 4) * (longest - 2) * length)), rel=1e-9)


@pytest.mark.spec("V04")
def test_a_browser_reads_the_curves(view, open_page):
    page = open_page(schedules_page(view))
    assert page.locator("svg.interactive").count() == 3
    first = page.locator("svg.interactive").first
    first.focus()
    page.keyboard.press("ArrowRight")
    readout = page.locator("figure.live").first.locator("..").locator(".readout").first.text_content()
    assert "step" in readout and "share of the peak learning rate" in readout
    data = json.loads(page.locator("#chart-schedule-1").text_content())
    cosine = data["series"][1]["tables"]["points"]
    assert cosine["value"][50] == pytest.approx(decayed("cosine", cosine["step"][50]), rel=1e-6)
    narrow = open_page(schedules_page(view), width=360, color_scheme="dark")
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 360


def test_words_and_files(view, tmp_path):
    lines = schedules_text(view).splitlines()
    assert lines[0].startswith("How it falls") and max(map(len, lines)) <= 80
    assert len(json.loads(save_schedules(view, tmp_path / "a.json").read_text())["charts"]) == 3
    assert save_schedules(view, tmp_path / "a.svg").read_text().startswith("<?xml")
