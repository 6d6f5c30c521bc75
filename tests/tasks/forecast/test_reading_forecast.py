"""From files to parts: by time, no window lost, none that sees its own future."""

import numpy as np
import pytest

from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.forecast import reading as forecast_reading
from atento.tasks.forecast.reading import ask_forecasts, open_series, read_forecasts


def write(path, rows, *, first=0, names=("y",), series=None, known=None, blank=0):
    """Hours from a first one on; `known` may have more rows than there are values."""
    times = np.datetime64("2024-01-01T00:00") + np.arange(first, first + len(rows) + blank).astype("timedelta64[h]")
    lines = [",".join([*(["unique_id"] if series else []), "ds", *names, *(["promo"] if known is not None else [])])]
    for at, when in enumerate(times):
        cells = list(np.atleast_1d(rows[at])) if at < len(rows) else [""] * len(names)
        more = [] if known is None else [known[at]]
        lines.append(",".join(map(str, [*([series] if series else []), str(when).replace("T", " "), *cells, *more])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def recipe(file, **values):
    return DataRecipe(train=file, **{"look_back": 5, "horizon": 3, "split": "70/10/20", **values})


def test_every_window_of_every_part_and_its_future(tmp_path):
    file = write(tmp_path / "a.csv", np.arange(100.0))
    reading = read_forecasts(recipe(file), 0)
    ((train, frame),) = reading.train
    assert (len(train), frame.look_back, frame.horizon, frame.channels) == (70, 5, 3, ("y",))
    for part, first, last in ((reading.valid, 70, 80), (reading.test, 80, 100)):
        assert len(part) == last - first - 2  # stride one, none dropped, every target within its part
        for at, question in enumerate(part):
            origin = first + at
            np.testing.assert_array_equal(question.source.values[:, 0], np.arange(origin - 5, origin))
            np.testing.assert_array_equal(question.references[0][:, 0], np.arange(origin, origin + 3))
    assert any("split by time: 70 rows to train" in note for note in reading.notes)


def test_a_test_part_of_very_many_windows_is_thinned_out_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(forecast_reading, "MOST", 10)
    reading = read_forecasts(recipe(write(tmp_path / "a.csv", np.arange(200.0))), 0)
    assert [question.source.origin for question in reading.test] == list(range(160, 198, 4))
    assert any("38 forecasts could be made: one in 4 is" in note for note in reading.notes)


def test_the_fingerprint_knows_every_number_and_the_frame(tmp_path):
    values = np.arange(100.0)
    file = write(tmp_path / "a.csv", values)
    first = read_forecasts(recipe(file), 0).fingerprint
    assert read_forecasts(recipe(file), 1).fingerprint == first
    assert read_forecasts(recipe(file, horizon=2), 0).fingerprint != first
    assert read_forecasts(recipe(file, split="60/20/20"), 0).fingerprint != first
    values[93] += 1e-9
    write(tmp_path / "a.csv", values)
    assert read_forecasts(recipe(file), 0).fingerprint != first


def test_a_file_that_goes_on_where_the_training_file_ends(tmp_path):
    """As many test sets come: the test file holds one horizon, and its past is the training file."""
    train, test = write(tmp_path / "a.csv", np.arange(40.0)), write(tmp_path / "b.csv", np.arange(40.0, 43), first=40)
    reading = read_forecasts(recipe(train, test=test, siblings="no"), 0)
    (question,) = reading.test
    assert question.source.values[:, 0].tolist() == [35, 36, 37, 38, 39]
    assert question.references[0][:, 0].tolist() == [40, 41, 42]
    assert any("go on where a.csv ends" in note for note in reading.notes)
    assert len(reading.train[0][0]) == 35  # 70 of 80 shares

    apart = write(tmp_path / "c.csv", np.arange(60.0, 72), first=60)  # a gap between: only what is inside
    reading = read_forecasts(recipe(train, test=apart, siblings="no"), 0)
    assert [question.source.values[0, 0] for question in reading.test] == [60, 61, 62, 63, 64]
    with pytest.raises(InputError, match="no series is long enough"):
        read_forecasts(recipe(train, test=write(tmp_path / "d.csv", np.arange(3.0), first=60), siblings="no"), 0)
    two = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match="no column 'y'"):
        read_forecasts(recipe(train, test=write(tmp_path / "e.csv", two, names=("x", "z")), siblings="no"), 0)


def test_asked_of_another_file(tmp_path):
    file = write(tmp_path / "a.csv", np.arange(20.0))
    asked = ask_forecasts(recipe("somewhere.csv"), file, 0)
    assert [question.source.origin for question in asked.questions] == list(range(5, 18))
    with pytest.raises(InputError, match="8 rows at least"):
        ask_forecasts(recipe("somewhere.csv"), write(tmp_path / "b.csv", np.arange(7.0)), 0)


def test_the_end_of_a_series_with_what_is_known_of_later_rows(tmp_path):
    file = write(tmp_path / "a.csv", np.arange(20.0) ** 2, known=np.arange(23) % 2, blank=3)
    (end,) = open_series(recipe("somewhere.csv", future_covariates="promo"), file, 0).sources
    assert end.values[:, 0].tolist() == [225, 256, 289, 324, 361]
    assert end.future_covariates[:, 0].tolist() == [1, 0, 1, 0, 1, 0, 1, 0]
    assert (str(end.last), end.origin, end.channels) == ("2024-01-01T19:00:00.000000", 20, ("y",))
    with pytest.raises(InputError, match="too short to forecast from"):
        open_series(recipe("somewhere.csv", look_back=21, future_covariates="promo"), file, 0)


def test_a_built_in_set_is_split_by_time_too():
    reading = read_forecasts(DataRecipe(train="rossler", length=2000, split="70/10/20", horizon=1, look_back=40), 0)
    assert len(reading.train[0][0]) == 1400 and len(reading.test) == 400
    asked = ask_forecasts(
        DataRecipe(train="x.csv", length=2000, split="70/10/20", horizon=1, look_back=40), "rossler", 0
    )
    assert len(asked.questions) == 400
