"""Transformers that forecast: by hand, with attention written out."""

import pytest
import torch
from torch import nn

from atento.models import SeriesSizes
from atento.models.builders import build_forecaster
from atento.spec import ModelRecipe

ROWS, PAST, HORIZON, CHANNELS, COVARIATES, SIZE, HEADS = 2, 11, 5, 3, 2, 8, 2
SIZES = SeriesSizes(CHANNELS, COVARIATES, PAST, HORIZON)


def build(name, **choices):
    recipe = ModelRecipe(
        name=name, **{"hidden": SIZE, "heads": HEADS, "linear_skip": False, "channels": "joint", "layers": 2, **choices}
    )
    model = build_forecaster(recipe, SIZES).eval()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.3)
    return model


def layer_by_hand(layer, values):
    """x + attention(norm x), then x + feed-forward(norm x), position by position: values (T, D)."""
    normed = layer.around_attention.norm(values)
    heads, width = layer.self_attention, SIZE // HEADS
    query, key, value = (map_(normed) for map_ in (heads.to_query, heads.to_key, heads.to_value))
    mixed = []
    for at in range(len(values)):
        parts = []
        for head in range(HEADS):
            own = slice(head * width, (head + 1) * width)
            raised = [torch.exp(query[at, own] @ key[other, own] / width**0.5) for other in range(len(values))]
            parts.append(sum(one / sum(raised) * value[other, own] for other, one in enumerate(raised)))
        mixed.append(heads.combine(torch.cat(parts)))
    values = values + torch.stack(mixed)
    inner = layer.feed_forward
    return values + inner.narrow(torch.relu(inner.widen(layer.around_feed_forward.norm(values))))


def waves(count):
    places = torch.zeros(count, SIZE)
    for at in range(count):
        for pair in range(SIZE // 2):
            angle = torch.tensor(at / 10_000 ** (2 * pair / SIZE))
            places[at, 2 * pair], places[at, 2 * pair + 1] = angle.sin(), angle.cos()
    return places


@pytest.mark.parametrize("name, patch", [("transformer", 1), ("transformer", 2), ("transformer+patches", 4)])
def test_a_pass_by_hand(name, patch):
    model = build(name, patch=patch)
    network = model.network
    past, known = torch.randn(ROWS, PAST, CHANNELS), torch.randn(ROWS, PAST + HORIZON, COVARIATES)
    effect = model.effect(known)
    bare = past - effect[:, :PAST]
    level = bare[:, -1:]
    vectors = network.embedding(bare - level, known[:, :PAST])
    patches = vectors.size(1)
    if name == "transformer":
        vectors = torch.cat([vectors, network.queries(known[:, PAST:])], dim=1)
    found = model(past, known)[..., 0]
    for row in range(ROWS):
        values = vectors[row] + waves(vectors.size(1))
        for layer in network.stack.each():
            values = layer_by_hand(layer, values)
        values = network.stack.norm(values)
        if name == "transformer":
            steps = network.head.map(values[patches:]).view(-1, CHANNELS)[:HORIZON]
        else:
            steps = network.write(values.flatten()).view(HORIZON, CHANNELS)
        torch.testing.assert_close(found[row], steps + level[row] + effect[row, PAST:], rtol=0, atol=1e-12)


def test_where_the_steps_of_the_horizon_looked():
    model = build("transformer", patch=1)
    past, known = torch.randn(ROWS, PAST, CHANNELS), torch.randn(ROWS, PAST + HORIZON, COVARIATES)
    assert model.weights(past, known).shape == (ROWS, 1, 2, HEADS, HORIZON, PAST + HORIZON)
    patched = build("transformer+patches", patch=4)
    assert patched.weights(past, known).shape == (ROWS, 1, 2, HEADS, 3, 3)


def test_one_direction_looks_back_only():
    model = build("transformer", patch=1, directions=1)
    past, known = torch.randn(ROWS, PAST, CHANNELS), torch.randn(ROWS, PAST + HORIZON, COVARIATES)
    looked = model.weights(past, known)[0, 0, 0, 0]  # (H, L + H)
    for step in range(HORIZON):
        assert (looked[step, PAST + step + 1 :] == 0).all()
        assert (looked[step, : PAST + step + 1] > 0).all()
