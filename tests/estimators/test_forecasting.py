"""Series in a frame, what comes next in a frame of the same kind."""

import pickle
from datetime import datetime

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from atento.errors import InputError
from atento.estimators import ForecasterEstimator

QUICK = {"train.lr": 2e-2, "train.warmup": 10, "train.batch_tokens": 1000, "train.threads": 1, "train.validations": 2}


def long_frame():
    """Two series of months that end with their months, a year long wave."""
    months = pandas.date_range("2018-01-31", periods=72, freq="ME")
    wave = np.sin(2 * np.pi * np.arange(72) / 12)
    parts = [
        pandas.DataFrame({"unique_id": number, "ds": months, "y": 100.0 * number + 10**number * wave})
        for number in (1, 2)
    ]
    return pandas.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def fitted():
    return ForecasterEstimator("linear", horizon=6, look_back=12, steps=200, settings=QUICK).fit(long_frame())


def test_the_long_frame_as_it_is_and_the_truth_comes_out(fitted):
    found = fitted.predict()
    assert list(found.columns) == ["unique_id", "ds", "y_hat"]
    assert found["unique_id"].tolist() == [1] * 6 + [2] * 6  # whole numbers as they were
    ends = pandas.date_range("2024-01-31", periods=6, freq="ME")
    assert found["ds"].tolist() == [*ends, *ends]
    wave = np.sin(2 * np.pi * np.arange(72, 78) / 12)
    expected = np.concatenate([100 + 10 * wave, 200 + 100 * wave])
    assert np.abs(found["y_hat"].to_numpy() - expected).max() < 15
    assert np.abs(found["y_hat"].to_numpy()[:6] - expected[:6]).max() < 1.5


def test_the_same_kind_out(fitted):
    frame = long_frame()
    other = fitted.predict(polars.from_pandas(frame))
    assert isinstance(other, polars.DataFrame) and other.schema["ds"] == polars.Datetime
    np.testing.assert_allclose(other["y_hat"], fitted.predict()["y_hat"])
    texts = frame.assign(ds=frame["ds"].dt.strftime("%Y-%m-%d"), unique_id=frame["unique_id"].astype(str))
    table = fitted.predict(pyarrow.Table.from_pandas(texts))
    assert isinstance(table, pyarrow.Table) and table["ds"][0].as_py() == "2024-01-31"
    assert table["unique_id"][11].as_py() == "2"


def test_another_horizon_and_other_rows(fitted):
    assert len(fitted.predict(3)) == 6 and len(fitted.predict(horizon=13)) == 26
    whole, near = fitted.predict(), fitted.predict(2)
    assert near["y_hat"].tolist() == whole["y_hat"].tolist()[:2] + whole["y_hat"].tolist()[6:8]
    early = long_frame().groupby("unique_id").head(60)
    assert fitted.predict(early)["ds"][0].to_pydatetime() == datetime(2023, 1, 31)
    assert fitted.score(long_frame()) > -0.2
    assert pickle.loads(pickle.dumps(fitted)).predict()["y_hat"].tolist() == whole["y_hat"].tolist()


def test_arrays_of_one_and_more_channels():
    wave = np.sin(0.3 * np.arange(150))
    one = ForecasterEstimator("linear", horizon=4, look_back=8, steps=100, settings=QUICK).fit(wave)
    assert one.predict().shape == (4,)
    assert np.abs(one.predict() - np.sin(0.3 * np.arange(150, 154))).max() < 0.4
    two = ForecasterEstimator("linear", horizon=4, look_back=8, steps=3, settings=QUICK).fit(
        np.stack([wave, 2 - wave], axis=1)
    )
    assert two.predict().shape == (4, 2) and two.predict(np.ones((9, 2)) * np.arange(9)[:, None]).shape == (4, 2)


def test_quantiles_are_columns():
    settings = {**QUICK, "model.quantiles": "0.1,0.9"}
    found = (
        ForecasterEstimator("linear", horizon=2, look_back=12, steps=3, settings=settings).fit(long_frame()).predict()
    )
    assert list(found.columns) == ["unique_id", "ds", "y_hat", "y-0.1", "y-0.9"]


def test_rows_that_are_no_series():
    with pytest.raises(InputError, match="a series, a time and a value"):
        ForecasterEstimator().fit([("a", 1), ("b", 2)])
    with pytest.raises(InputError, match="one or two axes"):
        ForecasterEstimator().fit(np.zeros((2, 3, 4)))
    with pytest.raises(InputError, match="no rows"):
        ForecasterEstimator().fit(pandas.DataFrame({"unique_id": [], "ds": [], "y": []}))


def test_the_times_of_an_index_count():
    days = pandas.date_range("2024-01-01", periods=60, freq="D")
    series = pandas.Series(np.sin(np.arange(60) / 3), index=days)
    quick = ForecasterEstimator("linear", horizon=3, look_back=6, steps=2, settings=QUICK)
    assert quick.fit(series).predict().index.tolist() == list(pandas.date_range("2024-03-01", periods=3, freq="D"))
    for spoiled, problem in (
        (series[::-1], "earlier than"),
        (pandas.concat([series, series[-1:]]), "same timestamp"),
        (series.drop(days[30]), "1 row is missing"),
    ):
        with pytest.raises(InputError, match=rf"X, row \d+: .*{problem}") as caught:
            quick.fit(spoiled)
        assert "settings={" in caught.value.fix
