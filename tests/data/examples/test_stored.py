"""Pairs on disk are a sequence like any other, and an epoch takes each of them once."""

import numpy as np
import pytest

from atento.data.examples import stored
from atento.data.examples.batches import sample_of
from atento.data.examples.stored import PooledSampler, StoredPairs

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
    monkeypatch.setattr(stored, "DISTINCT", 2)
    assert len(pairs.sample(7)) <= 7


def test_what_is_in_memory_is_its_own_sample():
    assert sample_of(PAIRS) is PAIRS


ROWS, BATCH_TOKENS = 997, 61


@pytest.fixture
def pooled(monkeypatch):
    """Many pools of few rows, with the lengths that they have, and how many rows were asked for at a time."""
    monkeypatch.setattr(stored, "BLOCK", 13)
    monkeypatch.setattr(stored, "BLOCKS", 5)
    lengths, asked = np.random.default_rng(0).integers(1, 20, ROWS).astype(np.int32), []

    def some(first, last):
        asked.append(last - first)
        return lengths[first:last]

    return PooledSampler(some, ROWS, batch_tokens=BATCH_TOKENS, seed=1), lengths, asked


def test_an_epoch_takes_each_row_once_in_batches_that_fit(pooled):
    sampler, lengths, asked = pooled
    batches = list(sampler.epoch(0))
    assert sorted(int(row) for batch in batches for row in batch) == list(range(ROWS))
    assert all(lengths[batch].max() * len(batch) <= BATCH_TOKENS for batch in batches)
    assert len(sampler.epoch(0)) == len(batches) == len(list(sampler.epoch(0)[0:]))
    assert max(asked) <= 13  # never all at once
    first = [row for batch in batches[:20] for row in batch.tolist()]
    assert first != sorted(first)


def test_the_order_is_that_of_the_seed_and_the_epoch_and_goes_on_anywhere(pooled):
    sampler, *_ = pooled
    whole = [batch.tolist() for batch in sampler.epoch(3)]
    assert [batch.tolist() for batch in sampler.epoch(3)] == whole != [batch.tolist() for batch in sampler.epoch(4)]
    for position in (0, 1, len(whole) // 2, len(whole) - 1):
        assert [batch.tolist() for batch in sampler.epoch(3)[position:]] == whole[position:]
        assert sampler.epoch(3)[position].tolist() == whole[position]
