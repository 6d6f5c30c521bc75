"""A forecast beside the actual values: plain data, text, a page, a figure."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from atento.errors import InputError
from atento.views import ForecastView, save_forecast
from atento.views.forecast import blocks, forecast_text, forecast_view
from atento.views.forecast_page import forecasts_section, render_forecast

STEPS = np.arange(60.0)


def view(*, channels=("load", "<b>heat</b>"), quantiles=3, actual=6):
    past = np.stack([STEPS % 7, STEPS[::-1]], axis=1)
    own = np.stack([np.stack([STEPS[:6] + at, at - STEPS[:6]], axis=1) for at in range(quantiles)], axis=-1)
    predicted = {"gru": own, "seasonal": own[..., :1] + 0.5}
    levels = (0.1, 0.5, 0.9)[:quantiles] if quantiles > 1 else ()
    shares = (0.0, 1.0, 0.0) if quantiles > 1 else (1.0,)
    return forecast_view(
        past, past[:actual], predicted, channels, shares=shares, levels=levels, title="until noon", data="x.csv"
    )


def test_the_numbers_that_are_shown():
    found = view()
    assert (found.model, found.steps, found.channels, found.levels) == ("gru", 6, 2, [0.1, 0.5, 0.9])
    load, _ = found.shown
    assert load.past == (STEPS % 7)[-24:].tolist() and load.actual == [0, 1, 2, 3, 4, 5]
    assert load.low == [0, 1, 2, 3, 4, 5] and load.forecast == [1, 2, 3, 4, 5, 6] and load.high[0] == 2
    assert load.others == {"seasonal": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]}
    point = view(quantiles=1).shown[0]
    assert point.low == [] and point.forecast == [0, 1, 2, 3, 4, 5]


def test_on_a_terminal():
    text = forecast_text(view(), width=60)
    assert text.splitlines()[0] == "gru, 6 steps ahead, until noon"
    assert "6 of 6 actual values lie within the quantiles 0.1 to 0.9, 80% promised" in text
    past, actual = (next(line for line in text.splitlines() if line.startswith(word)) for word in ("past", "actual"))
    assert len(actual) == len(past) + 6 and actual.split()[1] == "▁▂▃▅▆▇"  # under where the forecast begins
    assert all(len(line) <= 60 for line in text.splitlines() if line[:4] in ("past", "actu", "gru "))
    assert "actual" not in forecast_text(view(actual=0))
    assert blocks([0, 1, 2, 3], 2, (0, 3)) == "▂▇" and blocks([5, 5], 9, (5, 5)) == "▁▁"


def test_as_a_page_that_names_cannot_break():
    page = render_forecast(view()).partition('<script type="module"')[0]
    assert "<b>heat" not in page and "&lt;b&gt;heat&lt;/b&gt;" in page
    assert page.count("<svg") == 2 and page.count("<polygon") == 2
    places = [float(number) for number in re.findall(r"[\d.]+,([\d.]+)", page.partition("<polyline")[2][:400])]
    assert places and all(0 <= place <= 250 for place in places)
    assert forecasts_section([]) == ""
    section = forecasts_section([replace(view(quantiles=1), kind="worst")])
    assert "worst: until noon" in section and "Shaded" not in section


@pytest.mark.parametrize(
    "name, begins", [("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.html", b"<!doctype"), ("f.json", b"{")]
)
def test_saved_by_its_name(tmp_path, name, begins):
    path = save_forecast(view(channels=[f"c{at}" for at in range(2)]), tmp_path / name)
    assert path.read_bytes().startswith(begins)
    if name.endswith("json"):
        saved = json.loads(path.read_text(encoding="utf-8"))
        assert ForecastView.from_json(saved).to_json() == saved and saved["model"] == "gru"


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError):
        save_forecast(view(), tmp_path / "f.gif")


def test_a_page_says_how_far_steps_are_apart():
    assert "steps of 1 row, from the last step of the past" in render_forecast(view())
    assert "steps of 15min, from the last step of the past" in render_forecast(replace(view(), step="15min"))


@pytest.mark.spec("V07")
def test_dates_stand_on_the_axis_and_in_the_readout(open_page):
    """A script may draw the page or not: both axes show years, and a point is read out with its month."""
    months = np.arange("1950-01", "1952-07", dtype="datetime64[M]").astype("datetime64[s]")
    dated = replace(view(channels=("load", "heat")), step="1mo", times=[str(month) for month in months])
    html = render_forecast(dated)
    static = html.partition("<main>")[2].partition("</svg>")[0]
    assert ">Jul 1951<" in static and "time (UTC), a step is 1 month" in static and ">+5<" not in static
    page = open_page(html)
    figure = page.locator("figure[data-chart=forecast-1]")
    ticks = figure.locator("svg.interactive .tick").all_text_contents()
    assert "Jul 1951" in ticks
    figure.locator("svg.interactive").focus()
    page.keyboard.press("ArrowRight")  # the last value that was measured
    assert figure.locator(".readout").inner_text() == "actual · load 5 · 1952-06-01"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert figure.locator(".readout").inner_text() == "gru · load 6 (5–7) · 1952-06-01"
