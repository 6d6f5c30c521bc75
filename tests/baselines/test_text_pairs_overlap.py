"""Word overlap: counts by hand, scikit-learn's cosine, and a word of denial that no list holds."""

import random

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from atento.baselines.text_pairs import Overlap, counts_of, one_sided
from atento.errors import InputError

WORDS = ["casa", "perro", "gato", "río", "sol", "pan", "luz", "mar", "pez", "flor"]


def some_pairs(count, seed):
    """The second text repeats the first (sí), says it with the made-up denial `nox` (no), or is another (quién)."""
    chance = random.Random(seed)
    sources, labels = [], []
    for _ in range(count):
        first = chance.sample(WORDS, 5)
        label = chance.choice(["sí", "no", "quién"])
        second = first[:-1] if label != "quién" else chance.sample([word for word in WORDS if word not in first], 4)
        second = [*second, "nox"] if label == "no" else second
        chance.shuffle(second)
        sources.append(f"{' '.join(first)}\t{' '.join(second)}")
        labels.append(label)
    return sources, labels


@pytest.mark.spec("K09", "B02")
def test_overlap_and_a_denial_that_no_list_holds_are_learned():
    model = Overlap().fit(*some_pairs(200, seed=0))
    asked, truth = some_pairs(100, seed=1)
    answers = model.predict(asked)
    assert sum(answer == label for answer, label in zip(answers, truth, strict=True)) >= 98
    weights = dict(zip(model.model.classes_, model.model.coef_, strict=True))["no"]
    second_only = weights[9 + len(model.words) :]
    assert list(model.words)[second_only.argmax()] == "nox"
    assert second_only.max() > 0.5


def test_counts_are_those_of_a_person():
    assert one_sided("El perro come pan", "el gato come") == (["pan", "perro"], ["gato"])
    # shared: el, come; only here: perro, pan; only there: gato
    assert counts_of("El perro come pan", "el gato come") == [2 / 4, 2 / 3, 2 / 5, 2, 2, 1, 1, 1]
    assert counts_of("", "") == [0, 0, 0, 0, 0, 0, 0, 0]


def test_the_cosine_is_scikit_learn_s():
    sources, labels = some_pairs(60, seed=0)
    model = Overlap().fit(sources, labels)
    pairs = [tuple(source.split("\t")) for source in sources]
    theirs = TfidfVectorizer(token_pattern=r"\w+").fit([text for pair in pairs for text in pair])
    firsts, seconds = (theirs.transform(side) for side in zip(*pairs, strict=True))
    expected = (firsts.toarray() * seconds.toarray()).sum(axis=1)
    assert model.overlaps(pairs)[:, 8] == pytest.approx(expected)


def test_a_text_alone_and_labels_all_alike():
    assert Overlap().fit(["a\tb", "c\td"], ["x", "x"]).predict(["e\tf"]) == ["x"]
    assert Overlap().fit(["a b", "c", "a"], ["x", "y", "x"]).predict(["a", ""])[0] == "x"
    with pytest.raises(InputError, match="freedom"):
        Overlap(freedom=0)
