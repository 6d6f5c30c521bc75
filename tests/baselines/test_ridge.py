"""Ridge regression from sums, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from atento.baselines.ridge import regression_sums, ridge_regression

ROWS, INPUTS, OUTPUTS = 31, 5, 3


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    return 5 + random.normal(size=(ROWS, INPUTS)).cumsum(axis=1), random.normal(size=(ROWS, OUTPUTS))


@pytest.mark.spec("B04")
def test_fibonacci_by_hand():
    """x_t = x_{t−1} + x_{t−2}: weights 1, 1; two steps ahead 1, 2; three ahead 2, 3."""
    series = np.array([1.0, 1, 2, 3, 5, 8, 13, 21, 34, 55])
    windows = np.lib.stride_tricks.sliding_window_view(series, 5)
    ((weights, bias),) = regression_sums([(windows[:, :2], windows[:, 2:])]).solve(0.0, centred=True)
    np.testing.assert_allclose(weights.T, [[1, 1], [1, 2], [2, 3]], atol=1e-9)
    np.testing.assert_allclose(bias, 0, atol=1e-7)


@pytest.mark.spec("B04")
@pytest.mark.parametrize("batch", [3, ROWS])
@pytest.mark.parametrize("ridge", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("centred", [False, True])
def test_equal_to_scikit_learn(rows, ridge, batch, centred):
    """α is the ridge times the mean variance of a column, times the rows; batches add up."""
    x, y = rows
    sums = regression_sums((x[first : first + batch], y[first : first + batch]) for first in range(0, ROWS, batch))
    ((weights, bias),) = sums.solve(ridge, centred=centred)
    alpha = ridge * np.square(x - x.mean(axis=0) * centred).sum() / INPUTS
    make = Ridge(alpha=alpha, fit_intercept=centred) if ridge else LinearRegression(fit_intercept=centred)
    theirs = make.fit(x, y)
    np.testing.assert_allclose(weights.T, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(bias, theirs.intercept_ if centred else 0.0, rtol=1e-8, atol=1e-10)


@pytest.mark.spec("B04")
@pytest.mark.parametrize("centred", [False, True])
def test_shrunk_to_a_prior_by_unlike_penalties(rows, centred):
    """(X̃ᵀX̃ + α K) (w − w₀) = X̃ᵀ(ỹ − X̃w₀): each prior with each ridge, prior by prior."""
    x, y = rows
    penalties = np.array([1.0, 2, 5, 10, 100])
    priors = [np.zeros((INPUTS, OUTPUTS)), np.arange(INPUTS * OUTPUTS).reshape(INPUTS, OUTPUTS) / 7]
    found = regression_sums([(x, y)]).solve(0.3, 1e9, centred=centred, priors=priors, penalties=penalties)
    moved, level = x - x.mean(axis=0) * centred, y - y.mean(axis=0) * centred
    gram = moved.T @ moved
    alpha = 0.3 * (gram.diagonal() / penalties).mean()
    for prior, (weights, bias), (kept, _) in zip(priors, found[::2], found[1::2], strict=True):
        expected = prior + np.linalg.solve(gram + alpha * np.diag(penalties), moved.T @ (level - moved @ prior))
        np.testing.assert_allclose(weights, expected, rtol=1e-8, atol=1e-10)
        offset = y.mean(axis=0) - x.mean(axis=0) @ expected if centred else 0.0
        np.testing.assert_allclose(bias, offset, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(kept, prior, atol=1e-7)


@pytest.mark.spec("B04")
@pytest.mark.parametrize("centred", [False, True])
def test_rows_that_count_more_or_less(rows, centred):
    """As scikit-learn weighs samples."""
    x, y = rows
    sums = regression_sums([(x[:9], y[:9]), (x[9:], y[9:])], weigh=lambda x: 1 / np.square(x[:, 0]))
    weights = 1 / np.square(x[:, 0])
    mean = weights @ x / weights.sum() * centred
    alpha = 0.1 * (weights @ np.square(x - mean)).mean()
    theirs = Ridge(alpha=alpha, fit_intercept=centred, solver="cholesky").fit(x, y, sample_weight=weights)
    ((found, bias),) = sums.solve(0.1, centred=centred)
    np.testing.assert_allclose(found.T, theirs.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(bias, theirs.intercept_ if centred else 0.0, rtol=1e-6, atol=1e-9)
    error = (weights @ np.square(y - theirs.predict(x))).sum() / weights.sum() / OUTPUTS
    assert sums.error_products([(found, bias)])[0, 0] == pytest.approx(error, rel=1e-6)


def test_products_of_errors_are_those_of_the_rows(rows):
    x, y = rows
    sums = regression_sums([(x[:9], y[:9]), (x[9:], y[9:])])
    solved = sums.solve(0.1, 10.0, centred=True) + sums.solve(1.0, centred=False)
    errors = np.stack([(y - x @ weights - bias).ravel() for weights, bias in solved])
    np.testing.assert_allclose(sums.error_products(solved), errors @ errors.T / errors.shape[1], rtol=1e-8)


def test_fewer_rows_than_weights_and_constant_columns_give_finite_weights():
    ((weights, bias),) = regression_sums([(np.array([[1.0, 2, 3, 4]]), np.array([[5.0]]))]).solve(1e-10, centred=True)
    assert np.array([[1.0, 2, 3, 4]]) @ weights + bias == pytest.approx(5.0)
    ((weights, bias),) = regression_sums([(np.full((3, 2), 2.0), np.full((3, 1), 2.0))]).solve(1e-10, centred=True)
    assert (weights == 0).all() and bias == pytest.approx(2.0)
    assert regression_sums([]).rows == 0


def test_from_one_matrix(rows):
    x, y = rows
    theirs = Ridge(alpha=0.01 * ROWS, fit_intercept=False).fit(x, y)
    np.testing.assert_allclose(ridge_regression(x, y, 0.01).T, theirs.coef_, rtol=1e-8, atol=1e-10)
