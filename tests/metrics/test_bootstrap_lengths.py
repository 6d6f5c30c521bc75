import pytest

from atento.metrics.bootstrap import by_length
from atento.metrics.text import EXACT


def bands_of(lengths, right, **options):
    sources = ["x" * length for length in lengths]
    outputs = ["yes" if hit else "no" for hit in right]
    return by_length(EXACT, sources, [outputs], [["yes"]] * len(lengths), **options)


def test_three_bands_of_about_equally_many():
    lengths = [9, 1, 5, 2, 8, 4, 3, 7, 6]
    bands = bands_of(lengths, [length <= 4 for length in lengths])
    assert [(band.shortest, band.longest, band.examples) for band in bands] == [(1, 3, 3), (4, 6, 3), (7, 9, 3)]
    assert [band.quality.value for band in bands] == pytest.approx([1, 1 / 3, 0])


def test_equal_lengths_are_never_torn_apart():
    bands = bands_of([2, 2, 2, 2, 2, 3, 5], [True] * 7)
    assert [(band.shortest, band.longest, band.examples) for band in bands] == [(2, 2, 5), (3, 5, 2)]
    assert [band.examples for band in bands_of([2] * 7, [True] * 7)] == [7]
    assert sum(band.examples for band in bands_of([1, 2, 2, 2, 2, 2, 3], [True] * 7)) == 7


def test_few_examples_few_bands():
    assert bands_of([], []) == []
    assert [band.examples for band in bands_of([3], [True])] == [1]
    assert [band.examples for band in bands_of([1, 2, 3, 4, 5], [True] * 5, bands=2)] == [2, 3]


def test_a_band_as_plain_values():
    (band,) = bands_of([3, 3], [True, True])
    assert band.to_json() == {"label": "3–3", "from": 3, "to": 3, "count": 2, "value": 1.0, "low": 1.0, "high": 1.0}


def test_sequences_of_numbers_are_measured_in_steps():
    sources = ["0.5 -1.25 3e-7", "1,-2 ?,4 5,6 7,8", "1 2"]
    bands = by_length(EXACT, sources, [["yes"] * 3], [["yes"]] * 3)
    assert [band.to_json()["label"] for band in bands] == ["2–2", "3–3", "4–4"]
    assert {band.to_json()["by"] for band in bands} == {"steps"}
    (band,) = by_length(EXACT, ["2 apples"], [["yes"]], [["yes"]])
    assert band.shortest == len("2 apples") and "by" not in band.to_json()
