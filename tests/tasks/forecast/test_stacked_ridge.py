"""Stacked ridge regression, against its formulas in float64 and a general minimizer."""

import numpy as np
import pytest
from scipy.optimize import minimize

from atento.baselines.ridge import regression_sums
from atento.tasks.forecast.stacked_ridge import RIDGES, SPANS, SpanSums, folds, relative, stacked_ridge, stacking_shares

ROWS, INPUTS, OUTPUTS = 23, 5, 3  # rows of a span


def spans_of(x, y):
    """Sums of equally long spans, of whose rows those with a large first input count little where they are learned."""
    pieces = zip(np.array_split(x, SPANS), np.array_split(y, SPANS), strict=True)
    return [SpanSums(regression_sums([piece], weigh=small_ones), regression_sums([piece])) for piece in pieces]


def small_ones(x):
    """How much each row counts."""
    return 1 / (1 + np.square(x[:, 0]))


@pytest.fixture
def problem():
    chance = np.random.default_rng(0)
    x = 1 + chance.normal(size=(ROWS * SPANS, INPUTS))
    truth = chance.normal(size=(INPUTS, OUTPUTS))
    y = x @ truth + 3 * chance.normal(size=(len(x), OUTPUTS))
    priors = [np.zeros_like(truth), truth + chance.normal(size=truth.shape)]
    return x, y, priors, 1 + np.arange(INPUTS) ** 2.0


def solved(x, y, priors, penalties, *, centred):
    """(X̃ᵀDX̃ + α K) (w − w₀) = X̃ᵀD(ỹ − X̃w₀), D how much rows count, α a share of the trace of K^−½ X̃ᵀDX̃ K^−½."""
    rows = small_ones(x)[:, None]
    mean = (rows * x).sum(axis=0) / rows.sum() if centred else np.zeros(x.shape[1])
    level = (rows * y).sum(axis=0) / rows.sum() if centred else np.zeros(y.shape[1])
    gram = (x - mean).T @ (rows * (x - mean))
    found = []
    for prior in priors:
        left = (x - mean).T @ (rows * (y - level - (x - mean) @ prior))
        for ridge in RIDGES:
            alpha = ridge * (gram.diagonal() / penalties).mean()
            weights = prior + np.linalg.solve(gram + alpha * np.diag(penalties), left)
            found.append((weights, level - mean @ weights))
    return found


@pytest.mark.spec("B04")
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("gap", [0, 1])
def test_follows_the_formula(problem, gap, centred):
    """Every fold solved row by row, the shares by a general minimizer."""
    x, y, priors, penalties = problem
    parts = np.array_split(np.arange(len(x)), SPANS)
    origins = [(list(range(first - gap)), [first]) for first in (6, 7, 8, 9)]
    blocks = [
        ([at for at in range(SPANS) if at < first - gap or at > first + 1 + gap], [first, first + 1])
        for first in (0, 2, 4, 6, 8)
    ]
    total = 0.0
    for learned, held in origins + blocks:
        learned, held = (np.concatenate([parts[at] for at in some]) for some in (learned, held))
        found = solved(x[learned], y[learned], priors, penalties, centred=centred)
        errors = np.stack([(y[held] - x[held] @ weights - bias).ravel() for weights, bias in found])
        total = total + errors @ errors.T / np.square(errors).sum(axis=1).min()

    count = len(total)
    bounds, whole = [(0, 1)] * count, {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    least = minimize(lambda s: s @ total @ s, np.full(count, 1 / count), bounds=bounds, constraints=whole, tol=1e-13)
    expected = solved(x, y, priors, penalties, centred=centred)
    weights, bias = stacked_ridge(spans_of(x, y), priors, penalties, gap=gap, centred=centred)
    mean = sum(share * one @ np.eye(OUTPUTS) for share, (one, _) in zip(least.x, expected, strict=True))
    level = sum(share * one for share, (_, one) in zip(least.x, expected, strict=True))
    assert (least.x > 0.02).sum() >= 2  # or nothing is averaged
    np.testing.assert_allclose(weights, mean, atol=2e-3)
    np.testing.assert_allclose(bias, level, atol=2e-3)


def test_shares_by_hand():
    """Errors that have nothing in common: each in inverse proportion to its own; one that adds nothing has no share."""
    np.testing.assert_allclose(stacking_shares(np.diag([1.0, 2.0, 4.0])), np.array([4, 2, 1]) / 7, atol=1e-9)
    np.testing.assert_allclose(stacking_shares(np.array([[1.0, 1.5], [1.5, 4.0]])), [1, 0], atol=1e-9)
    exact = np.array([[1.0, 0.3], [0.3, 1e-12]])
    np.testing.assert_allclose(relative(exact), exact / 1e-12)
    assert np.isfinite(relative(np.zeros((2, 2)))).all()


def test_what_is_learned_from_and_what_is_held_out():
    """Spans are told apart by their rows, which are powers of two; beside what is held out the gap is left out."""
    sums = [regression_sums([(np.ones((2**at, 1)), np.ones((2**at, 1)))]) for at in range(SPANS)]
    spans = [SpanSums(one, one) for one in sums]
    named = [
        [tuple(np.flatnonzero([int(sums.rows) >> at & 1 for at in range(SPANS)])) for sums in two]
        for two in folds(spans, 1)
    ]
    assert named[0] == [(0, 1, 2, 3, 4), (6,)]
    assert named[3] == [(0, 1, 2, 3, 4, 5, 6, 7), (9,)]
    assert named[4] == [(3, 4, 5, 6, 7, 8, 9), (0, 1)]
    assert named[6] == [(0, 1, 2, 7, 8, 9), (4, 5)]
    assert len(named) == 9


@pytest.mark.spec("B04")
def test_noise_leaves_the_first_prior_as_it_is(problem):
    x, _, priors, penalties = problem
    y = np.random.default_rng(1).normal(size=(len(x), OUTPUTS))
    weights, bias = stacked_ridge(spans_of(x, y), priors, penalties, gap=0, centred=False)
    np.testing.assert_allclose(weights, 0, atol=1e-8)
    np.testing.assert_array_equal(bias, 0)


def test_too_few_spans_to_tell_leave_the_first_prior(problem):
    x, y, priors, penalties = problem
    for rows in (1, 2):
        weights, _ = stacked_ridge(spans_of(x[:rows], y[:rows]), priors, penalties, gap=4, centred=False)
        np.testing.assert_allclose(weights, 0, atol=1e-8)


def test_what_is_exact_is_found(problem):
    x, _, priors, penalties = problem
    truth = np.arange(1.0, 1 + INPUTS * OUTPUTS).reshape(INPUTS, OUTPUTS)
    weights, bias = stacked_ridge(spans_of(x, x @ truth + 7), priors, penalties, gap=0, centred=True)
    np.testing.assert_allclose(weights, truth, rtol=1e-6)
    np.testing.assert_allclose(bias, 7, rtol=1e-5)
