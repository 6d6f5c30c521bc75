"""Forecasts of two coordinates are drawn as a path in their plane."""

import numpy as np
import pytest

from atento.views import save_forecast
from atento.views.forecast import forecast_view


def view(channels):
    past, actual = np.zeros((9, len(channels))), np.ones((4, len(channels)))
    predicted = {"gru": actual[..., None] * 2, "last-step": actual[..., None] * 3}
    return forecast_view(past, actual, predicted, channels, title="boat 07")


@pytest.mark.spec("K11")
def test_coordinates_are_drawn_in_their_plane(tmp_path):
    drawn = save_forecast(view(("x", "y")), tmp_path / "path.svg").read_text()
    strips = save_forecast(view(("load", "price")), tmp_path / "strips.svg").read_text()
    assert "steps from where the forecast begins" in strips and "steps from where the forecast begins" not in drawn
    assert all(words in drawn for words in ("past", "actual", "gru", "last-step", "boat 07"))
