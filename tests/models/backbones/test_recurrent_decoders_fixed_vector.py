"""A decoder through one vector, written out from the papers' equations."""

import pytest
import torch

from atento.layers import TokenEmbedding
from atento.models import Encoded
from atento.models.backbones import FixedVectorDecoder
from atento.models.backbones.recurrent import as_both, as_input, as_state
from atento.recurrent import GRUCell, LSTMCell, Stack

BATCH, SOURCE, TARGET, SIZE, SOURCE_SIZE, TOKENS = 2, 7, 5, 3, 10, 11


@pytest.mark.spec("E01")
@pytest.mark.parametrize("kind", [GRUCell, LSTMCell])
@pytest.mark.parametrize("hand_over", [as_state, as_input, as_both])
def test_a_decoded_sentence_by_hand(kind, hand_over):
    """s_0 = tanh(V c) or 0; s_t = f(s_{t−1}, y_{t−1}) or f(s_{t−1}, [y_{t−1}; c]); the embedding predicts from s_t."""
    handover = hand_over(SOURCE_SIZE, SIZE)
    stack = Stack(kind, SIZE + handover.feed.added, SIZE)
    model = FixedVectorDecoder(TokenEmbedding(TOKENS, SIZE), stack, handover)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    summary, previous = torch.randn(BATCH, SOURCE_SIZE), torch.randint(1, TOKENS, (BATCH, TARGET))
    encoded = Encoded(torch.randn(BATCH, SOURCE, SOURCE_SIZE), torch.ones(BATCH, SOURCE, dtype=torch.bool), summary)
    cell, table = model.stack.cells[0], model.embedding.table.weight
    logits = torch.zeros(BATCH, TARGET, TOKENS)
    for row in range(BATCH):
        first = torch.zeros(SIZE)
        if hand_over is not as_input:
            first = torch.tanh(model.first_states.weight @ summary[row] + model.first_states.bias)
        state = cell.start(first.unsqueeze(0))._replace(hidden=first.unsqueeze(0))
        for at in range(TARGET):
            read = table[previous[row, at]]
            if hand_over is not as_state:
                read = torch.cat([read, summary[row]])
            state = cell(read.unsqueeze(0), state)
            logits[row, at] = table @ state.hidden[0] + model.bias
    torch.testing.assert_close(model(previous, encoded), logits, rtol=0, atol=1e-12)
    leaves = list(model.parameters())
    actual, expected = (torch.autograd.grad(one.square().sum(), leaves) for one in (model(previous, encoded), logits))
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)
    assert not model.attends
    assert model.weights(previous, encoded).shape == (BATCH, 0, 0, TARGET, SOURCE)
