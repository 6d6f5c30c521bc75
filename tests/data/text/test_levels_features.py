"""A text with features after a tab: the text is cut, features stay whole."""

import json

import pytest

from atento.data import SPECIAL_TOKENS, Characters, load_vocabulary
from atento.data.text.levels import FeaturedVocabulary, common_features, learn_source, split_features
from atento.data.text.vocabulary import UNKNOWN
from atento.errors import InputError

TEXTS = ["manducar\tV.PTCP;PST;MASC;SG", "ser\tV;COND;3;SG", "casa\tN|PL", "rojo\tADJ, FEM  PL"]


def learned(asked="auto"):
    return learn_source(asked, TEXTS, size=100, least_count=1)


@pytest.mark.spec("K05")
def test_the_lemma_by_letters_the_features_whole():
    vocabulary, level, reason = learned()
    numbers = vocabulary.encode("ser\tV;COND;3;SG")
    assert level == "char"
    assert "11 of them are features" in reason  # V.PTCP PST MASC SG V COND 3 N PL ADJ FEM
    assert vocabulary.tokens(numbers) == ["s", "e", "r", "V", "COND", "3", "SG"]
    assert all(len(SPECIAL_TOKENS) <= number < len(vocabulary) for number in numbers)
    assert vocabulary.decode(numbers) == "ser\tV;COND;3;SG"
    assert len(vocabulary) == len(SPECIAL_TOKENS) + len(set("manducarsercasarojo")) + 11


def test_a_letter_and_a_feature_of_the_same_name_differ():
    vocabulary = learn_source("char", ["3V\t3;V"], size=100, least_count=1).vocabulary
    assert len(set(vocabulary.encode("3V\t3;V"))) == 4


def test_what_was_never_seen_is_unknown():
    vocabulary = learned().vocabulary
    assert vocabulary.encode("ser\tV;DUAL")[-1] == UNKNOWN
    assert vocabulary.decode(vocabulary.encode("ser\tDUAL")) == "ser"
    assert vocabulary.encode("ser") == vocabulary.encode("ser\t")


@pytest.mark.parametrize("text", TEXTS)
def test_offsets_point_at_tokens_and_features(text):
    vocabulary = learned().vocabulary
    assert [text[start:end] for start, end in vocabulary.offsets(text)] == vocabulary.tokens(vocabulary.encode(text))


def test_a_saved_vocabulary_is_the_same():
    vocabulary = learned().vocabulary
    again = load_vocabulary(json.loads(json.dumps(vocabulary.to_json())))
    assert [again.encode(text) for text in TEXTS] == [vocabulary.encode(text) for text in TEXTS]
    assert len(again) == len(vocabulary)


@pytest.mark.parametrize("broken", [{"features": [1]}, {"features": None}, {"text": {"level": "featured"}}])
def test_a_broken_one_is_refused(broken):
    with pytest.raises(InputError, match="not a vocabulary"):
        load_vocabulary({**learned().vocabulary.to_json(), **broken})
    with pytest.raises(InputError, match="twice"):
        FeaturedVocabulary(Characters("a"), ["PL", "PL"])


def test_few_tabs_make_no_features():
    assert learn_source("char", ["a\tb", "c", "d"], size=100, least_count=1).level == "char"
    assert not isinstance(
        learn_source("char", ["a\tb", "c", "d"], size=100, least_count=1).vocabulary, FeaturedVocabulary
    )


def test_the_commonest_feature_first_and_rare_ones_left_out():
    assert split_features("rojo\tADJ, FEM  PL") == ("rojo", ["ADJ", "FEM", "PL"])
    assert common_features(["a\tX;Y", "b\tY;Z", "c\tY;Z;W"], least_count=2) == ["Y", "Z"]
