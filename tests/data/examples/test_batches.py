import random

import pytest

from atento.data.examples.batches import Sampler, batches_by_length, like_lengths, pad

BATCH_TOKENS = 97


@pytest.fixture(scope="module")
def lengths():
    chance = random.Random(0)
    return [chance.choice([1, 2, 3, 5, 7, 11, 13, 31]) for _ in range(1009)]


def test_padding():
    tokens, valid = pad([[5, 6, 7], [], [8]])
    assert tokens.tolist() == [[5, 6, 7], [0, 0, 0], [8, 0, 0]]
    assert valid.tolist() == [[True, True, True], [False, False, False], [True, False, False]]


def test_batches_keep_the_order_and_the_budget():
    lengths = [3, 3, 2, 5, 1, 9, 1, 1]
    assert list(batches_by_length(lengths, range(8), batch_tokens=9)) == [[0, 1, 2], [3], [4], [5], [6, 7]]
    assert list(batches_by_length(lengths, [6, 7, 4], batch_tokens=2)) == [[6, 7], [4]]
    assert list(batches_by_length(lengths, [], batch_tokens=2)) == []


def test_one_too_long_for_any_batch_is_alone():
    assert list(batches_by_length([50, 1, 1], [1, 0, 2], batch_tokens=9)) == [[1], [0], [2]]


def test_those_of_like_length_are_read_together():
    assert list(like_lengths([3, 1, 9, 2, 3, 1], batch_tokens=6)) == [[1, 5, 3], [0, 4], [2]]
    assert list(like_lengths([], batch_tokens=6)) == []


@pytest.mark.parametrize("epoch", range(3))
def test_every_example_once_an_epoch_within_the_budget(lengths, epoch):
    batches = Sampler(lengths, batch_tokens=BATCH_TOKENS, seed=1).epoch(epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert max(lengths[index] for index in batch) * len(batch) <= BATCH_TOKENS


def test_seed_and_epoch_alone_decide_the_order(lengths):
    def order(seed, epoch):
        random.seed(random.random())  # whatever the rest of the program draws
        return Sampler(lengths, batch_tokens=BATCH_TOKENS, seed=seed).epoch(epoch)

    assert order(1, 4) == order(1, 4)
    assert order(1, 4) != order(1, 5)
    assert order(1, 4) != order(2, 4)
    kept = Sampler(lengths, batch_tokens=BATCH_TOKENS, seed=1)
    kept.epoch(0)
    assert kept.epoch(4) == order(1, 4)  # an epoch needs none of those before it


def test_little_padding_and_yet_a_mixture(lengths):
    batches = Sampler(lengths, batch_tokens=BATCH_TOKENS, seed=1).epoch(0)
    padded = sum(max(lengths[index] for index in batch) * len(batch) for batch in batches)
    assert padded < 1.1 * sum(lengths)
    longest = [max(lengths[index] for index in batch) for batch in batches]
    assert longest != sorted(longest)  # short batches do not all come first
    shuffled = list(range(len(lengths)))
    random.Random(0).shuffle(shuffled)
    plain = list(batches_by_length(lengths, shuffled, batch_tokens=BATCH_TOKENS))
    assert padded < 0.6 * sum(max(lengths[index] for index in batch) * len(batch) for batch in plain)


def test_no_examples_no_batches():
    assert Sampler([], batch_tokens=BATCH_TOKENS, seed=0).epoch(0) == []
