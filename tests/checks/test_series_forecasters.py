"""Contracts of forecasters hold for every family, and a forecaster that breaks one is caught."""

import pytest
import torch

from atento.checks import check
from atento.models import SeriesSizes
from atento.models.builders import build_forecaster
from atento.spec import ModelRecipe

SIZES = SeriesSizes(channels=2, covariates=3, look_back=7, horizon=5)
CONTRACTS = ("neighbours", "batch order", "rollout", "micro-batches")


def forecaster(name="gru", **values):
    torch.manual_seed(0)
    return build_forecaster(ModelRecipe(name=name, hidden=8, heads=2, **values), SIZES)


@pytest.mark.parametrize("name", ["linear", "lstm", "gru+additive", "transformer", "transformer+patches"])
def test_they_hold(name):
    for values in ({}, {"channels": "joint", "quantiles": "0.1,0.5,0.9"}, {"strategy": "recursive"}):
        found = check(forecaster(name, **values))
        assert [(one.contract, one.verdict) for one in found] == [(name, "held") for name in CONTRACTS], values


def test_a_window_that_sees_its_neighbours_is_caught():
    model = forecaster()
    model.anchor = lambda past: past.mean(dim=(0, 1), keepdim=True).expand(len(past), 1, -1)
    assert {one.contract for one in check(model).broken} >= {"neighbours"}


def test_a_window_that_knows_its_place_in_the_batch_is_caught():
    model = forecaster()
    model.anchor = lambda past: past[:, -1:] + torch.arange(len(past)).double()[:, None, None]
    assert {one.contract for one in check(model).broken} >= {"batch order"}


def test_a_long_forecast_that_forgets_its_own_output_is_caught():
    model = forecaster()
    whole = type(model).rollout
    model.rollout = lambda past, known, steps: whole(model, past, known, min(steps, 5)).repeat(1, -(-steps // 5), 1, 1)
    assert {one.contract for one in check(model).broken} >= {"rollout"}


def test_a_mean_of_means_is_caught():
    model = forecaster()
    sums = type(model).loss
    model.loss = lambda batch: sums(model, batch)._replace(items=1)
    assert [one.contract for one in check(model).broken] == ["micro-batches"]
