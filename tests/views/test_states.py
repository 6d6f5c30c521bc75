"""Hidden states as a page: the text is shaded by the unit that is chosen."""

import json

import pytest
import torch

from atento.models.diagnostics.recurrent_states import TokenStates, UnitPattern
from atento.views.states import StatesView, save_states, states_page, states_text

TOKENS = ["a", '"', "<b>", '"', "\n"]


@pytest.fixture
def view():
    torch.manual_seed(0)
    states = torch.randn(5, 7)
    states[:, 3] = torch.tensor([-1.0, 0.5, 1.0, -0.5, 0.0])
    patterns = [UnitPattern("inside quotes", 3, 0.9, 0.8), UnitPattern("vowel", 5, -0.6, -0.2)]
    return StatesView(
        model="lstm", source='a"<b>"', states=TokenStates("encoder.stack", TOKENS, states), patterns=patterns
    )


def test_the_text_is_shaded_by_the_chosen_unit(view, open_page):
    page = open_page(states_page(view))
    spans = page.locator("#states .states-text span")
    assert spans.all_text_contents() == ["a", '"', "<b>", '"', "⏎\n"]
    shown = [spans.nth(at).get_attribute("title") for at in range(5)]
    assert shown == ["-1.000", "0.500", "1.000", "-0.500", "0.000"]
    colours = [spans.nth(at).evaluate("one => getComputedStyle(one).backgroundColor") for at in range(5)]
    assert colours[0] != colours[2] and colours[4] == "rgba(0, 0, 0, 0)"
    page.get_by_label("unit", exact=True).fill("6")
    assert spans.nth(0).get_attribute("title") == f"{view.states.states[0, 5]:.3f}"
    page.get_by_label("pattern", exact=True).select_option(index=1)
    assert page.get_by_label("unit", exact=True).input_value() == "4"
    spans.nth(2).hover()
    assert "state 1.000 of unit 4" in page.locator("#states [role=status]").text_content()


def test_narrow_and_dark(view, open_page):
    page = open_page(states_page(view), width=360, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_words_and_files(view, tmp_path):
    assert "inside quotes            unit    4  r +0.80 on other texts" in states_text(view)
    assert "vowel (" not in states_text(view).split("Clearest")[1]
    found = json.loads(save_states(view, tmp_path / "a.json").read_text())
    assert found["units"][3] == pytest.approx([-1.0, 0.5, 1.0, -0.5, 0.0])
    assert save_states(view, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
