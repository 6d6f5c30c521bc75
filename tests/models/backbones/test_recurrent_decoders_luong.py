"""A decoder that looks with its current state, written out from the paper's equations."""

import pytest
import torch

from atento.layers import TokenEmbedding
from atento.models import Encoded
from atento.models.backbones import LuongDecoder
from atento.models.backbones.recurrent import as_state
from atento.recurrent import GRUCell, LSTMCell, Stack

BATCH, SOURCE, TARGET, SIZE, SOURCE_SIZE, TOKENS = 2, 7, 5, 3, 10, 11

VALID = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])


@pytest.mark.spec("E04", "E05")
@pytest.mark.parametrize("kind", [GRUCell, LSTMCell])
def test_a_decoded_sentence_by_hand(kind, attention):
    """s_t = f(s_{t−1}, y_{t−1}); c_t = Σ p(a(h_i, s_t)) h_i; tanh(W [c_t; s_t]) predicts."""
    attention, look = attention
    stack = Stack(kind, SIZE, SIZE)
    model = LuongDecoder(
        TokenEmbedding(TOKENS, SIZE), stack, as_state(SOURCE_SIZE, SIZE), attention, source_size=SOURCE_SIZE
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    states = torch.randn(BATCH, SOURCE, SOURCE_SIZE)
    encoded = Encoded(states.masked_fill(~VALID.unsqueeze(-1), torch.nan), VALID, torch.randn(BATCH, SOURCE_SIZE))
    previous = torch.randint(1, TOKENS, (BATCH, TARGET))
    cell, table = stack.cells[0], model.embedding.table.weight
    logits, weights = torch.zeros(BATCH, TARGET, TOKENS), torch.zeros(BATCH, TARGET, SOURCE)
    for row, length in enumerate(VALID.sum(1).tolist()):
        first = torch.tanh(model.first_states.weight @ encoded.summary[row] + model.first_states.bias)
        state = cell.start(first.unsqueeze(0))._replace(hidden=first.unsqueeze(0))
        for at in range(TARGET):
            state = cell(table[previous[row, at]].unsqueeze(0), state)
            said = state.hidden[0]
            weights[row, at, :length], context = look(said, states[row, :length])
            joined = torch.tanh(model.join.weight @ torch.cat([context, said]) + model.join.bias)
            logits[row, at] = table @ joined + model.bias  # the embedding also predicts
    torch.testing.assert_close(model(previous, encoded), logits, rtol=0, atol=1e-12)
    torch.testing.assert_close(model.weights(previous, encoded), weights[:, None, None], rtol=0, atol=1e-13)
    leaves = list(model.parameters())
    actual, expected = (torch.autograd.grad(one.square().sum(), leaves) for one in (model(previous, encoded), logits))
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)
