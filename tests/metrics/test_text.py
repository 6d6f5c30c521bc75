"""Edit distances against the recurrence of Wagner & Fischer (1974), written out."""

import random

import pytest

from atento.metrics.text import CHARACTER_ERROR, EDITS, SYMBOL_ERROR


def distance(said, true):
    """D[i, j] = min(D[i−1, j] + 1, D[i, j−1] + 1, D[i−1, j−1] + (a_i ≠ b_j))."""
    before = list(range(len(true) + 1))
    for i, one in enumerate(said, start=1):
        row = [i]
        for j, other in enumerate(true, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (one != other)))
        before = row
    return before[-1]


@pytest.mark.spec("K05")
def test_phone_errors_worked_out_by_hand():
    """One phone wrong of 3; none wrong of 2, by the second reference; 1 missing of 4: 2 edits over 9 phones."""
    outputs = ["B AW D", "K AH", "T R IY"]
    references = [["B AW T"], ["K AH Z", "K AH"], ["T R IY Z"]]
    assert SYMBOL_ERROR.value(outputs, references) == pytest.approx(2 / 9)
    assert SYMBOL_ERROR.smaller_is_better


@pytest.mark.parametrize("metric, cut", [(SYMBOL_ERROR, str.split), (CHARACTER_ERROR, list), (EDITS, list)])
def test_equal_to_the_recurrence(metric, cut):
    chance = random.Random(0)
    texts = [" ".join(chance.choices(["a", "b", "cc", "ab"], k=chance.randint(1, 7))) for _ in range(120)]
    outputs, references = texts[:40], list(zip(texts[40:80], texts[80:], strict=True))
    edits = length = 0
    for output, allowed in zip(outputs, references, strict=True):
        nearest = min(allowed, key=lambda true: distance(cut(output), cut(true)))
        edits, length = edits + distance(cut(output), cut(nearest)), length + len(cut(nearest))
    assert metric.value(outputs, references) == pytest.approx(edits / (40 if metric is EDITS else length), abs=1e-12)


def test_perfect_is_zero_and_nothing_said_is_one():
    assert EDITS.value(["abc"], [["abc"]]) == 0.0
    assert CHARACTER_ERROR.value(["", ""], [["abc"], ["de"]]) == 1.0
    assert SYMBOL_ERROR.value([], []) == 0.0
