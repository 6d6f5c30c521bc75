"""Origins of a backtest: where each begins, and that it knows nothing of what comes after it."""

import numpy as np
import pytest

from atento.api.backtest import OriginRow, cut_folds, means_of
from atento.api.prepare import assemble
from atento.errors import InputError
from atento.tasks.sealed import final_examination


def folds(tmp_path, *, origins=4, **values):
    path = tmp_path / "a.csv"
    wave = np.sin(np.arange(200) / 5) + np.arange(200) / 50
    path.write_text("time,y\n" + "".join(f"{at},{value:.6f}\n" for at, value in enumerate(wave)), encoding="utf-8")
    said = {
        "data.train": str(path),
        "task": "forecast",
        "data.split": "60/20/20",
        "data.horizon": 5,
        "data.look_back": 9,
    }
    return [fold.data for fold in cut_folds(assemble({**said, **values}), {}, origins)]


@pytest.mark.spec("X04")
@pytest.mark.parametrize("split", ["60/20/20", "120/40/40"])
def test_each_origin_learns_from_all_before_it_and_from_nothing_after(tmp_path, split):
    for number, data in enumerate(folds(tmp_path, **{"data.split": split})):
        border, reading = 160 + 10 * number, data.reading
        asked = final_examination(reading)
        ((train, _),) = reading.train
        assert len(train) == border - 40  # the rows between validate
        origins = [question.source.origin for question in asked]
        assert origins == list(range(border, border + 6))  # five steps ahead, within ten rows
        assert all(question.source.origin < border for question in reading.valid)
        assert np.isin(train.values, asked[0].references[0]).sum() == 0


def test_a_backtest_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(InputError, match="needs a test part"):
        folds(tmp_path, **{"data.split": "80/20/0"})
    with pytest.raises(InputError, match="holds no forecast"):
        folds(tmp_path, origins=30, **{"data.split": "120/40/40"})


@pytest.mark.spec("X04")
def test_means_over_origins_by_hand():
    rows = [
        OriginRow(model, baseline=False, origin=at, forecasts=7, value=value, scores={"mse": value})
        for model, values in {"a": (1.0, 4.0, 1.0), "b": (2.0, 2.0, 2.0)}.items()
        for at, value in enumerate(values, start=1)
    ]
    first, second = means_of(rows)
    assert (first.value, first.best, second.value, second.best) == (2.0, 2, 2.0, 1)
    assert first.std == pytest.approx(np.std([1, 4, 1], ddof=1)) and second.std == 0
