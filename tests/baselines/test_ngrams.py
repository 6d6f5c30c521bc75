"""Counts of characters in a row, against the formula written out with dictionaries."""

import math
import random
from collections import Counter, defaultdict

import pytest

from atento.baselines import CharacterNGram
from atento.errors import InputError

D = 0.75


def by_formula(texts, text, order, *, whole):
    """P(c | h) from the formula, one history at a time; < stands before a text and, where texts are whole, after it."""
    after = "<" if whole else ""
    padded = ["<" * (order - 1) + text + after for text in texts]
    follows = [defaultdict(Counter) for _ in range(order)]
    for row in padded:
        for at in range(order - 1, len(row)):
            for length in range(order):
                follows[length][row[at - length : at]][row[at]] += 1
    letters = set("".join(texts))
    outcomes = len(letters) + 1 + whole  # the letters, any other, the end

    def chance(letter, history):
        if history is None:
            return 1 / outcomes
        shorter = chance(letter, history[1:] if history else None)
        seen = follows[len(history)].get(history)
        if seen is None:
            return shorter
        total = sum(seen.values())
        return max(seen[letter] - D, 0) / total + D * len(seen) / total * shorter

    row = "<" * (order - 1) + text + after
    return [math.log(chance(row[at], row[at - order + 1 : at])) for at in range(order - 1, len(row))]


@pytest.mark.spec("K06")
@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("count", [1, 3, 29])
def test_as_the_formula_says(order, count):
    chance = random.Random(order)
    texts = ["".join(chance.choices("aabc d", k=chance.randint(1, 41))) for _ in range(count)]
    model = CharacterNGram(order).fit(texts, [""] * count)
    for text in ("abcabd dcb", "a", "never: aXb", texts[0]):
        expected = by_formula(texts, text, order, whole=count >= 20)
        assert model.log_probabilities(text).tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.spec("K06")
@pytest.mark.parametrize("count", [1, 31])
def test_all_that_may_follow_shares_one(count):
    """The letters, any other character and, where texts are whole, the end: probabilities of what comes next."""
    model = CharacterNGram(3).fit(["abac abca"] * count, [""] * count)
    for begin in ("", "a", "ab", "zz", "abz"):
        total = sum(math.exp(model.log_probabilities(begin + letter)[len(begin)]) for letter in "abc ?")
        if count > 1:
            total += math.exp(model.log_probabilities(begin)[-1])
        assert total == pytest.approx(1, abs=1e-12)


def test_what_is_judged():
    """Text of 2500 characters: as many nats as its characters cost, in as many equal passages as it has thousands."""
    text = "ab" * 1250
    model = CharacterNGram(2).fit([text], [""])
    ((nats, characters, words, passages),) = model.predict([text])
    assert (characters, words, len(passages)) == (2500, 1, 2)
    assert nats == pytest.approx(model.log_probabilities(text).sum())
    assert sum(passages) == pytest.approx(nats)
    assert -nats / characters < 0.01


def test_names_and_refusals():
    assert CharacterNGram().name == "5-gram"
    assert CharacterNGram(1).name == "unigram"
    for order, discount in ((0, 0.5), (2, 0.0), (2, 1.0)):
        with pytest.raises(InputError):
            CharacterNGram(order, discount=discount)
    with pytest.raises(InputError):
        CharacterNGram().predict(["a"])
