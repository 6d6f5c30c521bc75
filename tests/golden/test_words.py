"""Words as vectors: numbers worked out by hand."""

import math

import pytest
import torch

from atento.attention import Attention, Everything, ScaledDot, Softmax
from atento.data import WordSpace


@pytest.mark.spec("S02")
def test_strawberry_and_apple():
    space = WordSpace(["strawberry", "apple"], [[1, 3, 2], [1.1, 2.9, 2.2]])
    assert round(space.cosine("strawberry", "apple"), 4) == 0.9980
    assert space.cosine("strawberry", "apple") == pytest.approx(14.2 / math.sqrt(14 * 14.46), abs=1e-12)


@pytest.mark.spec("S04")
def test_apple_turns_to_its_neighbour():
    """Apple (1, 1) looks at itself and at orange (2, 0) with the same score, 2 / √2, and takes half of each."""
    apple, others = [1.0, 1.0], {"orange": [2.0, 0.0], "phone": [0.0, 2.0]}
    attention = Attention(ScaledDot(), Softmax(), Everything())
    near = {}
    for beside, vector in others.items():
        sentence = torch.tensor([[apple, vector]], dtype=torch.float64)
        moved = attention(sentence, sentence, sentence)[0, 0].tolist()
        space = WordSpace(["apple", *others], [moved, *others.values()])
        near[beside] = {other: round(space.cosine("apple", other), 4) for other in others}
    assert near == {
        "orange": {"orange": 0.9487, "phone": 0.3162},  # 1.5 / √2.5 and 0.5 / √2.5
        "phone": {"orange": 0.3162, "phone": 0.9487},
    }
    before = WordSpace(["apple", *others], [apple, *others.values()])
    assert before.cosine("apple", "orange") == before.cosine("apple", "phone") == pytest.approx(math.sqrt(0.5))
