"""Pairs on disk are a sequence like any other."""

import pytest

from atento.data.examples import batches
from atento.data.examples.batches import StoredPairs, sample_of

PAIRS = [(f"text {number} ñ漢\n\t", f"label {number % 5}") for number in range(101)] + [("", ""), ("a", "b")]


@pytest.fixture
def pairs():
    kept = StoredPairs()
    for pair in PAIRS:
        kept.append(pair)
    return kept.close_writing()


def test_as_they_were(pairs):
    assert list(pairs) == PAIRS
    assert len(pairs) == len(PAIRS)
    assert pairs[-1] == PAIRS[-1]
    assert pairs[3:50:7] == PAIRS[3:50:7]
    with pytest.raises(IndexError):
        pairs[len(PAIRS)]


def test_a_sample_holds_every_label(pairs):
    sample = pairs.sample(7)
    assert set(sample) <= set(PAIRS)
    assert {target for _, target in sample} == {target for _, target in PAIRS}
    assert len(sample) <= 7 + len({target for _, target in PAIRS})


def test_many_targets_are_no_labels(pairs, monkeypatch):
    monkeypatch.setattr(batches, "DISTINCT", 2)
    assert len(pairs.sample(7)) <= 7


def test_what_is_in_memory_is_its_own_sample():
    assert sample_of(PAIRS) is PAIRS
