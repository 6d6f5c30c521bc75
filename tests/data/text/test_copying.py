"""Which source tokens can be copied, by vocabularies written out."""

import pytest

from atento.data.text.copying import copied_tokens
from atento.data.text.levels import FeaturedVocabulary
from atento.data.text.subwords import Subwords
from atento.data.text.vocabulary import Characters, Words

NONE = [-1] * 4  # padding, the unknown token, start and end


def test_tokens_of_the_same_text_are_copied():
    assert list(copied_tokens(Characters("abc"), Characters("cxa"))) == [*NONE, 6, -1, 4]


def test_features_are_not_copied_even_where_a_token_is_written_alike():
    source = FeaturedVocabulary(Characters("ab"), ["a", "V"])
    assert list(copied_tokens(source, Characters("ba"))) == [*NONE, 5, 4, -1, -1]


def test_punctuation_is_copied_with_its_joiners():
    assert list(copied_tokens(Words(["one", "￭,", ","]), Words([",", "one"]))) == [*NONE, 5, -1, 4]


def test_subwords_keep_the_sign_that_begins_a_word():
    pytest.importorskip("tokenizers")
    source, target = (Subwords.learn(texts * 9, size=40, least_count=1) for texts in (["ab ab cab"], ["cab ab"]))
    found = copied_tokens(source, target)
    assert len(found) == len(source)
    pairs = [(at, to) for at, to in enumerate(found) if to >= 0]
    assert len(pairs) > 3
    assert all(source.tokens([at]) == target.tokens([to]) for at, to in pairs)
