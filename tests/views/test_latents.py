"""The view of latents: the numbers behind the figure, and the kinds of files."""

import json

import numpy as np
import pytest

from atento.errors import InputError
from atento.views import save_latents
from atento.views.latents import latent_text, latent_view


@pytest.fixture
def film():
    chance = np.random.default_rng(0)
    train, test = chance.normal(size=(50, 3)), chance.normal(size=(20, 3))
    windows = chance.uniform(size=(4, 1, 35))
    facts = {"r2": 0.91234, "next step": 0.5}
    return latent_view(train, test, windows, windows / 2, frame=(5, 7), channels=("0,0",), facts=facts, model="mlp")


def test_planes_hold_both_times(film):
    assert [(plane.across, plane.up) for plane in film.planes] == [("z1", "z2"), ("z1", "z3")]
    assert (len(film.planes[0].train), len(film.planes[1].test)) == (50, 20)
    assert np.shape(film.windows) == np.shape(film.reconstructed) == (4, 5, 7)
    np.testing.assert_allclose(film.reconstructed, np.asarray(film.windows) / 2, atol=1e-4)
    assert film.facts == {"r2": 0.9123, "next step": 0.5}
    assert "mlp encodes its data as 3 numbers" in latent_text(film)


def test_windows_of_a_series_and_a_latent_of_one():
    values = np.arange(24.0).reshape(2, 6, 2)
    view = latent_view(np.zeros((9, 1)), np.ones((5, 1)), values, values, channels=("speed", "load"))
    assert view.planes == [] and view.channel == "speed"
    assert view.windows[1] == [12, 14, 16, 18, 20, 22]


def test_files_by_their_names(film, tmp_path):
    assert save_latents(film, tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert save_latents(film, tmp_path / "b.png").read_bytes() == (tmp_path / "a.png").read_bytes()
    assert json.loads(save_latents(film, tmp_path / "a.json").read_text()) == film.to_json()
    page = save_latents(film, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page and "0.9123" in page
    with pytest.raises(InputError, match="must end in"):
        save_latents(film, tmp_path / "a.gif")
    series = latent_view(np.zeros((9, 2)), np.ones((5, 2)), np.ones((3, 6, 1)), np.zeros((3, 6, 1)), channels=("x",))
    assert save_latents(series, tmp_path / "a.svg").read_text().count("reconstructed") >= 1
