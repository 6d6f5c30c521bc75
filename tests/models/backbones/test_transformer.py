"""The Transformer as a whole: torch's layers around our weights, and the cache."""

import math

import pytest
import torch
from torch import nn

from atento.models.backbones import TransformerDecoder
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe

BATCH, SOURCE, TARGET, SIZE, LAYERS = 2, 7, 19, 10, 2

VALID = torch.tensor([[True] * 7, [True] * 3 + [False] * 4])

orders = pytest.mark.parametrize("norm", ["pre", "post"])


def model(norm):
    recipe = ModelRecipe(name="transformer", hidden=SIZE, layers=LAYERS, heads=2, feed_forward=13, norm=norm)
    made = build_translator(recipe, Vocabularies(13, 11)).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made


def tokens():
    return torch.randint(1, 13, (BATCH, SOURCE)), torch.randint(1, 11, (BATCH, TARGET))


def embedded(embedding, numbers):
    """√d · vector + (sin, cos, sin, cos, ...)."""
    waves = torch.tensor(
        [
            [(math.sin, math.cos)[unit % 2](at / 10_000 ** (2 * (unit // 2) / SIZE)) for unit in range(SIZE)]
            for at in range(numbers.size(1))
        ]
    )
    return embedding.tokens.table.weight[numbers] * math.sqrt(SIZE) + waves


@pytest.mark.spec("T03")
@orders
def test_the_whole_model_with_torch_s_layers(norm):
    made, (source, previous) = model(norm), tokens()
    values = embedded(made.encoder.embedding, source)
    for layer in made.encoder.stack.layers:
        values = layer.to_torch()(values, src_key_padding_mask=~VALID)
    states = made.encoder.stack.norm(values)
    encoded = made.encode(source, VALID)
    torch.testing.assert_close(encoded.states[VALID], states[VALID], rtol=0, atol=1e-11)
    torch.testing.assert_close(encoded.summary[1], states[1, :3].mean(0), rtol=0, atol=1e-11)

    values = embedded(made.decoder.embedding, previous)
    future = nn.Transformer.generate_square_subsequent_mask(TARGET).isinf()
    for layer in made.decoder.layers:
        values = layer.to_torch()(values, states, tgt_mask=future, memory_key_padding_mask=~VALID)
    table = made.decoder.embedding.tokens.table.weight  # the embedding also predicts
    logits = made.decoder.norm(values) @ table.mT + made.decoder.bias
    torch.testing.assert_close(made.decoder(previous, encoded), logits, rtol=0, atol=1e-10)
    assert isinstance(made.decoder.norm, nn.LayerNorm if norm == "pre" else nn.Identity)


@pytest.mark.spec("T04")
@orders
def test_cached_equals_uncached_equals_parallel(norm):
    made, (source, previous) = model(norm), tokens()
    encoded = made.encode(source, VALID)
    parallel = made.decoder(previous, encoded)
    state = made.decoder.start(encoded)
    for at in range(TARGET):
        cached = made.decoder.step(previous[:, at], state)
        uncached = made.decoder(previous[:, : at + 1], encoded)[:, -1]
        torch.testing.assert_close(cached.logits, parallel[:, at], rtol=0, atol=1e-11)
        torch.testing.assert_close(uncached, parallel[:, at], rtol=0, atol=1e-11)
        state = cached.state
        assert all(own.value.size(-2) == at + 1 for own in state.own)  # one more key a step, nothing computed again


@pytest.mark.spec("T04")
def test_trained_in_parallel_on_targets_shifted_by_one():
    """The loss of one parallel pass is the sum of the losses of all steps, each given what came before."""
    made, (source, target) = model("pre"), tokens()
    encoded = made.encode(source, VALID)
    previous = torch.cat([torch.full((BATCH, 1), 2), target[:, :-1]], dim=1)
    at_once = made.decoder(previous, encoded).log_softmax(-1).gather(-1, target.unsqueeze(-1)).sum()
    state, one_by_one = made.decoder.start(encoded), 0.0
    for at in range(TARGET):
        logits, state = made.decoder.step(previous[:, at], state)
        one_by_one += logits.log_softmax(-1).gather(-1, target[:, at : at + 1]).sum()
    torch.testing.assert_close(at_once, one_by_one)
    weights = [parameter for parameter in made.parameters() if parameter.requires_grad]
    gradients = [torch.autograd.grad(total, weights, retain_graph=True) for total in (at_once, one_by_one)]
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-9)


def test_weights_of_every_layer_and_head_by_hand():
    made, (source, previous) = model("post"), tokens()
    encoded = made.encode(source, VALID)
    weights = made.decoder.weights(previous, encoded)
    assert weights.shape == (BATCH, LAYERS, 2, TARGET, SOURCE)
    values = embedded(made.decoder.embedding, previous)
    future = nn.Transformer.generate_square_subsequent_mask(TARGET).isinf()
    for index, layer in enumerate(made.decoder.layers):
        theirs = layer.to_torch()
        own = theirs.self_attn(values, values, values, attn_mask=future)[0]
        asked = theirs.norm1(values + own)
        _, expected = theirs.multihead_attn(
            asked, encoded.states, encoded.states, key_padding_mask=~VALID, average_attn_weights=False
        )
        torch.testing.assert_close(weights[:, index], expected, rtol=0, atol=1e-12)
        values = theirs(values, encoded.states, tgt_mask=future, memory_key_padding_mask=~VALID)


def test_the_embedding_and_the_prediction_are_one():
    decoder = model("pre").decoder
    assert isinstance(decoder, TransformerDecoder)
    names = [name for name, parameter in decoder.named_parameters() if 11 in parameter.shape]
    assert sorted(names) == ["bias", "embedding.tokens.table.weight"]
