"""Passages with a deciding sentence: it decides, and nothing that can be counted does."""

from collections import Counter

import pytest

from atento.baselines import WordOverlap
from atento.data.builtin.language import EVIDENCE_SIZES, evidence
from atento.data.records import split_items
from atento.data.text.words import split_sentences
from atento.errors import InputError
from atento.spec import DataRecipe


@pytest.fixture(scope="module")
def parts():
    return evidence(DataRecipe(train="evidence"), 0)


def test_one_sentence_decides_each_question(parts):
    for source, label in parts.test:
        told, asked = split_items(source)
        person = asked.split()[1]
        thing = asked.rstrip("?").split(maxsplit=3)[3]
        holds = [line for line in split_sentences(told) if line.startswith(f"{person} ") and line.endswith(f"{thing}.")]
        assert len(holds) == (label != "not told")
        assert label == "not told" or (" not " in holds[0]) == (label == "no")


def test_the_parts_are_apart_and_the_labels_even(parts):
    assert tuple(map(len, parts[:3])) == EVIDENCE_SIZES
    sources = [source for part in parts[:3] for source, _ in part]
    assert len(set(sources)) == len(sources)
    counts = Counter(label for _, label in parts.train)
    assert set(counts) == {"yes", "no", "not told"}
    assert [count / EVIDENCE_SIZES[0] for count in counts.values()] == pytest.approx([1 / 3] * 3, abs=0.03)
    assert {len(split_sentences(split_items(source)[0])) for source in sources} == {3, 4, 5}


@pytest.mark.spec("K10")
def test_counting_words_says_nothing(parts):
    model = WordOverlap().fit(*zip(*parts.train[:2000], strict=True))
    answers = model.predict([source for source, _ in parts.test])
    right = sum(answer == label for answer, (_, label) in zip(answers, parts.test, strict=True)) / EVIDENCE_SIZES[2]
    assert right < 0.55  # a guess is right in one of three


def test_longer_passages_and_what_is_refused():
    made = evidence(DataRecipe(train="evidence", length=9), 1)
    assert max(len(split_sentences(split_items(source)[0])) for source, _ in made.test) == 9
    assert evidence(DataRecipe(train="evidence", length=9), 1) == made
    with pytest.raises(InputError, match="at most 20 facts"):
        evidence(DataRecipe(train="evidence", length=21), 0)
    with pytest.raises(InputError, match=r"data\.source has no meaning"):
        evidence(DataRecipe(train="evidence", source="x"), 0)
