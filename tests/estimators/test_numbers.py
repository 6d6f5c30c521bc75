"""Sequences of numbers in every form users hold them in: the same answers, in the same kind."""

import numpy as np
import pandas
import polars
import pytest

from atento.errors import InputError
from atento.estimators import ClassifierEstimator
from atento.estimators.rows import holds_arrays, sequences_of

CASES, STEPS, CHANNELS = 31, 7, 2
QUICK = {
    "model": "gru",
    "steps": 40,
    "settings": {"model.hidden": 8, "train.lr": 0.02, "train.warmup": 3, "train.threads": 1, "train.validations": 1},
}


@pytest.fixture(scope="module")
def cases():
    """Rising and falling lines (N, T, C)."""
    chance = np.random.default_rng(0)
    labels = np.array(["rise", "fall"] * CASES)[:CASES]
    slopes = np.where(labels == "rise", 1.0, -1.0)[:, None, None]
    return chance.normal(0, 0.2, (CASES, STEPS, CHANNELS)) + slopes * np.linspace(-1, 1, STEPS)[:, None], labels


@pytest.fixture(scope="module")
def fitted(cases):
    values, labels = cases
    return ClassifierEstimator(**QUICK).fit(values, labels)


@pytest.mark.spec("K02")
def test_arrays_of_three_axes_are_learned(fitted, cases):
    values, labels = cases
    assert fitted.run_.recipe.task == "classify-series"
    assert fitted.score(values, labels) == 1.0
    assert fitted.predict_proba(values).sum(axis=1) == pytest.approx(np.ones(CASES), abs=1e-6)
    assert fitted.classes_.tolist() == ["fall", "rise"]


def test_every_form_gets_the_same_answers(fitted, cases):
    values, _ = cases
    expected = fitted.predict(values).tolist()
    assert fitted.predict([array for array in values]) == expected
    assert fitted.predict([array.tolist() for array in values]) == expected
    columns = {f"x{at}": [array[:, at].tolist() for array in values] for at in range(CHANNELS)}
    assert isinstance(fitted.predict(pandas.DataFrame(columns)), pandas.Series)
    assert fitted.predict(pandas.DataFrame(columns)).tolist() == expected
    assert fitted.predict(polars.DataFrame(columns)).to_list() == expected
    ragged = [array[: 4 + at % 4] for at, array in enumerate(values)]
    alone = [fitted.predict([array])[0] for array in ragged]
    assert fitted.predict(ragged) == alone


def test_one_channel_in_two_axes(cases):
    values, labels = cases
    model = ClassifierEstimator(**QUICK).fit(values[:, :, 0], labels)
    assert model.score(values[:, :, 0], labels) >= 0.9
    with pytest.raises(ValueError, match="features"):
        model.predict(values[:, :5, 0])


def test_what_is_no_sequence_is_refused(fitted):
    with pytest.raises(InputError, match=r"X\[1\] is no sequence of numbers"):
        fitted.predict([[1.0, 2.0, 3.0], [1.0, float("nan")]])
    with pytest.raises(InputError, match="step 1 has 1 channels where 2 are read"):
        fitted.predict([[1.0, 2.0, 3.0], [1.0, 2.0]])
    assert sequences_of([np.array([[1, 2], [3, 4]]), np.array([[0.1, 1e-9]])]) == ["1.0,2.0 3.0,4.0", "0.1,1e-09"]
    assert not holds_arrays([[1, 2], [3, 4]]), "a table of numbers, to be checked as scikit-learn checks it"
    assert holds_arrays([[1, 2], [3]])
