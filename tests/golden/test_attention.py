"""Attention worked on paper."""

import math

import pytest
import torch

from atento.attention import Attention, Dot, Everything, Similarity, Softmax


def test_apple_and_a_neighbour_at_45_degrees():
    """On vectors of length one the product is the cosine: softmax of 1 and .7071."""
    items = torch.tensor([[1.0, 0.0], [math.cos(math.pi / 4), math.sin(math.pi / 4)]])
    attention = Attention(Dot(), Softmax(), Everything())
    weights = attention.weights(items[:1], items)
    assert [round(weight, 3) for weight in weights[0].tolist()] == [0.573, 0.427]
    context = attention(items[:1], items, items)
    assert [round(number, 4) for number in context[0].tolist()] == [0.8748, 0.3021]


@pytest.mark.spec("A01")
def test_the_cosine_does_not_ask_how_long_the_words_are():
    items = torch.tensor([[5.0, 0.0], [2.0 * math.cos(math.pi / 4), 2.0 * math.sin(math.pi / 4)]])
    weights = Attention(Similarity(), Softmax(), Everything()).weights(items[:1], items)
    assert [round(weight, 3) for weight in weights[0].tolist()] == [0.573, 0.427]
