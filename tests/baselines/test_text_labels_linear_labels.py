"""Linear models over bags: what they must learn, and equal to scikit-learn's own pipeline."""

import random

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from atento.baselines.text_labels import Bag, LinearLabels, LinearLabelSets
from atento.errors import InputError

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
    for longest in (1, 2):
        answers = LinearLabels(Bag(longest=longest), name="linear").fit(texts, labels).predict(asked)
        right[longest] = sum(answer == label for answer, label in zip(answers, truth, strict=True)) / len(truth)
    assert right[2] > 0.97
    assert right[1] < 0.8


@pytest.mark.spec("B01")
def test_a_bag_of_words_learns_a_word_and_equals_scikit_learn():
    texts, _, topics = some_reviews(200, seed=0)
    asked, _, wanted = some_reviews(100, seed=1)
    held, truth = (["with" if "film" in labels else "without" for labels in part] for part in (topics, wanted))
    ours = LinearLabels(Bag(), name="linear").fit(texts, held).predict(asked)
    assert ours == truth
    vectoriser = CountVectorizer(binary=True, token_pattern=r"\w+|[^\w\s]")
    theirs = make_pipeline(vectoriser, LogisticRegression(C=10, max_iter=1000)).fit(texts, held)
    assert ours == theirs.predict(asked).tolist()


@pytest.mark.spec("L04")
def test_a_model_for_each_label_equals_scikit_learn_s_one_against_the_rest():
    texts, _, topics = some_reviews(200, seed=0)
    asked, _, truth = some_reviews(100, seed=1)
    answers = LinearLabelSets(Bag(), name="linear").fit(texts, topics).predict(asked)
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
    answer = LinearLabelSets(Bag(), name="linear").fit(texts, labels).predict(["x", "y", ""])
    assert answer[0] == ["a", "b"]
    assert answer[1] == ["c"]


def test_where_nothing_tells_labels_apart_the_usual_one_is_answered():
    assert LinearLabels(Bag(), name="linear").fit(["", "", ""], ["a", "b", "b"]).predict(["x", ""]) == ["b", "b"]
    assert LinearLabels(Bag(), name="linear").fit(["x", "y"], ["a", "a"]).predict(["x"]) == ["a"]
    sets = LinearLabelSets(Bag(), name="linear").fit(["x", "y", "z"], [["a"], ["a", "b"], ["a"]])
    assert [labels[:1] for labels in sets.predict(["x", "q"])] == [["a"], ["a"]]
    assert LinearLabelSets(Bag(), name="linear").fit(["", "", ""], [["b"], ["b"], []]).predict(["x"]) == [["b"]]
    assert LinearLabelSets(Bag(), name="linear").fit(["x"], [[]]).predict(["x", "y"]) == [[], []]


@pytest.mark.parametrize("freedom", [0, -1.0, float("nan")])
def test_freedom_is_more_than_none(freedom):
    for kind in (LinearLabels, LinearLabelSets):
        with pytest.raises(InputError, match="freedom"):
            kind(Bag(), name="linear", freedom=freedom)


def test_a_ranking_holds_every_label_and_begins_with_those_said():
    texts, labels = ["x"] * 9 + ["y"] * 9, [["a", "b"]] * 5 + [["a"]] * 4 + [["c"]] * 8 + [["b"]]
    model = LinearLabelSets(Bag(), name="linear").fit(texts, labels)
    for said, ranked in model.rank(["x", "y"]):
        assert sorted(ranked) == ["a", "b", "c"]
        assert ranked[: len(said)] == said
    assert [said for said, _ in model.rank(["x", "y"])] == model.predict(["x", "y"])
