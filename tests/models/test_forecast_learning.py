"""Forecasters that learn what can be known of a series, and how much cannot."""

import numpy as np
import pytest
import torch

from atento.models import SeriesBatch, SeriesSizes
from atento.models.builders import build_forecaster
from atento.spec import ModelRecipe

SEASON, PAST, HORIZON, NOISE = 6, 18, 6, 0.1
SIZES = SeriesSizes(1, 1, PAST, HORIZON)


@pytest.fixture(scope="module")
def parts():
    """A season, a drift, three times what is known beforehand, and noise; windows to learn from, and later ones."""
    chance = np.random.default_rng(0)
    known = chance.normal(size=900)
    season = np.array([2.0, 1.0, -1.0, -2.0, 0.5, -0.5])
    clean = season[np.arange(900) % SEASON] + 0.002 * np.arange(900) + 3.0 * known
    series = clean + NOISE * chance.normal(size=900)
    rows = np.stack([series, known], axis=1)
    windows = torch.tensor(np.lib.stride_tricks.sliding_window_view(rows, PAST + HORIZON, axis=0).copy())
    windows = windows.transpose(1, 2)  # (N, L + H, 2)
    batch = SeriesBatch(windows[:, :PAST, :1], windows[..., 1:], windows[:, PAST:, :1])
    return tuple(SeriesBatch(*(part[rows] for part in batch)) for rows in (slice(0, 600), slice(630, None)))


def learned(name, parts, steps, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 16, "heads": 2, "dropout": 0.0, **choices})
    model = build_forecaster(recipe, SIZES)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02, fused=True)
    for _ in range(steps):
        chosen = torch.randint(600, (64,))
        optimiser.zero_grad()
        model.loss(SeriesBatch(*(part[chosen] for part in parts[0]))).mean.backward()
        optimiser.step()
    return model.eval()


@pytest.mark.spec("K08")
@pytest.mark.parametrize("name", ["linear", "rnn", "gru", "lstm+additive", "transformer", "transformer+patches"])
def test_every_family_learns_season_drift_and_covariate(name, parts):
    """The noise itself, 0.01, is the least any forecast can err by; repeating the past errs by more than 10."""
    model, batch = learned(name, parts, 400 if name == "linear" else 150), parts[1]
    with torch.no_grad():
        found = (model.point_forecast(model(batch.past, batch.known)) - batch.target).square().mean().item()
    last = (batch.past[:, -1:] - batch.target).square().mean().item()
    season = (batch.past[:, -SEASON:] - batch.target).square().mean().item()
    assert min(last, season) > 10.0
    assert NOISE**2 * 0.9 < found < 0.5


@pytest.mark.spec("K08")
def test_quantiles_hold_what_they_promise(parts):
    """Of what came later, four fifths lie between the quantiles 0.1 and 0.9, and a tenth below and above each."""
    model = learned("linear", parts, 500, quantiles="0.1,0.5,0.9")
    batch = parts[1]
    with torch.no_grad():
        outputs = model(batch.past, batch.known)
    low, high = ((batch.target < outputs[..., place]).double().mean().item() for place in (0, 2))
    assert low == pytest.approx(0.1, abs=0.07)
    assert high == pytest.approx(0.9, abs=0.07)
    assert (outputs.diff(dim=-1) >= 0).all()
