import random

import pytest

from atento.data.examples.splitting import parse_shares, split_by_key, split_by_label
from atento.errors import InputError

SHARES = (0.8, 0.1, 0.1)
GOLDEN = ([1, 2, 3, 5, 6, 7], [4], [0])  # of eight keys with seed 0


def keys_of(split, keys):
    return [{keys[number] for number in part} for part in split]


def test_every_example_is_in_one_part():
    keys = [f"key {number % 97}" for number in range(500)]
    split = split_by_key(keys, shares=SHARES, seed=1)
    assert sorted([*split.train, *split.valid, *split.test]) == list(range(500))


def test_equal_keys_stay_together_and_counts_are_exact():
    keys = [f"key {number % 97}" for number in range(500)]
    train, valid, test = keys_of(split_by_key(keys, shares=SHARES, seed=1), keys)
    assert not (train & valid or train & test or valid & test)
    assert (len(train), len(valid), len(test)) == (77, 10, 10)


def test_order_of_rows_does_not_matter_but_the_seed_does():
    keys = [f"key {number}" for number in range(100)]
    mixed = random.Random(3).sample(keys, len(keys))
    parts = keys_of(split_by_key(keys, shares=SHARES, seed=1), keys)
    assert keys_of(split_by_key(mixed, shares=SHARES, seed=1), mixed) == parts
    assert keys_of(split_by_key(keys, shares=SHARES, seed=2), keys) != parts


def test_split_is_the_same_on_every_machine():
    assert split_by_key(list("abcdefgh"), shares=SHARES, seed=0) == GOLDEN


@pytest.mark.parametrize("shares", [SHARES, (0.01, 0.98, 0.01), (0.98, 0.01, 0.01), (0.34, 0.33, 0.33)])
def test_no_part_is_empty(shares):
    for count in (3, 4, 5, 7, 11):
        assert all(split_by_key([str(number) for number in range(count)], shares=shares, seed=5)), count


def test_a_share_of_nothing_is_nothing():
    split = split_by_key(list("abcdef"), shares=(0.5, 0.5, 0.0), seed=0)
    assert (len(split.train), len(split.valid), len(split.test)) == (3, 3, 0)


def test_too_few_keys():
    with pytest.raises(InputError) as caught:
        split_by_key(["a", "a", "b"], shares=SHARES, seed=0)
    assert caught.value.problem == "2 different sources cannot fill 3 parts."
    assert caught.value.found == "3 rows, data.split=80/10/10"
    assert caught.value.fix == "give at least 3 rows with different sources"


@pytest.mark.parametrize("text", ["80/10/10", "0.8,0.1,0.1", " 80 / 10 / 10 ", "80%/10%/10%", "0.8 0.1 0.1"])
def test_shares_as_written(text):
    assert parse_shares(text) == pytest.approx(SHARES)


def test_thirds_are_everything():
    assert parse_shares("33/33/33") == pytest.approx((1 / 3, 1 / 3, 1 / 3))


@pytest.mark.parametrize(
    "text, problem",
    [
        ("80/20", "has 2 parts where 3 are needed"),
        ("80/10/20", "adds up to 110, not to 100 or 1"),
        ("8/1/1", "adds up to 10"),
        ("a/b/c", "is not made of numbers"),
        ("", "is not made of numbers"),
        ("nan/50/50", "has a part that is no share"),
        ("120/-10/-10", "has a part that is no share"),
        ("0/50/50", "has a part that is no share"),
    ],
)
def test_wrong_shares(text, problem):
    with pytest.raises(InputError) as caught:
        parse_shares(text)
    assert caught.value.problem.startswith(f"data.split {problem}")
    assert caught.value.found == repr(text)
    assert caught.value.fix == "pass --set data.split=80/10/10"


def test_every_label_has_its_share_of_every_part():
    keys = [f"key {number}" for number in range(200)]
    labels = ["rare" if number % 10 == 0 else "common" for number in range(200)]
    parts = split_by_label(keys, labels, shares=(0.8, 0.1, 0.1), seed=3)
    assert [len(part) for part in parts] == [160, 20, 20]
    assert [sum(labels[at] == "rare" for at in part) for part in parts] == [16, 2, 2]
    again = split_by_label(keys[::-1], labels[::-1], shares=(0.8, 0.1, 0.1), seed=3)
    assert [{keys[::-1][at] for at in part} for part in again] == [{keys[at] for at in part} for part in parts]


def test_a_key_of_two_labels_stays_in_one_part():
    keys, labels = ["a", "b", "c", "d"] * 2, ["x"] * 4 + ["y"] * 4
    parts = split_by_label(keys, labels, shares=(0.5, 0.25, 0.25), seed=0)
    assert sorted(at for part in parts for at in part) == list(range(8))
    assert all({at % 4 for at in part} == {at % 4 for at in part if at < 4} for part in parts)
