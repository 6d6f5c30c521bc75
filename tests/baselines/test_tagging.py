"""A network that sees one step alone; the averaged perceptron against the plain mean of all weights."""

import random

import numpy as np
import pytest
import torch

from atento.baselines import AveragedPerceptron, FeedForwardTagger, MostFrequentTag
from atento.baselines.tagging import templates, word_shape
from atento.data.builtin.language import grammar_sentence
from atento.errors import InputError


@pytest.mark.spec("B03")
def test_it_answers_a_token_alike_wherever_it_stands():
    chance = random.Random(0)
    rows = [chance.choices("abcd", k=7) for _ in range(40)]
    tags = [[str(at) for at in range(7)] for _ in rows]  # what cannot be seen from one step
    answers = FeedForwardTagger().fit(rows, tags).predict([list("abcdabc"), list("a")])
    assert answers[0][:3] == answers[0][4:]
    assert answers[0][0] == answers[1][0]


@pytest.mark.spec("B03")
def test_a_bend_between_two_layers():
    """Exclusive or of two numbers of the same step: no linear model could."""
    chance = random.Random(0)
    frames = [[[chance.choice([-1.0, 1.0]), chance.choice([-1.0, 1.0])] for _ in range(5)] for _ in range(60)]
    tags = [["same" if first == second else "other" for first, second in row] for row in frames]
    asked = [[[1.0, -1.0], [1.0, 1.0]], [[-1.0, -1.0]], [], [[-1.0, 1.0]]]
    assert FeedForwardTagger().fit(frames, tags).predict(asked) == [["other", "same"], ["same"], [], ["other"]]


def test_tokens_met_once_teach_what_to_expect_of_unknown_ones():
    rows = [["the", name] for name in ("ann", "bob", "cid", "dan", "eve")] * 1 + [["the", "the"]] * 5
    tags = [["DET", "NAME"]] * 5 + [["DET", "DET"]] * 5
    assert FeedForwardTagger().fit(rows, tags).predict([["the", "zoe"]]) == [["DET", "NAME"]]


def test_the_same_seed_gives_the_same_network():
    rows, tags = [list("abca"), list("bc")] * 3, [list("xyxy"), list("yx")] * 3
    first, second, other = (FeedForwardTagger(seed=seed).fit(rows, tags).network for seed in (0, 0, 1))
    weights = [next(network.parameters()) for network in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: FeedForwardTagger(hidden_size=0), "hidden_size=0"),
        (lambda: FeedForwardTagger().fit([[], []], [[], []]), "empty sequences"),
        (lambda: FeedForwardTagger().fit([["a", "b"]], [["x"]]), "2 steps and 1 targets"),
        (lambda: FeedForwardTagger().fit([[[1.0, 2.0], [1.0]]], [["x", "y"]]), r"found: \[1.0\]"),
        (lambda: FeedForwardTagger().fit([["a", [1.0]]], [["x", "y"]]), r"one token.\n  found: \[1.0\]"),
        (lambda: FeedForwardTagger().fit([[[1.0], [2.0]]], [["x", "y"]]).predict([["a"]]), "steps of 1 numbers"),
    ],
)
def test_what_cannot_be_learned_is_refused(make, found):
    with pytest.raises(InputError, match=found):
        make()


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
    model = AveragedPerceptron(epochs=2, seed=3).fit(words, tags)
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

    assert share(AveragedPerceptron()) > 0.97 > 0.9 > share(MostFrequentTag())


def test_seeds_decide_the_order_alone():
    words, tags = sentences(20, seed=0)
    one, again, other = (AveragedPerceptron(seed=seed).fit(words, tags).weights for seed in (0, 0, 1))
    assert np.array_equal(one, again) and not np.array_equal(one, other)


@pytest.mark.spec("K04")
def test_features_of_a_word():
    assert word_shape("McDonald-7") == "XxXx-d" and word_shape("") == ""
    first, last = templates(["Go", "home"])
    assert len(first) == 17 and len({feature[0] for feature in first}) == 17
    assert {"bGo", "cgo", "k<s1>", "l<s2>", "mhome", "n</s1>"} <= set(first)
    assert {"fome", "jx", "kgo", "m</s1>", "qXx x </xd>"} <= set(last)


def test_passes_are_counted():
    with pytest.raises(InputError, match="epochs=0"):
        AveragedPerceptron(epochs=0)
