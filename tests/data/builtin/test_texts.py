"""DNA-like strings: the label by a search of its own, on both strands."""

import pytest

from atento.data.builtin.texts import FIRST, GAPS, LABELS, LAST, dna, has_motif
from atento.errors import InputError
from atento.spec import DataRecipe

COMPLEMENT = {"A": "T", "T": "A", "C": "G", "G": "C"}


def found_by_hand(string):
    other = "".join(COMPLEMENT[letter] for letter in reversed(string))
    for strand in (string, other):
        for place in range(len(strand)):
            for gap in range(GAPS[0], GAPS[1] + 1):
                end = place + len(FIRST) + gap
                if strand[place : place + len(FIRST)] == FIRST and strand[end : end + len(LAST)] == LAST:
                    return True
    return False


@pytest.mark.spec("K12")
def test_the_label_says_whether_the_motif_is_there():
    made = dna(DataRecipe(train="dna"), 0)
    for string, label in (*made.test, *made.valid):
        assert label == LABELS[0 if found_by_hand(string) else 1]
        assert FIRST in string
    share = sum(label == LABELS[0] for _, label in made.train) / len(made.train)
    assert share == pytest.approx(0.5, abs=0.02)
    texts = [string for part in (made.train, made.valid, made.test) for string, _ in part]
    assert len(set(texts)) == len(texts) == 11_500
    assert {len(string) for string in texts} == set(range(16, 31))


def test_on_either_strand():
    assert has_motif("CCTATAACGCAA")
    assert has_motif("TTGCGTTATAGG")
    assert not has_motif("CCTATACGCAAA"), "a gap of one"
    assert not has_motif("CCTATAACACCGC"), "a gap of five"


def test_lengths_can_be_chosen():
    made = dna(DataRecipe(train="dna", length=100), 0)
    assert {len(string) for string, _ in made.test} <= set(range(50, 101))
    with pytest.raises(InputError, match="at most 1000"):
        dna(DataRecipe(train="dna", length=2000), 0)
