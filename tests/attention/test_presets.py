import math

import pytest
import torch

from atento.attention import (
    Additive,
    Causal,
    Composition,
    Everything,
    ScaledDot,
    Sizes,
    Softmax,
    Sparsemax,
    Window,
    compose,
)
from atento.attention.presets import TABLES
from atento.errors import InputError


def test_names_become_parts_of_the_right_size():
    attention = Composition("additive", "sparsemax", "local").build(Sizes(query=5, key=7, reach=3))
    assert isinstance(attention.score, Additive)
    assert (attention.score.project_query.in_features, attention.score.project_key.in_features) == (5, 7)
    assert isinstance(attention.distribution, Sparsemax)
    assert isinstance(attention.extent, Window)
    assert attention.extent.reach == 3


def test_what_is_left_out_has_its_default():
    assert compose([], default_score="scaled-dot") == ("scaled-dot", "softmax", "everything")
    assert compose(["causal", "general"], default_score="dot") == ("general", "softmax", "causal")
    plain = Composition("scaled-dot").build(Sizes(5, 5))
    assert [type(part) for part in (plain.score, plain.distribution, plain.extent)] == [ScaledDot, Softmax, Everything]
    assert isinstance(Composition("dot", extent="causal").build(Sizes(5, 5)).extent, Causal)


@pytest.mark.spec("A32")
def test_a_kernel_brings_its_distribution():
    assert compose(["performer"], default_score="dot") == ("performer", "proportional", "everything")
    assert compose(["linear", "causal"], default_score="dot") == ("linear", "proportional", "causal")
    assert compose(["proportional", "linear"], default_score="dot") == ("linear", "proportional", "everything")


@pytest.mark.spec("A16")
def test_de_attention_adds_a_distance_to_the_named_score():
    """tanh(q · k) · 2 sigmoid(−mean |q_i − k_i|)."""
    attention = Composition("dot", "de-attention").build(Sizes(3, 3))
    query, key = torch.tensor([[1.0, 2.0, -1.0]]), torch.tensor([[0.5, 0.5, 0.5], [-1.0, 0.0, 2.0]])
    distances = (0.5 + 1.5 + 1.5) / 3, (2.0 + 2.0 + 3.0) / 3
    expected = [math.tanh(1.0) * 2 / (1 + math.exp(distances[0])), math.tanh(-3.0) * 2 / (1 + math.exp(distances[1]))]
    torch.testing.assert_close(attention.weights(query, key), torch.tensor([expected]))


@pytest.mark.parametrize(
    "names, why",
    [
        (["dot", "proportional"], "gives any number"),
        (["proportional"], "gives any number"),
        (["performer", "softmax"], "stands for exp(score) already"),
        (["linear", "hard"], "stands for exp(score) already"),
        (["linear", "de-attention"], "never negative"),
    ],
    ids="+".join,
)
def test_names_with_no_meaning_are_refused_before_anything_is_built(names, why):
    with pytest.raises(InputError) as caught:
        compose(names, default_score="scaled-dot")
    assert why in caught.value.problem


@pytest.mark.spec("A15")
def test_alpha_is_named_or_learned_a_head():
    assert Composition("dot", "entmax").build(Sizes(5, 5, heads=3)).distribution.alpha().shape == (3, 1, 1)
    assert Composition("dot", "entmax").build(Sizes(5, 5, alpha=1.2)).distribution.alpha().item() == pytest.approx(1.2)
    assert Composition("dot", "entmax15").build(Sizes(5, 5, alpha=1.2)).distribution.alpha().item() == 1.5
    with pytest.raises(InputError, match=r"alpha=0\.7"):
        Composition("dot", "entmax").build(Sizes(5, 5, alpha=0.7))


def test_location_has_as_many_places_as_the_longest_sequence():
    assert Composition("location").build(Sizes(5, 7, max_length=11)).score.max_length == 11


def test_a_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'sparsemax'"):
        compose(["sparsmax"], default_score="dot")


@pytest.mark.parametrize("kind", TABLES)
def test_two_of_a_kind_are_refused(kind):
    first, second, *_ = TABLES[kind]
    with pytest.raises(InputError, match=f"one {kind}, not two"):
        compose([first, second], default_score="dot")


def test_no_name_means_two_things():
    names = [name for table in TABLES.values() for name in table]
    assert len(set(names)) == len(names)
    for table in TABLES.values():
        for part in table.values():
            assert part.formula
            assert part.paper
            assert part.cost
