"""Attention that is recorded is what was computed; maps have labels, statistics and their layers in order."""

import math

import pytest
import torch
from torch import nn

from atento.attention import Additive, Attention, Causal, Everything, MultiHead, ScaledDot, Softmax, Sparsemax
from atento.models.builders import Vocabularies, build_translator
from atento.models.diagnostics.attention_maps import AttentionMap, MapPlace, maps_of_calls, record_attention
from atento.spec import ModelRecipe

SOURCE, TARGET = 7, 5


class Twice(nn.Module):
    """Two layers of self-attention, the second called twice, and one attention of another kind."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(MultiHead(6, 2, Attention(ScaledDot(), Softmax(), Causal())) for _ in range(2))
        self.pick = Attention(Additive(6, 6, hidden_size=3), Sparsemax(), Everything())

    def forward(self, values):
        for layer in self.layers:
            values = layer(values)
        self.layers[1](values[:, :3])
        return self.pick(values[:, :2], values, values)


def test_layers_are_stacked_and_a_second_call_is_a_map_of_its_own():
    model, values = Twice(), torch.randn(1, SOURCE, 6)
    labels = list("abcdefg")
    places = [
        MapPlace(".layers.", "own", "self", labels, labels),
        MapPlace(".pick.", "pick", "cross", ["x", "y"], labels),
    ]
    with record_attention(model) as calls:
        model(values)
    own, again, pick = maps_of_calls(calls, places)
    assert (own.name, own.kind, own.queries, own.weights.shape) == ("own", "causal", labels, (2, 2, SOURCE, SOURCE))
    assert (again.name, again.queries, again.weights.shape) == ("layers", ["1", "2", "3"], (1, 2, 3, 3))
    assert (pick.kind, pick.queries, pick.vectors) == ("cross", ["x", "y"], None)
    with torch.no_grad():
        expected = model.layers[0].weights(values, values)[0]
    torch.testing.assert_close(own.weights[0].double(), expected, atol=1e-6, rtol=0)
    assert not any("read" in vars(part) for part in model.modules())


@pytest.mark.parametrize("attend", ["bahdanau", "luong"])
def test_steps_of_a_recurrent_decoder_are_one_map(attend):
    model = build_translator(ModelRecipe(name="gru+additive", hidden=6, attend=attend), Vocabularies(13, 11)).eval()
    tokens, previous = torch.randint(1, 13, (1, SOURCE)), torch.randint(1, 11, (1, TARGET))
    read = model.encode(tokens, torch.ones_like(tokens, dtype=torch.bool))
    with record_attention(model) as calls:
        model.decoder(previous, read)
    (one,) = maps_of_calls(calls, [])
    expected = model.decoder.weights(previous, read)[0]
    torch.testing.assert_close(one.weights.double(), expected.detach(), atol=1e-6, rtol=0)


def test_statistics_by_hand():
    weights = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [math.nan] * 3])
    shown = AttentionMap("m", "self", list("abc"), list("abc"), weights[None, None])
    entropy, distance, zeros = (float(part) for part in shown.statistics())
    assert entropy == pytest.approx(math.log(2) / 2)  # of the two rows that have keys
    assert distance == pytest.approx((0.5 * 1 + 1) / 2)
    assert zeros == pytest.approx((1 / 3 + 2 / 3) / 2)
