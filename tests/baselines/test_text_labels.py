"""Bags of words and n-grams, their linear models and word overlap, by hand and against scikit-learn."""

import random

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from atento.baselines import BagClassifier, BagMultiLabel, BagOfWords, WordOverlap, text_labels
from atento.baselines.word_overlap import one_sided_words, overlap_counts
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
    presence, frequency = BagOfWords().fit(text), BagOfWords(weighting="frequency").fit(text)
    assert presence.terms == ["hola", "cómo", "estás"]
    assert rows(presence, text) == [[1, 1, 1]]
    assert rows(frequency, text) == [[0.5, 0.25, 0.25]]


@pytest.mark.spec("B01")
def test_only_the_most_frequent_words_are_kept():
    """b four times, a and c twice each, d once: a comes before c. Words left out still dilute a frequency."""
    texts = ["b b c", "b a d", "a b c"]
    assert BagOfWords(max_terms=2).fit(texts).terms == ["b", "a"]
    assert rows(BagOfWords(max_terms=2).fit(texts), texts) == [[1, 0], [1, 1], [1, 1]]
    assert rows(BagOfWords(max_terms=2, weighting="frequency").fit(texts), ["b b c a", "d e"]) == [[0.5, 0.25], [0, 0]]
    many = [" ".join(f"w{number}" for number in range(11_000))]
    assert len(BagOfWords().fit(many).terms) == 10_000


@pytest.mark.spec("B02")
def test_n_grams_tell_apart_what_words_cannot():
    texts = [LIKED_IT, LIKED_IT_NOT]
    for weighting in ("presence", "frequency", "tf-idf"):
        same, other = rows(BagOfWords(weighting=weighting).fit(texts), texts)
        assert same == other
        with_pairs = BagOfWords(max_n=2, weighting=weighting).fit(texts)
        same, other = rows(with_pairs, texts)
        assert same != other
    told = list(zip(with_pairs.terms, same, other, strict=True))
    assert {term for term, first, second in told if first and not second} == {"no me", ", la"}
    assert {term for term, first, second in told if second and not first} == {"no la", ", me"}


@pytest.mark.spec("B02")
def test_runs_of_one_to_three_words():
    assert list(BagOfWords(max_n=3).ngrams("no me gustó")) == ["no", "me", "gustó", "no me", "me gustó", "no me gustó"]
    assert list(BagOfWords(max_n=3).ngrams("no")) == ["no"]


@pytest.mark.spec("B01", "B02")
@pytest.mark.parametrize("max_n", [1, 2, 3])
@pytest.mark.parametrize(
    "weighting, theirs",
    [("presence", lambda **options: CountVectorizer(binary=True, **options)), ("tf-idf", TfidfVectorizer)],
    ids=["presence", "tf-idf"],
)
def test_equal_to_scikit_learn(max_n, weighting, theirs):
    ours = BagOfWords(max_n=max_n, weighting=weighting).fit(TEXTS)
    other = theirs(ngram_range=(1, max_n), token_pattern=r"\w+|[^\w\s]").fit(TEXTS)
    assert set(ours.terms) == set(other.get_feature_names_out())
    order = [other.vocabulary_[term] for term in ours.terms]
    asked = [*TEXTS, "the unknown cat"]
    expected = other.transform(asked).toarray()[:, order]
    np.testing.assert_allclose(ours.transform(asked).toarray(), expected, atol=1e-12)


def test_tokens_may_be_given_as_they_are():
    letters = BagOfWords(max_n=2).fit([list("GATTACA")])
    assert letters.terms[:2] == ["A", "T"]
    assert "T T" in letters.terms
    assert rows(BagOfWords().fit([["New York", "new"]]), [["new"], []]) == [[0, 1], [0, 0]]


def test_an_empty_text_is_an_empty_bag():
    for weighting in ("presence", "frequency", "tf-idf"):
        assert rows(BagOfWords(weighting=weighting).fit(["a"]), ["", "zzz"]) == [[0], [0]]
    assert BagOfWords().fit(["", ""]).transform(["x"]).shape == (1, 0)


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: BagOfWords(max_n=0), "max_n=0"),
        (lambda: BagOfWords(max_terms=0), "max_terms=0"),
        (lambda: BagOfWords(weighting="tfidf"), "did you mean 'tf-idf'"),
        (lambda: BagOfWords().transform(["a"]), "before fit"),
        (lambda: BagOfWords().terms, "before fit"),
    ],
)
def test_what_cannot_be_counted_is_refused(make, found):
    with pytest.raises(InputError, match=found):
        make()


