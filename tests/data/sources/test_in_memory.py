"""Rows that a program holds are read as a file with the same rows would be."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import torch

from atento.api import inspect
from atento.data.sources.in_memory import hold, require_path
from atento.errors import InputError

TEXTS = [f"sol {'luna' if number % 3 else 'mar'} {number}" for number in range(23)]
LABELS = ["sí" if number % 2 else "no" for number in range(23)]
FRAME = {"text": TEXTS, "label": LABELS}
DAYS = pandas.date_range("2024-01-30", periods=23, freq="D")
WAVE = np.round(np.sin(np.arange(23) / 3) + 11, 3)  # three decimals, which in a text could be thousands
SAME = {
    "pandas": pandas.DataFrame(FRAME, index=range(100, 123)),
    "polars": polars.DataFrame(FRAME),
    "arrow": pyarrow.table(FRAME),
    "columns": FRAME,
    "dicts": [dict(zip(FRAME, row, strict=True)) for row in zip(TEXTS, LABELS, strict=True)],
    "pairs": list(zip(TEXTS, LABELS, strict=True)),
    "generator": (row for row in zip(TEXTS, LABELS, strict=True)),
    "X and y": (TEXTS, LABELS),
    "arrays": (np.array(TEXTS), np.array(LABELS, dtype=object)),
    "series": (pandas.Series(TEXTS), pandas.Series(LABELS, index=range(7, 30)).astype("category")),
}


def rows_of(data):
    return [json.loads(line) for line in hold(data).content.decode().split("\n")[:-1]]


@pytest.mark.parametrize("kind", SAME)
def test_the_same_rows_from_every_kind(kind):
    held = hold(SAME[kind])
    assert [json.loads(line) for line in held.content.decode().split("\n")[:-1]] == SAME["dicts"]
    assert hold(SAME["dicts"]).name.split("/")[0] == held.name.split("/")[0]  # equal content, an equal fingerprint


@pytest.mark.parametrize(
    "data, task",
    [
        (SAME["pandas"], "classify"),
        (TEXTS, "generate"),
        (([text.split() for text in TEXTS], [["N", "N", "Z"]] * 23), "tag"),
        ((np.stack([WAVE + at for at in range(23)]), LABELS), "classify-series"),
        (WAVE, "forecast"),
        (torch.tensor(WAVE), "forecast"),
        (np.stack([WAVE, -WAVE], axis=1), "forecast"),
        (pandas.Series(WAVE, index=DAYS), "forecast"),
        (pandas.DataFrame({"value": WAVE}, index=DAYS), "forecast"),
    ],
)
def test_recognised_like_a_file(data, task):
    held = hold(data)
    assert inspect(held.name).task == task


def test_numbers_times_and_missing_values_keep_their_meaning():
    assert rows_of(pandas.Series(WAVE, index=DAYS))[1] == {"ds": "2024-01-31 00:00:00", "y": WAVE[1]}
    cells = [
        np.float32(0.5),
        np.int64(3),
        True,
        date(2024, 1, 31),
        Decimal("1.50"),
        Path("a/b"),
        b"\xc3\xb1",
        [1, None],
    ]
    plain = [0.5, 3, True, "2024-01-31", "1.50", "a/b", "ñ", [1, None]]
    assert [row["cell"] for row in rows_of([{"cell": cell} for cell in cells])] == plain
    missing = [None, float("nan"), np.nan, pandas.NA, pandas.NaT]
    assert [row["cell"] for row in rows_of([{"cell": cell} for cell in missing])] == [None] * 5
    frame = pandas.DataFrame(
        {"y": [1.0, 2.0]}, index=pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["id", "t"])
    )
    assert rows_of(frame)[1] == {"id": "b", "t": 2, "y": 2.0}
    lone = hold([{"text": "a\ud800b"}])
    assert lone.content == b'{"text": "a\\ud800b"}\n'  # refused by the reader, with its line


@pytest.mark.parametrize(
    "data, problem",
    [
        (torch.nn.Linear(2, 2), "this is no data"),
        (7, "this is no data"),
        (b"text", "this is no data"),
        ([], "no rows"),
        (pandas.DataFrame({"a": []}), "no rows"),
        ((TEXTS, LABELS[:-1]), "inconsistent numbers of rows"),
        ({"a": [1, 2], "b": [1]}, "different lengths"),
        ([("a", "b"), ("a",)], "row 1 has another length"),
        ([{"a": object()}], "row 0, column 'a' is neither text nor number"),
    ],
)
def test_what_is_no_data_is_refused(data, problem):
    with pytest.raises(InputError, match=problem):
        hold(data)


@pytest.mark.parametrize("text", ["a text\nof two lines", "x" * 300, "folder/" + "ñ" * 130])
def test_a_text_is_no_path(text):
    with pytest.raises(InputError, match="no path of a file"):
        require_path(text)
    require_path("folder/" * 60 + "reviews.csv,other.csv")


def test_an_open_file_is_not_its_path(tmp_path):
    with (tmp_path / "a.csv").open("w") as file, pytest.raises(InputError, match="open file"):
        hold(file)
