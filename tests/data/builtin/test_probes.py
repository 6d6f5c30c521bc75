"""Copy, recall, known alignment and adding: each answer by hand, parts that share nothing, lengths as asked."""

import random
from collections import Counter

import pytest

from atento.data.builtin.adding import marked_numbers
from atento.data.builtin.alignment import BLOCK, alignment_error, sentence, translated, true_places
from atento.data.builtin.catalogue import BUILTIN
from atento.data.builtin.copying import letters
from atento.data.builtin.parts import short_first
from atento.data.builtin.recall import KEYS, VALUES, question
from atento.errors import InputError
from atento.spec import DataRecipe

PROBES = ["copy", "recall", "alignment", "adding"]
every_probe = pytest.mark.parametrize("name", PROBES)


def make(name, seed=0, **choices):
    return BUILTIN[name].make(DataRecipe(train=name, **choices), seed)


def steps_of(name, source):
    words = source.split()
    return (len(words) - 2) // 2 if name == "recall" else len(words)


@every_probe
def test_parts_share_nothing_and_a_seed_decides_all(name):
    parts = make(name, length=6)
    sources = [source for part in parts[:3] for source, _ in part]
    assert len(set(sources)) == len(sources)
    assert min(len(part) for part in parts[:3]) >= 500
    assert make(name, length=6) == parts
    assert make(name, 1, length=6).train[:5] != parts.train[:5]


@every_probe
@pytest.mark.parametrize("length", [5, 31])
def test_lengths_are_those_asked_for(name, length):
    lengths = Counter(steps_of(name, source) for source, _ in make(name, length=length).test)
    assert max(lengths) == length
    assert min(lengths) == (28 if length == 31 else 5) if name == "adding" else min(lengths) == 1
    assert str(length) in make(name, length=length).notes[0]


@every_probe
def test_a_length_that_cannot_be(name):
    with pytest.raises(InputError, match=r"data\.length: .* has at most \d+ \w+\."):
        make(name, length=100_000)
    with pytest.raises(InputError, match=r"data\.source says nothing"):
        make(name, source="de")


def test_training_begins_with_what_is_short():
    """1 as often as 2 and 3 together, as 4 to 7; validation and test know all lengths equally."""
    chance = random.Random(0)
    lengths = [short_first(chance, 63) for _ in range(12_000)]
    shares = Counter(length.bit_length() for length in lengths)
    assert sorted(shares) == [1, 2, 3, 4, 5, 6]
    assert max(shares.values()) < 1.15 * min(shares.values())
    assert max(lengths) == 63
    trained, tested = ([len(source.split()) for source, _ in part] for part in make("copy", length=60)[::2][:2])
    assert sum(trained) / len(trained) < 20 < 25 < sum(tested) / len(tested) < 36


def test_copy():
    source, target = letters(random.Random(0), 9)
    assert source == target
    assert len(source.split()) == 9
    assert set(source.split()) <= set("abcdefgh")
    assert all(source == target for source, target in make("copy", length=4).train)


def test_recall():
    assert len(set(KEYS)) == 64
    for source, target in make("recall", length=64).test:
        *pairs, mark, asked = source.split()
        known = dict(zip(pairs[::2], pairs[1::2], strict=True))
        assert mark == "?"
        assert len(known) == len(pairs) // 2, "a key stands once"
        assert target == f"{asked} {known[asked]}"
        assert set(known) <= set(KEYS) and set(known.values()) <= set(VALUES)


def test_no_place_of_the_key_is_likelier_than_another():
    chance = random.Random(0)
    places = Counter()
    for _ in range(4000):
        *pairs, _, asked = question(chance, 4)[0].split()
        places[pairs[::2].index(asked)] += 1
    assert sorted(places) == [0, 1, 2, 3]
    assert max(places.values()) < 1.25 * min(places.values())


def test_alignment():
    assert true_places(7) == [2, 1, 0, 5, 4, 3, 6]
    assert translated("ke") == "EK"
    for _ in range(50):
        source, target = sentence(random.Random(), 11)
        assert len(source.split()) == 11
        words, written = source.split(), target.split()
        assert [written[place] for place in true_places(len(words))] == [word[::-1].upper() for word in words]
        assert sorted(true_places(len(words))) == list(range(len(words)))
    assert BLOCK == 3


def test_how_far_a_look_is_from_the_truth():
    perfect = [[float(place == true) for place in range(5)] for true in true_places(5)]
    assert alignment_error(perfect, 5) == 0
    straight = [[float(place == row) for place in range(5)] for row in range(5)]
    assert alignment_error(straight, 5) == pytest.approx(4 / 5)  # only the middle of the block stands where it was
    assert alignment_error(perfect[:3], 5) == pytest.approx(2 / 5)  # what was not written was not aligned
    assert alignment_error([*perfect, [1.0] * 5], 5) == 0  # the end mark looks anywhere


def test_adding():
    source, target = marked_numbers(random.Random(4), 10)
    steps = [step.split(",") for step in source.split()]
    marked = [place for place, (_, mark) in enumerate(steps) if mark == "1"]
    assert len(marked) == 2
    assert marked[0] < 5 <= marked[1]
    assert float(target) == pytest.approx(sum(float(steps[place][0]) for place in marked))
    assert all(0 <= float(number) <= 1 for number, _ in steps)


def test_the_constant_guess_of_adding():
    """The sum of two uniform numbers has mean 1 and variance 1/6."""
    targets = [float(target) for _, target in make("adding").train]
    mean = sum(targets) / len(targets)
    assert mean == pytest.approx(1, abs=0.02)
    assert sum((target - mean) ** 2 for target in targets) / len(targets) == pytest.approx(1 / 6, rel=0.05)