def test_strings_without_words_are_cut_into_characters():
    strings = ["ACGT", "ACcA", "GG"]
    letters = BagOfWords().fit(strings)
    assert letters.by_character
    assert letters.terms == ["A", "G", "C", "T", "c"], "as they are written"
    assert str(letters) == "a bag of characters (presence)"
    runs = BagOfWords(max_n=2).fit(strings)
    assert str(runs) == "a bag of 1 to 6 characters (presence)"
    theirs = CountVectorizer(analyzer="char", ngram_range=(1, 6), lowercase=False, binary=True).fit(strings)
    assert set(runs.terms) == set(theirs.get_feature_names_out())
    order = [runs.columns[term] for term in theirs.get_feature_names_out()]
    np.testing.assert_array_equal(runs.transform(strings).toarray()[:, order], theirs.transform(strings).toarray())
    assert not BagOfWords().fit(["one two", "three"]).by_character
    assert not BagOfWords().fit([["A"], ["C"]]).by_character
    assert not BagOfWords().fit(["", ""]).by_character


WORDS = ["good", "bad", "film", "plot", "not", "very", "the", "a", "seen", "again"]


def some_reviews(count, seed):
    """`good` speaks for, `bad` against, `not` turns the word after it round."""
    chance = random.Random(seed)
    texts, labels, topics = [], [], []
    for _ in range(count):
        words = chance.choices(WORDS[2:4] + WORDS[6:], k=chance.randint(2, 6))
        turned = chance.random() < 0.5
        told = chance.choice(["good", "bad"])
        at = chance.randint(0, len(words))
        words[at:at] = ["not", told] if turned else [told]
        words += [] if turned else ["not", "seen"]  # `not` is in every text: alone it says nothing
        texts.append(" ".join(words))
        labels.append("pos" if (told == "good") != turned else "neg")
        topics.append([word for word in ("film", "plot") if word in words])
    return texts, labels, topics


@pytest.mark.spec("B02")
def test_pairs_of_words_learn_what_single_words_cannot():
    texts, labels, _ = some_reviews(300, seed=0)
    asked, truth, _ = some_reviews(200, seed=1)
    right = {}
    for max_n in (1, 2):
        answers = BagClassifier(BagOfWords(max_n=max_n), name="linear").fit(texts, labels).predict(asked)
        right[max_n] = sum(answer == label for answer, label in zip(answers, truth, strict=True)) / len(truth)
    assert right[2] > 0.97
    assert right[1] < 0.8


@pytest.mark.spec("B01")
def test_a_bag_of_words_learns_a_word_and_equals_scikit_learn():
    texts, _, topics = some_reviews(200, seed=0)
    asked, _, wanted = some_reviews(100, seed=1)
    held, truth = (["with" if "film" in labels else "without" for labels in part] for part in (topics, wanted))
    ours = BagClassifier(BagOfWords(), name="linear").fit(texts, held).predict(asked)
    assert ours == truth
    vectoriser = CountVectorizer(binary=True, token_pattern=r"\w+|[^\w\s]")
    theirs = make_pipeline(vectoriser, LogisticRegression(C=10, max_iter=1000)).fit(texts, held)
    assert ours == theirs.predict(asked).tolist()


@pytest.mark.spec("L04")
def test_a_model_for_each_label_equals_scikit_learn_s_one_against_the_rest():
    texts, _, topics = some_reviews(200, seed=0)
    asked, _, truth = some_reviews(100, seed=1)
    answers = BagMultiLabel(BagOfWords(), name="linear").fit(texts, topics).predict(asked)
    assert [sorted(answer) for answer in answers] == truth
    vectoriser = CountVectorizer(binary=True, token_pattern=r"\w+|[^\w\s]")
    each = OneVsRestClassifier(LogisticRegression(C=10, max_iter=1000, class_weight="balanced"))
    theirs = make_pipeline(vectoriser, each).fit(texts, [["film" in case, "plot" in case] for case in topics])
    expected = [
        [label for label, yes in zip(("film", "plot"), row, strict=True) if yes] for row in theirs.predict(asked)
    ]
    assert [sorted(answer) for answer in answers] == expected


def test_label_sets_are_answered_likeliest_first():
    texts = ["x"] * 9 + ["y"] * 9
    labels = [["a", "b"]] * 5 + [["a"]] * 4 + [["c"]] * 8 + [["b"]]
    answer = BagMultiLabel(BagOfWords(), name="linear").fit(texts, labels).predict(["x", "y", ""])
    assert answer[0] == ["a", "b"]
    assert answer[1] == ["c"]


def test_where_nothing_tells_labels_apart_the_usual_one_is_answered():
    assert BagClassifier(BagOfWords(), name="linear").fit(["", "", ""], ["a", "b", "b"]).predict(["x", ""]) == [
        "b",
        "b",
    ]
    assert BagClassifier(BagOfWords(), name="linear").fit(["x", "y"], ["a", "a"]).predict(["x"]) == ["a"]
    sets = BagMultiLabel(BagOfWords(), name="linear").fit(["x", "y", "z"], [["a"], ["a", "b"], ["a"]])
    assert [labels[:1] for labels in sets.predict(["x", "q"])] == [["a"], ["a"]]
    assert BagMultiLabel(BagOfWords(), name="linear").fit(["", "", ""], [["b"], ["b"], []]).predict(["x"]) == [["b"]]
    assert BagMultiLabel(BagOfWords(), name="linear").fit(["x"], [[]]).predict(["x", "y"]) == [[], []]


