"""A plan names the path of a composition and the reason; Triton is not imported for tensors on a CPU."""

import subprocess
import sys

import pytest
import torch

from atento.attention import (
    AdaptiveSpan,
    Additive,
    Alibi,
    Attention,
    Causal,
    DeAttention,
    Entmax,
    Everything,
    Hard,
    Kernel,
    Opposed,
    PredictiveLocal,
    Proportional,
    ScaledDot,
    Sigmoid,
    Similarity,
    Softmax,
    Strided,
    Window,
    minus_manhattan,
)
from atento.attention.fast.gpu import plan
from atento.attention.scores.kernel import EluPlusOne

SIZE = 7


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ((ScaledDot(), Softmax(), Causal()), "sdpa"),
        ((ScaledDot(), Softmax(), Alibi(2)), "sdpa with a mask"),
        ((Kernel(EluPlusOne()), Proportional(), Everything()), "linear"),
        ((ScaledDot(), Entmax(), Window(2)), "groups"),
        ((ScaledDot(), Sigmoid(), Everything()), "formula"),
    ],
)
def test_the_path_on_a_cpu(parts, path):
    items = torch.randn(1, 2, 512, SIZE)
    found = Attention(*parts).plan(items, items)
    assert found.path == path and str(found).startswith(f"{path}: ")
    assert ("the query is on the cpu" in found.why) == (path not in ("sdpa", "linear"))


def test_which_parts_the_template_takes():
    assert plan.parts_reason(Additive(SIZE, SIZE, hidden_size=3), Entmax(), Causal() & Strided(3) & Alibi(2)) is None
    assert "activation" in plan.parts_reason(
        Additive(SIZE, SIZE, hidden_size=3, activation=torch.relu), Entmax(), Causal()
    )
    assert "Proportional" in plan.parts_reason(ScaledDot(), Proportional(), Causal())
    predicted, opposed = PredictiveLocal(SIZE, SIZE, 2), Opposed(ScaledDot(), Similarity(minus_manhattan))
    assert plan.parts_reason(ScaledDot(), Softmax(), predicted) is None
    assert "predicted positions" in plan.parts_reason(ScaledDot(), Entmax(), predicted)
    assert "no other extent" in plan.parts_reason(ScaledDot(), Softmax(), predicted & Window(2))
    assert plan.parts_reason(opposed, DeAttention(), Causal()) is None
    assert "bias" in plan.parts_reason(opposed, DeAttention(), Alibi(2))
    assert "doubles" in plan.parts_reason(opposed, DeAttention("centre"), Causal())
    assert "Manhattan" in plan.parts_reason(Opposed(ScaledDot(), Similarity()), DeAttention(), Causal())
    assert plan.parts_reason(ScaledDot(), Hard(), Causal()) is None
    additive = Additive(SIZE, SIZE, hidden_size=3)
    for parts in ((Hard(), Causal()), (Softmax(), AdaptiveSpan(2, 4)), (Entmax.learned(2), Causal())):
        assert "not by additive" in plan.parts_reason(additive, *parts)
    assert "straight-through" in plan.parts_reason(ScaledDot(), Hard("score-function"), Causal())
    assert "one pattern" in plan.parts_reason(ScaledDot(), Softmax(), Strided(2) & Strided(3))


def test_a_swapped_part_changes_the_path():
    items = torch.randn(1, 2, 5, SIZE)
    attention = Attention(ScaledDot(), Softmax(), Everything())
    whole = attention(items, items, items)
    attention.extent = Causal()
    torch.testing.assert_close(
        attention(items, items, items), Attention(ScaledDot(), Softmax(), Causal())(items, items, items)
    )
    attention.distribution = Sigmoid()
    assert not torch.allclose(attention(items, items, items), whole)


def test_triton_is_not_imported_on_a_cpu():
    code = (
        "import sys, torch; from atento.attention import Additive, Attention, Entmax, Causal;"
        "x = torch.randn(2, 3, 4); Attention(Additive(4, 4, hidden_size=3), Entmax(), Causal())(x, x, x);"
        "sys.exit('triton' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
