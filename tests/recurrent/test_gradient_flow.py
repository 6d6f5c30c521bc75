"""Slopes, verdicts and half-lives from curves worked by hand."""

import math

import pytest
import torch

from atento.recurrent.gradient_flow import gradient_curve, half_life, verdict_of


def straight(slope, *, lags=20, paths=3):
    return gradient_curve(slope * torch.arange(lags + 1.0).expand(paths, -1))


@pytest.mark.spec("R13")
def test_quartiles_over_paths_and_the_slope_of_their_median():
    """Paths of slopes −.1, −.2, −.3, −.4 and −.5: the median falls by .3 a step, the quartiles by .4 and .2."""
    curve = gradient_curve(torch.outer(torch.tensor([-0.1, -0.2, -0.3, -0.4, -0.5]), torch.arange(11.0)))
    assert curve.lags == list(range(11))
    for lag in curve.lags:
        expected = [math.exp(slope * lag) for slope in (-0.3, -0.4, -0.2)]
        assert [curve.median[lag], curve.low[lag], curve.high[lag]] == pytest.approx(expected, rel=1e-12)
    assert curve.slope == pytest.approx(-0.3, abs=1e-12)
    assert curve.error == pytest.approx(0, abs=1e-12)


def test_a_path_that_ends_leaves_the_others():
    logs = torch.tensor([[0.0, 1.0, 2.0], [0.0, 3.0, math.nan]])
    assert gradient_curve(logs).median == pytest.approx([1.0, math.exp(2.0), math.exp(2.0)])


@pytest.mark.spec("R13")
def test_the_error_of_a_slope():
    """Least squares over lags 2, 3, 4 of logs 0, 3, 0: slope 0, residuals −1, 2, −1: error √(6/1/2)."""
    curve = gradient_curve(torch.tensor([[9.0, 9.0, 0.0, 3.0, 0.0]]))
    assert curve.slope == pytest.approx(0, abs=1e-12)
    assert curve.error == pytest.approx(math.sqrt(3))


@pytest.mark.spec("R13")
@pytest.mark.parametrize(
    "slope, verdict", [(-0.02, "vanishes"), (-0.002, "level"), (0.0, "level"), (0.002, "level"), (0.02, "explodes")]
)
def test_a_verdict_by_the_slope(slope, verdict):
    assert verdict_of(straight(slope)) == verdict


def test_a_swell_that_passes_is_no_explosion():
    """It grows for four steps and falls ever after."""
    logs = torch.cat([torch.arange(5.0), 4 - 0.2 * torch.arange(1.0, 17.0)])
    curve = gradient_curve(logs.unsqueeze(0))
    assert curve.slope == pytest.approx(-0.2)
    assert verdict_of(curve) == "vanishes"


def test_what_is_lost_early_is_lost():
    logs = torch.tensor([[0.0, 0.0, -5.0, *[-6.0] * 9]])
    assert verdict_of(gradient_curve(logs)) == "vanishes"
    assert verdict_of(gradient_curve(logs / 2)) == "level"  # a twentieth still arrives


def test_a_slope_within_its_own_error_says_nothing():
    noise = torch.tensor([0.0, 1.0, -1.0, 1.2, -0.8, 1.1, -0.9, 1.3, -0.7, 1.2, -0.6, 1.5])
    curve = gradient_curve(noise.unsqueeze(0))
    assert curve.slope > 0.02
    assert verdict_of(curve) == "level"


@pytest.mark.spec("R13")
def test_half_lives():
    assert half_life(straight(math.log(0.5))) == pytest.approx(1.0)
    assert half_life(straight(math.log(0.99))) == pytest.approx(68.97, abs=0.01)
    assert half_life(straight(math.log(2) / 7)) == pytest.approx(7.0)
    assert half_life(straight(0.0)) == math.inf


def test_nothing_and_everything_stay_numbers():
    curve = gradient_curve(torch.tensor([[0.0, -math.inf, -math.inf], [0.0, math.inf, math.inf]]))
    assert all(map(math.isfinite, [*curve.median, *curve.low, *curve.high, curve.slope]))
