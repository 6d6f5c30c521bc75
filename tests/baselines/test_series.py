"""Forecasts by hand."""

import numpy as np
import pytest

from atento.baselines import Drift, LastStep, LastValue, Seasonal
from atento.errors import InputError

WINDOW, NEXT = [1.0, 4.0, 2.0, 7.0], [0.0, 0.0, 0.0]  # the targets tell only how far to look


@pytest.mark.spec("B04")
@pytest.mark.parametrize(
    "model, expected",
    [
        (LastValue(), [7, 7, 7]),
        (Seasonal(1), [7, 7, 7]),
        (Seasonal(2), [2, 7, 2]),
        (Seasonal(4), [1, 4, 2]),
        (Drift(), [9, 11, 13]),  # from 1 to 7 in three steps: 2 a step
        (LastStep(), [12, 17, 22]),  # 5 in the last one
    ],
    ids=lambda part: getattr(part, "summary", ""),
)
def test_by_hand(model, expected):
    (answer,) = model.fit([WINDOW], [NEXT]).predict([WINDOW])
    assert answer.tolist() == expected


@pytest.mark.spec("B04")
def test_every_feature_goes_on_by_itself():
    window = [[1, 10], [2, 30], [4, 20]]
    ends = [[[0, 0], [0, 0]]]
    for model, expected in [
        (LastValue(), [[4, 20], [4, 20]]),
        (Seasonal(2), [[2, 30], [4, 20]]),
        (Drift(), [[5.5, 25], [7, 30]]),
        (LastStep(), [[6, 10], [8, 0]]),
    ]:
        assert model.fit([window], ends).predict([window])[0].tolist() == expected


@pytest.mark.spec("B04")
def test_each_is_perfect_on_what_it_was_made_for():
    """A constant, a season, a line: forecast without error; the others err."""
    steps = np.arange(40.0)
    series = {"last-value": 0 * steps + 3, "seasonal": np.sin(2 * np.pi * steps / 5), "drift": 2 * steps - 9}
    errors = {}
    for kind, values in series.items():
        windows, ends = [values[at : at + 11] for at in range(20)], [values[at + 11 : at + 18] for at in range(20)]
        for model in (LastValue(), Seasonal(5), Drift()):
            errors[kind, model.name] = np.square(np.subtract(model.fit(windows, ends).predict(windows), ends)).mean()
    assert errors["last-value", "last-value"] == 0
    assert errors["seasonal", "seasonal"] < 1e-25 < 0.1 < errors["seasonal", "last-value"]
    assert errors["drift", "drift"] < 1e-25 < 1 < errors["drift", "seasonal"]


def test_windows_may_have_unequal_lengths_and_one_value_has_no_drift():
    for model in (Drift(), LastStep()):
        found = model.fit([[1.0]], [[2.0]]).predict([[5.0], [1.0, 2.0]])
        assert [answer.tolist() for answer in found] == [[5.0], [3.0]]


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: Seasonal(0), "period=0"),
        (lambda: Seasonal(5).fit([WINDOW], [NEXT]).predict([WINDOW]), "a window of 4 steps, period=5"),
        (lambda: LastValue().fit([[1, np.nan]], [[2]]), "nan"),
        (lambda: LastValue().fit([["a", "b"]], [[2]]), "'a'"),
        (lambda: LastValue().fit([WINDOW, WINDOW], [[1, 2], [1]]), r"\(1,\), \(2,\)"),
        (lambda: LastValue().fit([WINDOW], [[]]), r"\(0,\)"),
        (lambda: LastValue().fit([WINDOW], [[[1, 2]]]), "2 features"),
        (lambda: LastValue().fit([[]], [[1]]), r"shape \(0,\)"),
    ],
)
def test_what_cannot_be_forecast_is_refused(make, found):
    with pytest.raises(InputError, match=found):
        make()
