"""Modified Kneser–Ney smoothing against the formula written out with dictionaries, and a small example by hand."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from atento.errors import InputError
from atento.layers.kneser_ney import FALLBACK, KneserNey, discounts


def by_formula(rows, row, order, vocabulary):
    """p(w | h) of each token of a row, from Chen & Goodman's equations, one history at a time."""
    before = (-1,) * max(1, order - 1)
    grams = [Counter() for _ in range(order)]  # by length of the history
    for tokens in rows:
        padded = (*before, *tokens)
        for at in range(len(before), len(padded)):
            for length in range(order):
                grams[length][padded[at - length : at + 1]] += 1
    counts = [Counter(gram[1:] for gram in grams[length + 1]) for length in range(order - 1)] + [grams[order - 1]]
    follows = [defaultdict(dict) for _ in range(order)]
    for length in range(order):
        for gram, count in counts[length].items():
            follows[length][gram[:-1]][gram[-1]] = count
    by_order = []
    for length in range(order):
        n = [sum(count == one for count in counts[length].values()) for one in range(5)]
        taken = FALLBACK
        if n[1] and n[2] and n[3]:
            y = n[1] / (n[1] + 2 * n[2])
            own = (1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3])
            taken = own if all(0 < d <= k for k, d in enumerate(own, start=1)) else FALLBACK
        by_order.append(taken)

    def chance(token, history):
        if history is None:
            return 1 / vocabulary
        shorter = chance(token, history[1:] if history else None)
        seen = follows[len(history)].get(history)
        if seen is None:
            return shorter
        taken = by_order[len(history)]
        total = sum(seen.values())
        gamma = sum(taken[min(count, 3) - 1] for count in seen.values()) / total
        count = seen.get(token, 0)
        return max(count - taken[min(count, 3) - 1], 0) / total * (count > 0) + gamma * shorter

    padded = (*before, *row)
    return [chance(padded[at], padded[at - order + 1 : at]) for at in range(len(before), len(padded))]


@pytest.mark.spec("K06")
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_as_the_formula_says(order):
    chance = random.Random(order)
    rows = [chance.choices(range(7), weights=(9, 7, 4, 3, 2, 1, 1), k=length) for length in (197, 101, 1)]
    model = KneserNey(order, 11).fit([np.array(row) for row in rows])
    for row in (rows[1], [0, 1, 9, 0, 2], [10], chance.choices(range(11), k=43)):
        expected = by_formula(rows, row, order, 11)
        assert model.score(np.array(row)).probabilities.tolist() == pytest.approx(expected, abs=1e-12)


def test_a_small_example_by_hand():
    """The text 0 1 0 1 0 2: of order 2 its bigrams are |0 01 10 01 10 02, and too few for discounts of their own.

    0 was followed by 1 twice and by 2 once: c = 3, D₂ = 1, D₁ = 0.5. As unigrams, 0 stands after 2 distinct tokens (the
    boundary and 1), 1 and 2 after one each: c = 4, D₂ = 1, D₁ = 0.5, over a uniform 1/3.
    """
    model = KneserNey(2, 3).fit([np.array([0, 1, 0, 1, 0, 2])])
    lower = [(2 - 1) / 4 + 0.5 / 3, 0.5 / 4 + 0.5 / 3, 0.5 / 4 + 0.5 / 3]  # γ = (1 + 0.5 + 0.5) / 4
    after_zero = [0.5 * lower[0], (2 - 1) / 3 + 0.5 * lower[1], 0.5 / 3 + 0.5 * lower[2]]  # γ = (1 + 0.5) / 3
    found, matched = model.following([0])
    assert found.tolist() == pytest.approx(after_zero) and matched == 1
    found, matched = model.following([2])  # nothing was seen after it
    assert found.tolist() == pytest.approx(lower) and matched == 1
    assert discounts(np.array([1, 1, 1, 2, 2, 3, 7])) == pytest.approx((3 / 7, 2 - 3 * 3 / 7 * 1 / 2, 3.0))


def test_the_next_tokens_share_one_and_agree_with_the_score():
    chance = random.Random(0)
    row = chance.choices(range(5), k=400)
    model = KneserNey(4, 6).fit([np.array(row)], skipped=1)
    for past in ([], [3], [1, 2], [5, 5, 5], row[:17]):
        found, matched = model.following(past)
        assert found.sum() == pytest.approx(1, abs=1e-12) and (found > 0).all()
        for token in range(6):
            scored = model.score(np.array([*past, token]))
            assert scored.probabilities[-1] == pytest.approx(found[token], abs=1e-12)
            assert scored.matched[-1] == matched
    assert len(model.score(np.array(row), skipped=3).probabilities) == 397


def test_what_cannot_be_counted_is_refused():
    for order, vocabulary in ((0, 3), (2, 0)):
        with pytest.raises(InputError, match="order and a vocabulary"):
            KneserNey(order, vocabulary)
