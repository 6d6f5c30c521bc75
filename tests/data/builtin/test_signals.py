"""Heartbeats: strips of the length asked for, one label and another by what they show."""

import random
from collections import Counter

import numpy as np
import pytest

from atento.data.builtin.signals import LABELS, RATE, heartbeats, some_beats
from atento.data.tables.number_lists import require_numbers
from atento.errors import InputError
from atento.spec import DataRecipe


@pytest.fixture(scope="module")
def strips():
    return heartbeats(DataRecipe(train="heartbeats"), 0)


def test_lengths_channels_and_labels(strips):
    numbers = [require_numbers(source) for source, _ in strips.test]
    assert {array.shape[1] for array in numbers} == {1}
    assert len({len(array) for array in numbers}) > 20, "ragged"
    assert all(90 <= len(array) <= 120 for array in numbers)
    counts = Counter(label for _, label in strips.train)
    assert set(counts) == set(LABELS)
    assert max(counts.values()) < 1.2 * min(counts.values())
    assert not {source for source, _ in strips.train} & {source for source, _ in strips.test}


def test_one_seed_gives_the_same_and_leads_are_channels(strips, monkeypatch):
    monkeypatch.setattr("atento.data.builtin.signals.HEARTBEATS_SIZES", (3, 2, 2))
    recipe = DataRecipe(train="heartbeats", source="3", length=200)
    once, again = heartbeats(recipe, 5), heartbeats(recipe, 5)
    assert once == again
    assert require_numbers(once.train[0][0]).shape[1] == 3
    assert all(150 <= len(source.split()) <= 200 for source, _ in once.train)
    with pytest.raises(InputError, match="1 to 3 leads"):
        heartbeats(DataRecipe(train="heartbeats", source="12"), 0)
    with pytest.raises(InputError, match=r"data\.target has no meaning"):
        heartbeats(DataRecipe(train="heartbeats", target="x"), 0)


def test_what_is_odd_is_odd_in_its_own_way():
    for seed in range(40):
        gaps = {}
        for label in LABELS:
            beats = some_beats(random.Random(seed), label, 120 / RATE)
            gaps[label] = np.diff([time for time, _ in beats])
            kinds = Counter(kind for _, kind in beats)
            assert kinds["wide"] == (label == "wide") and kinds["missed"] == (label == "missed")
        assert gaps["steady"].std() < 0.06 * gaps["steady"].mean()
        assert gaps["early"].min() < 0.8 * gaps["steady"].mean()
        assert gaps["early"].max() > 1.15 * gaps["steady"].mean()
