"""The most frequent answers by hand."""

import pytest

from atento.baselines import Majority, MajorityLabelSet, MostFrequentTag
from atento.errors import InputError


@pytest.mark.spec("B04")
def test_majority_by_hand():
    assert Majority().fit(["x", "y", "z"], ["no", "yes", "yes"]).predict(["x", "anything"]) == ["yes", "yes"]
    assert Majority().fit(["x", "y"], ["b", "a"]).predict(["z"]) == ["b"]  # of equally frequent ones the first


@pytest.mark.spec("B04")
def test_the_most_frequent_tag_of_each_word_by_hand():
    words = [["the", "run"], ["they", "run", "fast"], ["a", "fast", "run"], ["dogs", "run"]]
    tags = [["DET", "NOUN"], ["PRON", "VERB", "ADV"], ["DET", "ADJ", "NOUN"], ["NOUN", "VERB"]]
    model = MostFrequentTag().fit(words, tags)
    # run: NOUN twice and VERB twice, NOUN met first; fast: ADV met first; NOUN is the most frequent tag of all
    assert model.predict([["the", "fast", "run"], ["cats", "a"]]) == [["DET", "ADV", "NOUN"], ["NOUN", "DET"]]
    assert model.predict([["7"]]) == [["NOUN"]]  # no word begins with a digit
    assert model.predict([[]]) == [[]]


@pytest.mark.spec("B04")
def test_an_unknown_word_goes_by_its_looks():
    words = [["walking", "talking", "walked"], ["Paris", "Anna", "Bob"], ["a", "the", "the"]]
    tags = [["VERB", "VERB", "PAST"], ["PLACE", "NAME", "NAME"], ["DET", "DET", "DET"]]
    model = MostFrequentTag().fit(words, tags)
    # as words with the same two last letters; a capital: NAME twice; small letters: DET three times
    assert model.predict([["smoking", "baked", "Zoe", "Ulis", "qu"]]) == [["VERB", "PAST", "NAME", "PLACE", "DET"]]


def test_case_is_kept():
    assert MostFrequentTag().fit([["May", "may"]], [["PROPN", "AUX"]]).predict([["may", "May"]]) == [["AUX", "PROPN"]]


def test_a_tag_for_each_word_is_asked_for():
    with pytest.raises(InputError, match="sequence 2 has 2 steps and 1 targets"):
        MostFrequentTag().fit([["a"], ["b", "c"]], [["X"], ["Y"]])


def test_empty_sequences_teach_nothing_and_break_nothing():
    assert MostFrequentTag().fit([[]], [[]]).predict([["a"], []]) == [[""], []]


@pytest.mark.spec("B04")
def test_the_most_frequent_set_of_labels_by_hand():
    labels = [["a", "b"], ["b", "a"], ["c"], ["b"], []]
    usual = MajorityLabelSet().fit(["x"] * 5, labels)
    assert usual.predict(["y", "z"]) == [["b", "a"]] * 2, "the likeliest first: b three times, a twice"
    assert usual.rank(["y"]) == [(["b", "a"], ["b", "a", "c"])]
    assert MajorityLabelSet().fit(["x"] * 3, [[], [], ["a"]]).predict(["y"]) == [[]]
