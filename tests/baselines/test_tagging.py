"""A network that sees one step at a time: what one step tells it learns, and nothing more."""

import random

import pytest
import torch

from atento.baselines.tagging import EachStep
from atento.errors import InputError


@pytest.mark.spec("B03")
def test_it_answers_a_token_alike_wherever_it_stands():
    chance = random.Random(0)
    rows = [chance.choices("abcd", k=7) for _ in range(40)]
    tags = [[str(at) for at in range(7)] for _ in rows]  # what cannot be seen from one step
    answers = EachStep().fit(rows, tags).predict([list("abcdabc"), list("a")])
    assert answers[0][:3] == answers[0][4:]
    assert answers[0][0] == answers[1][0]


@pytest.mark.spec("B03")
def test_a_bend_between_two_layers():
    """Exclusive or of two numbers of the same step: no linear model could."""
    chance = random.Random(0)
    frames = [[[chance.choice([-1.0, 1.0]), chance.choice([-1.0, 1.0])] for _ in range(5)] for _ in range(60)]
    tags = [["same" if first == second else "other" for first, second in row] for row in frames]
    asked = [[[1.0, -1.0], [1.0, 1.0]], [[-1.0, -1.0]], [], [[-1.0, 1.0]]]
    assert EachStep().fit(frames, tags).predict(asked) == [["other", "same"], ["same"], [], ["other"]]


def test_tokens_met_once_teach_what_to_expect_of_unknown_ones():
    rows = [["the", name] for name in ("ann", "bob", "cid", "dan", "eve")] * 1 + [["the", "the"]] * 5
    tags = [["DET", "NAME"]] * 5 + [["DET", "DET"]] * 5
    assert EachStep().fit(rows, tags).predict([["the", "zoe"]]) == [["DET", "NAME"]]


def test_the_same_seed_gives_the_same_network():
    rows, tags = [list("abca"), list("bc")] * 3, [list("xyxy"), list("yx")] * 3
    first, second, other = (EachStep(seed=seed).fit(rows, tags).network for seed in (0, 0, 1))
    weights = [next(network.parameters()) for network in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: EachStep(hidden_size=0), "hidden_size=0"),
        (lambda: EachStep().fit([[], []], [[], []]), "empty sequences"),
        (lambda: EachStep().fit([["a", "b"]], [["x"]]), "2 steps and 1 targets"),
        (lambda: EachStep().fit([[[1.0, 2.0], [1.0]]], [["x", "y"]]), r"found: \[1.0\]"),
        (lambda: EachStep().fit([["a", [1.0]]], [["x", "y"]]), r"one token.\n  found: \[1.0\]"),
        (lambda: EachStep().fit([[[1.0], [2.0]]], [["x", "y"]]).predict([["a"]]), "steps of 1 numbers"),
    ],
)
def test_what_cannot_be_learned_is_refused(make, found):
    with pytest.raises(InputError, match=found):
        make()