@pytest.mark.parametrize("inverse_penalty", [0, -1.0, float("nan")])
def test_inverse_penalty_is_more_than_none(inverse_penalty):
    for kind in (BagClassifier, BagMultiLabel):
        with pytest.raises(InputError, match="inverse_penalty"):
            kind(BagOfWords(), name="linear", inverse_penalty=inverse_penalty)


def test_a_ranking_holds_every_label_and_begins_with_those_said():
    texts, labels = ["x"] * 9 + ["y"] * 9, [["a", "b"]] * 5 + [["a"]] * 4 + [["c"]] * 8 + [["b"]]
    model = BagMultiLabel(BagOfWords(), name="linear").fit(texts, labels)
    for said, ranked in model.rank(["x", "y"]):
        assert sorted(ranked) == ["a", "b", "c"]
        assert ranked[: len(said)] == said
    assert [said for said, _ in model.rank(["x", "y"])] == model.predict(["x", "y"])


TWO_TEXT_WORDS = ["casa", "perro", "gato", "río", "sol", "pan", "luz", "mar", "pez", "flor"]


def some_pairs(count, seed):
    """The second text repeats the first (sí), says it with the made-up denial `nox` (no), or is another (quién)."""
    chance = random.Random(seed)
    sources, labels = [], []
    for _ in range(count):
        first = chance.sample(TWO_TEXT_WORDS, 5)
        label = chance.choice(["sí", "no", "quién"])
        second = (
            first[:-1] if label != "quién" else chance.sample([word for word in TWO_TEXT_WORDS if word not in first], 4)
        )
        second = [*second, "nox"] if label == "no" else second
        chance.shuffle(second)
        sources.append(f"{' '.join(first)}\t{' '.join(second)}")
        labels.append(label)
    return sources, labels


@pytest.mark.spec("K09", "B02")
def test_overlap_and_a_denial_that_no_list_holds_are_learned():
    model = WordOverlap().fit(*some_pairs(200, seed=0))
    asked, truth = some_pairs(100, seed=1)
    answers = model.predict(asked)
    assert sum(answer == label for answer, label in zip(answers, truth, strict=True)) >= 98
    weights = dict(zip(model.model.classes, model.model.weights, strict=True))["no"]
    second_only = weights[9 + len(model.words) :]
    assert list(model.words)[second_only.argmax()] == "nox"
    assert second_only.max() > 0.5


def test_counts_are_those_of_a_person():
    assert one_sided_words("El perro come pan", "el gato come") == (["pan", "perro"], ["gato"])
    # shared: el, come; only here: perro, pan; only there: gato
    assert overlap_counts("El perro come pan", "el gato come") == [2 / 4, 2 / 3, 2 / 5, 2, 2, 1, 1, 1]
    assert overlap_counts("", "") == [0, 0, 0, 0, 0, 0, 0, 0]


def test_the_cosine_is_scikit_learn_s():
    sources, labels = some_pairs(60, seed=0)
    model = WordOverlap().fit(sources, labels)
    pairs = [tuple(source.split("\t")) for source in sources]
    theirs = TfidfVectorizer(token_pattern=r"\w+").fit([text for pair in pairs for text in pair])
    firsts, seconds = (theirs.transform(side) for side in zip(*pairs, strict=True))
    expected = (firsts.toarray() * seconds.toarray()).sum(axis=1)
    assert model.overlaps(pairs)[:, 8] == pytest.approx(expected)


def test_a_text_alone_and_labels_all_alike():
    assert WordOverlap().fit(["a\tb", "c\td"], ["x", "x"]).predict(["e\tf"]) == ["x"]
    assert WordOverlap().fit(["a b", "c", "a"], ["x", "y", "x"]).predict(["a", ""])[0] == "x"
    with pytest.raises(InputError, match="inverse_penalty"):
        WordOverlap(inverse_penalty=0)


def test_of_very_many_labels_the_most_frequent_are_learned(monkeypatch):
    """Two of three labels may have weights; the third is as probable as it is frequent."""
    monkeypatch.setattr(text_labels, "MOST_WEIGHTS", 2 * 4 + 1)
    texts, sets = ["red fox", "red dog", "big fox", "big dog"] * 2, [["r", "x"], ["r"], ["x"], ["d"]] * 2
    fitted = BagMultiLabel(BagOfWords(), name="few").fit(texts, sets)
    assert [label for label, model in fitted.models.items() if model is not None] == ["r", "x"]
    assert fitted.summary.endswith("of the 2 most frequent of 3")
    (given,) = fitted.probabilities(["red fox"])
    assert given["d"] == 0.25 and min(given["r"], given["x"]) > 0.5
    assert fitted.rank(["red fox"])[0][1][-1] == "d" and sorted(fitted.predict(["red fox"])[0]) == ["r", "x"]
