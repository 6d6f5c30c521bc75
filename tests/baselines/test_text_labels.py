"""Bags by hand and against scikit-learn's; what a bag of words cannot tell apart and a bag of n-grams can."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from atento.baselines.text_labels import Bag
from atento.errors import InputError

LIKED_IT = "sí, no me gustó mucho, la vi completa"
LIKED_IT_NOT = "sí, me gustó mucho, no la vi completa"

TEXTS = [
    "the cat sat on the mat , the mat was flat .",
    "a dog barks at the cat",
    "",
    "the the the",
    "Nothing like THE others !",
]


def rows(bag, texts):
    return bag.transform(texts).toarray().tolist()


@pytest.mark.spec("B01")
def test_presence_and_frequency_by_hand():
    text = ["hola hola cómo estás"]
    presence, frequency = Bag().fit(text), Bag(weigh="frequency").fit(text)
    assert presence.terms == ["hola", "cómo", "estás"]
    assert rows(presence, text) == [[1, 1, 1]]
    assert rows(frequency, text) == [[0.5, 0.25, 0.25]]


@pytest.mark.spec("B01")
def test_only_the_most_frequent_words_are_kept():
    """b four times, a and c twice each, d once: a comes before c. Words left out still dilute a frequency."""
    texts = ["b b c", "b a d", "a b c"]
    assert Bag(most=2).fit(texts).terms == ["b", "a"]
    assert rows(Bag(most=2).fit(texts), texts) == [[1, 0], [1, 1], [1, 1]]
    assert rows(Bag(most=2, weigh="frequency").fit(texts), ["b b c a", "d e"]) == [[0.5, 0.25], [0, 0]]
    many = [" ".join(f"w{number}" for number in range(11_000))]
    assert len(Bag().fit(many).terms) == 10_000


@pytest.mark.spec("B02")
def test_n_grams_tell_apart_what_words_cannot():
    texts = [LIKED_IT, LIKED_IT_NOT]
    for weigh in ("presence", "frequency", "tf-idf"):
        same, other = rows(Bag(weigh=weigh).fit(texts), texts)
        assert same == other
        with_pairs = Bag(longest=2, weigh=weigh).fit(texts)
        same, other = rows(with_pairs, texts)
        assert same != other
    told = list(zip(with_pairs.terms, same, other, strict=True))
    assert {term for term, first, second in told if first and not second} == {"no me", ", la"}
    assert {term for term, first, second in told if second and not first} == {"no la", ", me"}


@pytest.mark.spec("B02")
def test_runs_of_one_to_three_words():
    assert list(Bag(longest=3).cut("no me gustó")) == ["no", "me", "gustó", "no me", "me gustó", "no me gustó"]
    assert list(Bag(longest=3).cut("no")) == ["no"]


@pytest.mark.spec("B01", "B02")
@pytest.mark.parametrize("longest", [1, 2, 3])
@pytest.mark.parametrize(
    "weigh, theirs",
    [("presence", lambda **options: CountVectorizer(binary=True, **options)), ("tf-idf", TfidfVectorizer)],
    ids=["presence", "tf-idf"],
)
def test_equal_to_scikit_learn(longest, weigh, theirs):
    ours = Bag(longest=longest, weigh=weigh).fit(TEXTS)
    other = theirs(ngram_range=(1, longest), token_pattern=r"\w+|[^\w\s]").fit(TEXTS)
    assert set(ours.terms) == set(other.get_feature_names_out())
    order = [other.vocabulary_[term] for term in ours.terms]
    asked = [*TEXTS, "the unknown cat"]
    expected = other.transform(asked).toarray()[:, order]
    np.testing.assert_allclose(ours.transform(asked).toarray(), expected, atol=1e-12)


def test_tokens_may_be_given_as_they_are():
    letters = Bag(longest=2).fit([list("GATTACA")])
    assert letters.terms[:2] == ["A", "T"]
    assert "T T" in letters.terms
    assert rows(Bag().fit([["New York", "new"]]), [["new"], []]) == [[0, 1], [0, 0]]


def test_an_empty_text_is_an_empty_bag():
    for weigh in ("presence", "frequency", "tf-idf"):
        assert rows(Bag(weigh=weigh).fit(["a"]), ["", "zzz"]) == [[0], [0]]
    assert Bag().fit(["", ""]).transform(["x"]).shape == (1, 0)


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: Bag(longest=0), "longest=0"),
        (lambda: Bag(most=0), "most=0"),
        (lambda: Bag(weigh="tfidf"), "did you mean 'tf-idf'"),
        (lambda: Bag().transform(["a"]), "before fit"),
        (lambda: Bag().terms, "before fit"),
    ],
)
def test_what_cannot_be_counted_is_refused(make, found):
    with pytest.raises(InputError, match=found):
        make()


def test_strings_without_words_are_cut_into_characters():
    strings = ["ACGT", "ACcA", "GG"]
    letters = Bag().fit(strings)
    assert letters.wordless
    assert letters.terms == ["A", "G", "C", "T", "c"], "as they are written"
    assert str(letters) == "a bag of characters (presence)"
    runs = Bag(longest=2).fit(strings)
    assert str(runs) == "a bag of 1 to 6 characters (presence)"
    theirs = CountVectorizer(analyzer="char", ngram_range=(1, 6), lowercase=False, binary=True).fit(strings)
    assert set(runs.terms) == set(theirs.get_feature_names_out())
    order = [runs.columns[term] for term in theirs.get_feature_names_out()]
    np.testing.assert_array_equal(runs.transform(strings).toarray()[:, order], theirs.transform(strings).toarray())
    assert not Bag().fit(["one two", "three"]).wordless
    assert not Bag().fit([["A"], ["C"]]).wordless
    assert not Bag().fit(["", ""]).wordless
