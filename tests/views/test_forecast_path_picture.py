"""A path seen from above."""

import numpy as np
import pytest

from atento.views.forecast import forecast_view, save_forecast


def view(channels):
    past, came = np.zeros((9, len(channels))), np.ones((4, len(channels)))
    said = {"gru": came[..., None] * 2, "last-step": came[..., None] * 3}
    return forecast_view(past, came, said, channels, title="boat 07")


@pytest.mark.spec("K11")
def test_coordinates_are_drawn_in_their_plane(tmp_path):
    drawn = save_forecast(view(("x", "y")), tmp_path / "path.svg").read_text()
    strips = save_forecast(view(("load", "price")), tmp_path / "strips.svg").read_text()
    assert "steps from where the forecast begins" in strips and "steps from where the forecast begins" not in drawn
    assert all(words in drawn for words in ("known", "came", "gru", "last-step", "boat 07"))
