"""Position encodings: tables and curves by formula."""

import base64
import json
import math

import numpy as np
import pytest
import torch
from torch import nn

from atento.attention import Alibi, RelativeBias
from atento.errors import InputError
from atento.layers.positions import LearnedPositions, Rotary, SinusoidalPositions
from atento.views.model.positions import all_positions, positions_of, positions_page, positions_text, save_positions


@pytest.mark.spec("V03")
def test_the_cosine_of_waves_depends_on_the_distance_alone():
    """Σ cos(w d) over the frequencies, divided by their number: Vaswani et al. (2017), sec. 3.5."""
    view = positions_of(nn.ModuleDict({"positions": SinusoidalPositions(32)}))
    (one,) = view.tables
    waves = [10_000 ** (-2 * pair / 32) for pair in range(16)]
    wanted = [sum(math.cos(wave * distance) for wave in waves) / 16 for distance in one.distances]
    np.testing.assert_allclose(one.curves["cosine"], wanted, atol=1e-6)
    table = [[f(at * wave) for wave in waves for f in (math.sin, math.cos)] for at in range(128)]
    np.testing.assert_allclose(one.table, table, atol=2e-4)


@pytest.mark.spec("V03")
def test_rotary_angles_and_biases():
    bias = RelativeBias(3, 4)
    nn.init.normal_(bias.table)
    view = positions_of(nn.ModuleDict({"turn": Rotary(8), "alibi": Alibi(4), "bias": bias}))
    turn, alibi, learned = view.tables
    wanted = [sum(math.cos(d * 10_000 ** (-2 * pair / 8)) for pair in range(4)) / 4 for d in turn.distances]
    np.testing.assert_allclose(turn.curves["mean cosine"], wanted, atol=1e-9)
    np.testing.assert_allclose(alibi.curves["head 2"], [-(2**-4) * abs(d) for d in alibi.distances])
    np.testing.assert_allclose(learned.curves["head 3"], bias.table[:, 2].tolist(), atol=1e-6)
    assert learned.distances == list(range(-4, 5)) and learned.first == -4


def test_learned_positions_are_shown_up_to_their_length_and_models_without_any_refused():
    (one,) = positions_of(nn.ModuleDict({"a": LearnedPositions(6, max_length=10)})).tables
    assert len(one.table) == 10
    with pytest.raises(InputError, match="no position encodings"):
        positions_of(nn.Linear(2, 2))


@pytest.mark.spec("V03")
def test_a_browser_reads_the_heat_map_and_the_curve(open_page, tmp_path):
    view = all_positions()
    page = open_page(positions_page(view))
    first = page.locator(".heat").first
    box = first.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 2.5 / 64, box["y"] + box["height"] * 10.5 / 128)
    wave = 10_000 ** (-2 / 64)
    assert first.locator(".heat-readout").text_content() == f"position 10, feature 3: {math.sin(10 * wave):.4f}"
    first.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    assert first.locator(".heat-readout").text_content() == f"position 10, feature 4: {math.cos(10 * wave):.4f}"
    data = json.loads(page.locator("#heat-positions-1").text_content())
    numbers = np.frombuffer(base64.b64decode(data["numbers"]), dtype="<f4").reshape(data["shape"])
    np.testing.assert_allclose(numbers, view.tables[0].table, atol=1e-6)
    assert page.locator("figure.live svg.interactive").count() == len(view.tables)
    narrow = open_page(positions_page(view), width=360, color_scheme="dark")
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 360


def test_words_and_files(tmp_path):
    torch.manual_seed(5)
    view = all_positions()
    assert "cosine, by distance  0: 1.00  1: 0.97" in positions_text(view)
    assert len(json.loads(save_positions(view, tmp_path / "a.json").read_text())["tables"]) == len(view.tables)
    assert save_positions(view, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
