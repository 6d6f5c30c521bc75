"""Time warping against the recursion written out cell by cell, in float64."""

import numpy as np
import pytest

from atento.baselines import DTWNearest
from atento.baselines.time_warping import (
    BANDS,
    Candidates,
    band_radius,
    dtw_distances,
    lower_bounds,
    nearest,
    stratified_sample,
)
from atento.data.tables.number_lists import require_numbers

CHANNELS = 2


def brute(one, other, band):
    """D(i, j) = |x_i − y_j|² + the least of its three neighbours, where |i − j| ≤ r."""
    reach = max(int(np.ceil(band * max(len(one), len(other)))), abs(len(one) - len(other)))
    table = np.full((len(one) + 1, len(other) + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            if abs(i - j) <= reach:
                least = min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
                table[i, j] = ((one[i - 1] - other[j - 1]) ** 2).sum() + least
    return table[-1, -1]


@pytest.fixture(scope="module")
def walks():
    chance = np.random.default_rng(0)
    return [chance.normal(size=(chance.integers(1, 14), CHANNELS)).cumsum(axis=0) for _ in range(19)]


@pytest.mark.spec("K02")
@pytest.mark.parametrize("band", [0.0, 0.1, 0.3, 1.0])
def test_distances_are_those_of_the_recursion(walks, band):
    known = Candidates.of(walks)
    for query in walks[:7]:
        expected = [brute(query, other, band) for other in walks]
        np.testing.assert_allclose(dtw_distances(query, known, band), expected, rtol=1e-12)
        assert (lower_bounds(query, known, band) <= np.array(expected) + 1e-9).all()


@pytest.mark.parametrize("band", [0.0, 0.2])
def test_leaving_out_what_cannot_be_nearest_changes_no_answer(walks, band, monkeypatch):
    monkeypatch.setattr("atento.baselines.time_warping.AT_ONCE", 3)
    known = Candidates.of(walks)
    for at, query in enumerate(walks):
        expected = [brute(query, other, band) for other in walks]
        assert nearest(query, known, band) == at
        expected[at] = np.inf
        assert nearest(query, known, band, without=at) == int(np.argmin(expected))


def test_what_shifts_in_time_is_near_only_where_time_is_warped():
    """A bump here or there, against a flat line with the bump's own mean: the label is the shape."""
    chance = np.random.default_rng(1)

    def bump(at):
        return np.exp(-0.5 * ((np.arange(40) - at) / 2) ** 2)

    def dip(at):
        return bump(at) - 2 * bump(at + 6)

    rows = [
        (shape(at) + chance.normal(0, 0.05, 40), name)
        for at in range(8, 26)
        for name, shape in (("bump", bump), ("dip", dip))
    ]
    texts = [" ".join(f"{number:.4f}" for number in row) for row, _ in rows]
    targets = [name for _, name in rows]
    model = DTWNearest(require_numbers).fit(texts[::3], targets[::3])
    assert model.band > 0
    assert model.summary.endswith(f"band {model.band:.0%}")
    assert model.predict(texts[1::3]) == targets[1::3]


def test_every_label_has_its_share_of_a_sample():
    targets = ["a"] * 90 + ["b"] * 10
    chosen = [targets[place] for place in stratified_sample(targets, 20)]
    assert (chosen.count("a"), chosen.count("b")) == (18, 2)
    assert stratified_sample(targets, 200).tolist() == list(range(100))
    assert band_radius(10, np.array([10, 14]), 0.1).tolist() == [1, 4]
    assert BANDS[0] == 0.0


def test_a_large_training_part_is_sampled_and_a_long_sequence_shortened_which_is_said(monkeypatch):
    monkeypatch.setattr("atento.baselines.time_warping.MAX_CELLS", 100)
    monkeypatch.setattr("atento.baselines.time_warping.MAX_LENGTH", 5)
    texts = [" ".join(str(n % 2 + step / 10) for step in range(12)) for n in range(60)]
    model = DTWNearest(require_numbers).fit(texts, ["even" if n % 2 == 0 else "odd" for n in range(60)])
    assert "means of 3 steps" in model.summary
    assert "of 60 training sequences" in model.summary
    assert model.predict(texts[:2]) == ["even", "odd"]
    np.testing.assert_allclose(
        model.prepare(np.arange(7.0)[:, None]), (np.array([[1.0], [4.0], [6.0]]) - model.scale[0]) / model.scale[1]
    )
