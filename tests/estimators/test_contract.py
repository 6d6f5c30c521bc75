"""Every estimator keeps scikit-learn's contract; on texts, where scikit-learn's own checks bring only numbers."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

import atento
from atento import estimators
from atento.estimators.estimator import SequenceEstimator

EVERY = pytest.mark.parametrize("kind", estimators.__all__)
BY_ROW = pytest.mark.parametrize(
    "kind", [kind for kind in estimators.__all__ if kind != "ForecasterEstimator"]
)  # rows of a
# series stand in the order of time, and a forecast is of all of them
EXCEPTIONS = {  # at most five an estimator, each with its reason
    "ClassifierEstimator": {
        "check_classifiers_train": "tells clouds of numbers apart; here numbers are words, and three steps are few",
    },
}


def same(one, other):
    return np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object))


@EVERY
def test_scikit_learn_s_own_checks(kind, made):
    declared = EXCEPTIONS.get(kind, {})
    assert len(declared) <= 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # where input must be text, most checks have none to give
        found = check_estimator(made(kind), expected_failed_checks=declared, on_skip=None, on_fail=None)
    wrong = {result["check_name"]: result["exception"] for result in found if result["status"] == "failed"}
    assert not wrong
    if kind == "ClassifierEstimator":
        assert sum(result["status"] == "passed" for result in found) > 45


def test_parameters_go_in_and_come_out(made):
    for kind in estimators.__all__:
        estimator = made(kind, random_state=7)
        assert clone(estimator).get_params() == estimator.get_params(), kind
        assert estimator.set_params(steps=11).get_params()["steps"] == 11, kind
        assert "run_" not in vars(estimator), kind


@EVERY
def test_fit_returns_itself_and_leaves_its_input_alone(kind, made, cases):
    rows, targets = cases[kind]
    before = copy.deepcopy((rows, targets))
    estimator = made(kind)
    parameters = estimator.get_params()
    assert estimator.fit(rows, targets) is estimator
    assert (rows, targets) == before
    assert estimator.get_params() == parameters


@EVERY
def test_fitted_again_it_says_the_same(kind, fitted, made, cases):
    rows, targets = cases[kind]
    assert same(made(kind).fit(rows, targets).predict(rows), fitted[kind].predict(rows))


@BY_ROW
def test_neither_order_nor_company_matter(kind, fitted, cases):
    rows, _ = cases[kind]
    whole = fitted[kind].predict(rows)
    assert same(fitted[kind].predict(rows[::-1])[::-1], whole)
    assert same(fitted[kind].predict(rows[3:4]), whole[3:4])


def test_before_fitting_it_says_so(made, cases):
    for kind, (rows, targets) in cases.items():
        with pytest.raises(NotFittedError):
            made(kind).predict(rows)
        with pytest.raises(NotFittedError):
            made(kind).score(rows, targets)


@EVERY
def test_kept_and_restored(kind, fitted, tmp_path, cases):
    rows, _ = cases[kind]
    kept = io.BytesIO()
    pickle.dump(fitted[kind], kept)
    assert same(pickle.loads(kept.getvalue()).predict(rows), fitted[kind].predict(rows))
    fitted[kind].save(tmp_path / "run")
    assert atento.load(tmp_path / "run").recipe.task == fitted[kind].task


def test_rows_that_do_not_fit_are_refused(made, cases):
    for kind, (rows, targets) in cases.items():
        if kind not in ("LanguageModelEstimator", "ForecasterEstimator"):
            with pytest.raises(ValueError, match="inconsistent"):
                made(kind).fit(rows, targets[:-1])
        with pytest.raises(ValueError, match=r"no rows|1D array|two texts"):
            made(kind).fit([], [])


def test_every_estimator_has_a_case(cases):
    assert set(cases) == set(estimators.__all__)
    assert all(issubclass(getattr(estimators, name), SequenceEstimator) for name in cases)
