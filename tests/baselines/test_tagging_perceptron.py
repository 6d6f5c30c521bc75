"""The averaged perceptron: its averaging against the plain mean of all weights, and what it learns."""

import random

import numpy as np
import pytest

from atento.baselines.frequent import MostFrequentTag
from atento.baselines.tagging import Perceptron, shape_of, templates
from atento.data.builtin.language import grammar_sentence
from atento.errors import InputError


def sentences(count, seed):
    chance = random.Random(seed)
    pairs = [grammar_sentence(chance) for _ in range(count)]
    return [source.split("\t") for source, _ in pairs], [target.split("\t") for _, target in pairs]


def slowly(words, tags, passes, seed):
    """The same perceptron as the book has it: dictionaries of features, and the mean of all weights that ever were."""
    known = [tag for tag in dict.fromkeys(tag for row in tags for tag in row)]
    counts = {tag: sum(row.count(tag) for row in tags) for tag in known}
    known.sort(key=lambda tag: -counts[tag])
    weights, total, steps = {}, {}, 0
    order, chance = list(range(len(words))), random.Random(seed)
    for _ in range(passes):
        chance.shuffle(order)
        for place in order:
            before = earlier = None
            for at, named in enumerate(templates(words[place])):
                features = {*named, ("t", before), ("u", before, earlier), ("v", before, words[place][at].lower())}
                scores = [sum(weights.get((one, tag), 0.0) for one in features) for tag in known]
                guess, right = known[int(np.argmax(scores))], tags[place][at]
                for key, weight in weights.items():
                    total[key] = total.get(key, 0.0) + weight  # as they were at this step
                steps += 1
                if guess != right:
                    for one in features:
                        weights[one, right] = weights.get((one, right), 0.0) + 1
                        weights[one, guess] = weights.get((one, guess), 0.0) - 1
                before, earlier = guess, before
    return known, weights, total, steps


@pytest.mark.spec("B04", "K04")
def test_its_weights_are_the_mean_of_all_that_ever_were():
    words, tags = sentences(11, seed=0)
    model = Perceptron(passes=2, seed=3).fit(words, tags)
    known, weights, total, steps = slowly(words, tags, 2, 3)
    assert model.tags == known
    for (feature, tag), last in weights.items():
        if isinstance(feature, str):
            mine = model.weights[model.features[feature], known.index(tag)]
            mean = (total.get((feature, tag), 0.0) + last) / steps  # a correction counts from its own step on
            assert mine == pytest.approx(mean, abs=1e-5), (feature, tag)


@pytest.mark.spec("B04", "K04")
def test_it_learns_what_the_words_around_tell():
    words, tags = sentences(300, seed=1)
    asked, truth = sentences(100, seed=2)

    def share(model):
        said = model.fit(words, tags).predict(asked)
        right = [
            one == other for row, true in zip(said, truth, strict=True) for one, other in zip(row, true, strict=True)
        ]
        return sum(right) / len(right)

    assert share(Perceptron()) > 0.97 > 0.9 > share(MostFrequentTag())


def test_seeds_decide_the_order_alone():
    words, tags = sentences(20, seed=0)
    one, again, other = (Perceptron(seed=seed).fit(words, tags).weights for seed in (0, 0, 1))
    assert np.array_equal(one, again) and not np.array_equal(one, other)


@pytest.mark.spec("K04")
def test_features_of_a_word():
    assert shape_of("McDonald-7") == "XxXx-d" and shape_of("") == ""
    first, last = templates(["Go", "home"])
    assert len(first) == 17 and len({feature[0] for feature in first}) == 17
    assert {"bGo", "cgo", "k<s1>", "l<s2>", "mhome", "n</s1>"} <= set(first)
    assert {"fome", "jx", "kgo", "m</s1>", "qXx x </xd>"} <= set(last)


def test_passes_are_counted():
    with pytest.raises(InputError, match="passes=0"):
        Perceptron(passes=0)
