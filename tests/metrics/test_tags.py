"""Accuracy of tags, of sentences, and of words that training never saw: by hand."""

import pytest

from atento.metrics.bootstrap import examine
from atento.metrics.tags import SENTENCES, TAG_ACCURACY, unseen_accuracy

SOURCES = ["the\tcat\tsat", "a\tdog", "cat"]
REFERENCES = [["D\tN\tV"], ["D\tN"], ["N"]]
SAID = [["D", "N", "N"], ["D", "N"], ["V"]]


@pytest.mark.spec("K04")
def test_shares_by_hand():
    assert TAG_ACCURACY.value(SAID, REFERENCES) == pytest.approx(4 / 6)
    assert SENTENCES.value(SAID, REFERENCES) == pytest.approx(1 / 3)
    assert TAG_ACCURACY.value([["D"]], [["D\tN"]]) == 0.5  # one too few is wrong


@pytest.mark.spec("K04")
def test_unseen_words_by_hand():
    metric = unseen_accuracy({"the", "cat", "a"})
    assert metric.on(SOURCES).value(SAID, REFERENCES) == 0.5  # sat is wrong, dog is right
    assert unseen_accuracy({"the", "cat", "a", "dog", "sat"}).on(SOURCES).value(SAID, REFERENCES) == 1.0
    found = examine([TAG_ACCURACY, metric], SOURCES, [SAID, SAID], REFERENCES)  # two runs
    assert found["scores"]["unseen_accuracy"][0] == 0.5
    assert TAG_ACCURACY.on(SOURCES) is TAG_ACCURACY
