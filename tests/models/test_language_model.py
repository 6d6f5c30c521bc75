"""P(x) = ∏ P(x_t | x_<t): it sums to one, equals torch's layers, and learns a law whose surprise is known."""

import itertools
import math

import pytest
import torch
from torch import nn

from atento.attention import Attention, Causal, Everything, MultiHead, ScaledDot, Softmax, Window
from atento.blocks import TransformerEncoderLayer, TransformerStack
from atento.data.text.vocabulary import END, START
from atento.errors import InputError
from atento.layers import FeedForward, PositionedEmbedding, SinusoidalPositions
from atento.models import TextBatch
from atento.models.backbones import CausalTransformer
from atento.models.backbones.transformer import embed_from_start
from atento.models.builders import build_language_model
from atento.spec import ModelRecipe

NAMES = ["rnn", "gru", "lstm", "transformer"]


def build(name, tokens, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 10, "heads": 2, "feed_forward": 7, "dropout": 0.0, **choices})
    return build_language_model(recipe, tokens)


def as_batch(rows):
    """Token lists without marks, of one length."""
    previous = [[START, *row] for row in rows]
    target = torch.tensor([[*row, END] for row in rows])
    return TextBatch(torch.tensor(previous), target, torch.ones_like(target, dtype=torch.bool))


@pytest.mark.spec("R16")
@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_the_probabilities_of_all_sequences_sum_to_one(name):
    """All that ended within three tokens, and all beginnings of three that have not."""
    tokens, longest = 5, 3
    model = build(name, tokens, layers=2).eval()
    others = [token for token in range(tokens) if token != END]
    total = 0.0
    for length in range(longest):
        rows = [list(row) for row in itertools.product(others, repeat=length)]
        total += model.log_probabilities(as_batch(rows)).exp().sum().item()
    rows = [list(row) for row in itertools.product(others, repeat=longest)]
    batch = as_batch(rows)
    batch = TextBatch(*(part[:, :longest] for part in batch))  # without an end mark
    total += model.log_probabilities(batch).exp().sum().item()
    assert total == pytest.approx(1, abs=1e-12)


STAY, CHAIN = 0.8, 3  # a chain of three tokens that stays where it is or moves to one of the others


def chain(count, steps=12):
    rows = [torch.randint(CHAIN, (count,))]
    for _ in range(steps - 1):
        moves = torch.where(torch.rand(count) < STAY, 0, torch.randint(1, CHAIN, (count,)))
        rows.append((rows[-1] + moves) % CHAIN)
    return as_batch((torch.stack(rows, dim=1) + 4).tolist())


@pytest.mark.spec("R16")
@pytest.mark.parametrize("name", ["lstm", "transformer"])
def test_it_learns_a_law_to_the_surprise_that_is_in_it(name):
    """Of twelve tokens the first costs ln 3, each other H = −.8 ln .8 − .2 ln .1, the end mark nothing."""
    entropy = -STAY * math.log(STAY) - (1 - STAY) * math.log((1 - STAY) / 2)
    expected = math.exp((math.log(CHAIN) + 11 * entropy) / 13)
    model = build(name, CHAIN + 4, hidden=16)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02, fused=True)
    for _ in range(200):
        optimiser.zero_grad()
        model.loss(chain(32)).mean.backward()
        optimiser.step()
    batch = chain(500)
    found = (-model.eval().log_probabilities(batch).sum() / (13 * 500)).exp().item()  # perplexity
    assert found == pytest.approx(expected, rel=0.05)
    assert found < 0.75 * CHAIN  # what guessing would give


@pytest.mark.spec("T03")
@pytest.mark.parametrize("order", ["pre", "post"])
@torch.no_grad()
def test_decoder_only_is_torch_s_encoder_with_a_causal_mask(order):
    """Same weights, same logits."""
    model = build("transformer", 13, layers=2, norm=order).eval()
    tokens = torch.randint(13, (3, 7))
    decoder = model.decoder
    values = decoder.embedding(tokens, torch.arange(7))
    for layer in decoder.stack.each():
        values = layer.to_torch()(values, src_mask=nn.Transformer.generate_square_subsequent_mask(7))
    expected = decoder.stack.norm(values) @ decoder.embedding.tokens.table.weight.T + decoder.bias
    torch.testing.assert_close(decoder(tokens, model.empty_source(3)), expected, rtol=0, atol=1e-12)


def stack_of(extent):
    heads = MultiHead(4, 2, Attention(ScaledDot(), Softmax(), extent))
    return TransformerStack([TransformerEncoderLayer(heads, FeedForward(4, 5))])


def test_a_model_that_could_see_the_future_is_refused():
    embedding = PositionedEmbedding(13, SinusoidalPositions(4))
    for extent in (Causal(), Causal() & Window(2), Window(2) & Causal(), Causal() | (Causal() & Window(2))):
        assert CausalTransformer(embedding, stack_of(extent)).attends
    for extent in (Everything(), Window(2), Causal() | Window(2)):
        with pytest.raises(InputError, match="must not see the tokens after it"):
            CausalTransformer(embedding, stack_of(extent))


def test_weights_are_those_of_each_layer():
    model = build("transformer", 13, layers=2).eval()
    tokens = torch.randint(13, (3, 7))
    weights = model.decoder.weights(tokens, model.empty_source(3))
    layer = model.decoder.stack.each()[1]
    below = model.decoder.stack.each()[0](embed_from_start(model.decoder.embedding, tokens))
    entered = layer.around_attention.enter(below)
    query, key = (
        map_(entered).view(3, 7, 2, 5).transpose(1, 2)
        for map_ in (layer.self_attention.to_query, layer.self_attention.to_key)
    )
    hidden = torch.ones(7, 7).triu(1).bool()
    expected = (query @ key.mT / 5**0.5).masked_fill(hidden, -torch.inf).softmax(-1)
    torch.testing.assert_close(weights[:, 1], expected)
