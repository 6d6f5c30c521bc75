"""A decoder that looks with its previous state, written out from the paper's equations."""

import itertools

import pytest
import torch

from atento.attention import Additive, Attention, Everything, General, Softmax, Window
from atento.errors import InputError
from atento.layers import TokenEmbedding
from atento.models import Encoded
from atento.models.backbones import BahdanauDecoder
from atento.models.backbones.recurrent import as_both, as_state
from atento.recurrent import ElmanCell, GRUCell, LSTMCell, Stack
from atento.recurrent.unroll import step_by_step

BATCH, SOURCE, TARGET, SIZE, SOURCE_SIZE, TOKENS = 2, 7, 5, 3, 10, 11

VALID = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])


def decoder(kind, attention, hand_over, *, layers=1):
    handover = hand_over(SOURCE_SIZE, SIZE * layers)
    stack = Stack(kind, SIZE + handover.feed.added + SOURCE_SIZE, SIZE, layers=layers)
    model = BahdanauDecoder(TokenEmbedding(TOKENS, SIZE), stack, handover, attention, source_size=SOURCE_SIZE)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def by_hand(model, look, previous, states, summary, *, fed):
    """c_t = Σ p(a(h_i, s_{t−1})) h_i; s_t = f(s_{t−1}, [y_{t−1}; c_t]); tanh(W [c_t; s_t]) predicts."""
    cells, table = list(model.stack.cells), model.embedding.table.weight
    logits, weights = torch.zeros(BATCH, TARGET, TOKENS), torch.zeros(BATCH, TARGET, SOURCE)
    for row, length in enumerate(VALID.sum(1).tolist()):
        first = torch.tanh(model.first_states.weight @ summary[row] + model.first_states.bias)
        hidden = first.chunk(len(cells))
        layers = [
            cell.start(one.unsqueeze(0))._replace(hidden=one.unsqueeze(0))
            for cell, one in zip(cells, hidden, strict=True)
        ]
        for at in range(TARGET):
            weights[row, at, :length], context = look(layers[-1].hidden[0], states[row, :length])
            read = torch.cat([table[previous[row, at]], *([summary[row]] if fed else []), context])
            for layer, cell in enumerate(cells):
                layers[layer] = cell(read.unsqueeze(0), layers[layer])
                read = layers[layer].hidden[0]
            joined = torch.tanh(model.join.weight @ torch.cat([context, read]) + model.join.bias)
            logits[row, at] = table @ joined + model.bias
    return logits, weights


@pytest.mark.spec("E04", "E05")
@pytest.mark.parametrize("kind", [GRUCell, LSTMCell, ElmanCell])
@pytest.mark.parametrize("hand_over, layers", [(as_state, 1), (as_both, 2)])
def test_a_decoded_sentence_by_hand(kind, hand_over, layers, attention):
    attention, look = attention
    model = decoder(kind, attention, hand_over, layers=layers)
    states, summary = torch.randn(BATCH, SOURCE, SOURCE_SIZE), torch.randn(BATCH, SOURCE_SIZE)
    encoded = Encoded(states.masked_fill(~VALID.unsqueeze(-1), torch.nan), VALID, summary)
    previous = torch.randint(1, TOKENS, (BATCH, TARGET))
    logits, weights = by_hand(model, look, previous, states, summary, fed=hand_over is as_both)
    torch.testing.assert_close(model(previous, encoded), logits, rtol=0, atol=1e-12)
    torch.testing.assert_close(model.weights(previous, encoded), weights[:, None, None], rtol=0, atol=1e-13)
    leaves = list(model.parameters())
    actual, expected = (torch.autograd.grad(one.square().sum(), leaves) for one in (model(previous, encoded), logits))
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)


@pytest.mark.spec("E04", "E05")
def test_each_step_looks_from_its_own_place():
    """With a window of one, step t sees the keys t − 1, t and t + 1, in a walk, in steps and in its weights."""
    attention = Attention(General(SIZE, SOURCE_SIZE), Softmax(), Window(1))
    model = decoder(GRUCell, attention, as_state)
    states, summary = torch.randn(BATCH, SOURCE, SOURCE_SIZE), torch.randn(BATCH, SOURCE_SIZE)
    encoded = Encoded(states.masked_fill(~VALID.unsqueeze(-1), torch.nan), VALID, summary)
    previous, step = torch.randint(1, TOKENS, (BATCH, TARGET)), itertools.count()

    def look(query, keys):
        at = next(step) % TARGET
        near = slice(max(0, at - 1), at + 2)
        weights, seen = torch.zeros(len(keys)), keys[near]
        if len(seen):
            weights[near] = torch.stack([query @ (attention.score.weight.weight @ key) for key in seen]).softmax(0)
        return weights, weights @ keys

    logits, weights = by_hand(model, look, previous, states, summary, fed=False)
    torch.testing.assert_close(model(previous, encoded), logits, rtol=0, atol=1e-12)
    torch.testing.assert_close(model.weights(previous, encoded), weights[:, None, None], rtol=0, atol=1e-13)
    state = model.start(encoded)
    for at in range(TARGET):
        found, state = model.step(previous[:, at], state)
        torch.testing.assert_close(found, logits[:, at], rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [7, 13])
def test_the_products_of_known_tokens_are_taken_once(monkeypatch, length):
    attention = Attention(Additive(SIZE, SOURCE_SIZE, hidden_size=13), Softmax(), Everything())
    model = decoder(LSTMCell, attention, as_state)
    encoded = Encoded(torch.randn(BATCH, SOURCE, SOURCE_SIZE), VALID, torch.randn(BATCH, SOURCE_SIZE))
    plain, shapes = torch.nn.functional.linear, []

    def watched(values, weight, bias=None):
        shapes.append((tuple(values.shape), tuple(weight.shape)))
        return plain(values, weight, bias)

    monkeypatch.setattr(torch.nn.functional, "linear", watched)
    with step_by_step():
        model.features(torch.randint(1, TOKENS, (BATCH, length)), encoded)
    assert [
        values for values, weight in shapes if weight == (4 * SIZE, SIZE) and values[-1] == SIZE and len(values) == 3
    ] == [(BATCH, length, SIZE)]
    assert [values for values, weight in shapes if weight == (4 * SIZE, SOURCE_SIZE)] == [(BATCH, SOURCE_SIZE)] * length


def test_a_stack_without_room_for_the_context_is_refused():
    attention = Attention(Additive(SIZE, SOURCE_SIZE, hidden_size=13), Softmax(), Everything())
    parts = TokenEmbedding(TOKENS, SIZE), Stack(GRUCell, SIZE, SIZE), as_state(SOURCE_SIZE, SIZE), attention
    with pytest.raises(InputError, match="concatenated with the context") as caught:
        BahdanauDecoder(*parts, source_size=SOURCE_SIZE)
    assert caught.value.found == "a stack of input_size=3"
    assert "3 of the input and 10 of the context" in caught.value.fix
