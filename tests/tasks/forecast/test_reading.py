"""The table of what comes next, its times continued."""

import numpy as np
import pytest

from atento.data.examples.pairs import UnlabelledFile
from atento.data.series import Frequency
from atento.spec import DataRecipe
from atento.tasks.autoencode.autoencode import tabulate as tabulate_latents
from atento.tasks.autoencode.reading import open_windows
from atento.tasks.forecast.reading import ForecastOrigin, open_series, tabulate
from atento.tasks.reading.windows import LABELLED_WINDOWS
from atento.tasks.task import Answer


def end(name, last, step, channels=("y",)):
    when = None if last is None else np.datetime64(last, "us")
    return ForecastOrigin(name, "", np.zeros((2, len(channels))), np.zeros((2, 0)), 40, when, step, channels)


@pytest.mark.parametrize(
    "last, step, expected",
    [
        ("2024-02-28T22:00", Frequency(1, "h"), ["2024-02-28 23:00:00", "2024-02-29 00:00:00", "2024-02-29 01:00:00"]),
        ("2024-12-31T00:00", Frequency(1, "d"), ["2025-01-01", "2025-01-02", "2025-01-03"]),
        ("2023-12-31T00:00", Frequency(1, "mo"), ["2024-01-31", "2024-02-29", "2024-03-31"]),
        ("2023-11-01T00:00", Frequency(1, "mo"), ["2023-12-01", "2024-01-01", "2024-02-01"]),
        ("2020-01-01T00:00", Frequency(3, "mo"), ["2020-04-01", "2020-07-01", "2020-10-01"]),
        ("1999-01-01T00:00", Frequency(1, "y"), ["2000-01-01", "2001-01-01", "2002-01-01"]),
        (
            "2024-01-01T00:00",
            Frequency(15, "min"),
            ["2024-01-01 00:15:00", "2024-01-01 00:30:00", "2024-01-01 00:45:00"],
        ),
        (None, Frequency(1, ""), [40, 41, 42]),
    ],
)
def test_times_go_on_by_the_calendar(last, step, expected):
    answer = Answer("", None, value=np.array([1.5, 2, 3]).reshape(3, 1, 1))
    table = tabulate(UnlabelledFile({}, [end("", last, step)], ()), [answer])
    assert table == {"ds": expected, "y_hat": [1.5, 2.0, 3.0]}


def test_many_series_channels_and_quantiles_in_one_long_table():
    value = np.arange(12.0).reshape(2, 2, 3)
    ends = [end(name, "2024-01-01", Frequency(1, "d"), ("y", "load")) for name in ("a", "b")]
    answers = [
        Answer("", None, value=value + shift, probabilities={"0.1": 0.1, "0.5": 0.5, "0.9": 0.9}) for shift in (0, 100)
    ]
    table = tabulate(UnlabelledFile({}, ends, ()), answers)
    assert table["unique_id"] == ["a", "a", "b", "b"]
    assert table["ds"] == ["2024-01-02", "2024-01-03"] * 2
    assert table["y_hat"] == [1, 7, 101, 107] == table["y-0.5"]
    assert table["y-0.1"] == [0, 6, 100, 106]
    assert table["load"] == [4, 10, 104, 110]
    assert table["load-0.9"] == [5, 11, 105, 111]
    assert list(table) == [
        "unique_id",
        "ds",
        "y_hat",
        "y-0.1",
        "y-0.5",
        "y-0.9",
        "load",
        "load-0.1",
        "load-0.5",
        "load-0.9",
    ]


def test_nothing_asked_is_an_empty_table():
    assert tabulate(UnlabelledFile({}, [], ()), []) == {"ds": []}


@pytest.mark.parametrize(
    "header, rows, expected",
    [
        ("Mes;Ventas", [f"01/{at % 12 + 1:02}/{2010 + at // 12};{at * 7 % 5 + 0.5}" for at in range(40)], ["Mes"]),
        (
            "sensor_id,timestamp,value",
            [f"{name},2021-03-{at:02},{at * 7 % 5}" for name in ("s1", "s2") for at in range(1, 29)],
            ["sensor_id", "timestamp"],
        ),
    ],
)
def test_time_and_series_are_called_as_the_file_calls_them(header, rows, expected, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    recipe = DataRecipe(train="other.csv", look_back=3, horizon=2)
    opened = open_series(recipe, str(path), 0)
    answers = [Answer("", None, value=np.zeros((2, 1, 1))) for _ in opened.sources]
    assert list(tabulate(opened, answers))[:-1] == expected
    recipe = recipe.model_copy(update={"horizon": 0})
    windows = open_windows(recipe, str(path), 0)
    latents = [Answer("", None, value=np.zeros(4)) for _ in windows.sources]
    assert list(tabulate_latents(windows, latents)) == [*expected, "z1"]
    assert list(LABELLED_WINDOWS.read_unlabelled(recipe, str(path), 0).columns) == expected
