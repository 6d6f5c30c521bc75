"""A recurrent encoder and decoder, written out from the papers' equations."""

import pytest
import torch

from atento.attention import Additive, Attention, Everything, Softmax
from atento.layers.embeddings import TokenEmbedding
from atento.models.recurrent import RecurrentDecoder, RecurrentEncoder
from atento.recurrent import GRU, LSTM, Stack

BATCH, SOURCE, TARGET, SIZE, SOURCE_SIZE, TOKENS = 2, 7, 5, 3, 10, 11

VALID = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])


def encoder():
    return RecurrentEncoder(TokenEmbedding(TOKENS, 5), Stack(GRU, 5, SOURCE_SIZE // 2, bidirectional=True))


def decoder(kind, *, attends, layers=1):
    attention = Attention(Additive(SIZE, SOURCE_SIZE, hidden_size=13), Softmax(), Everything()) if attends else None
    stack = Stack(kind, SIZE if attends else SIZE + SOURCE_SIZE, SIZE, layers=layers)
    made = RecurrentDecoder(TokenEmbedding(TOKENS, SIZE), stack, attention, source_size=SOURCE_SIZE)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made


@pytest.fixture
def encoded():
    return encoder().encode(torch.randint(1, TOKENS, (BATCH, SOURCE)), VALID)


def test_states_and_summary_of_the_encoder():
    """The summary is the forward state at the end beside the backward state at the start."""
    model = encoder()
    tokens = torch.randint(1, TOKENS, (BATCH, SOURCE))
    encoded = model.encode(tokens, VALID)
    forward, backward = model.stack.cells
    for row, length in enumerate(VALID.sum(1).tolist()):
        vectors = model.embedding(tokens[row : row + 1, :length])
        state, states = forward.start(vectors[:, 0]), []
        for at in range(length):
            state = forward(vectors[:, at], state)
            states.append(state.hidden)
        ahead = torch.cat(states)
        torch.testing.assert_close(encoded.states[row, :length, : SOURCE_SIZE // 2], ahead)
        state, states = backward.start(vectors[:, 0]), []
        for at in reversed(range(length)):
            state = backward(vectors[:, at], state)
            states.insert(0, state.hidden)
        behind = torch.cat(states)
        torch.testing.assert_close(encoded.states[row, :length, SOURCE_SIZE // 2 :], behind)
        torch.testing.assert_close(encoded.summary[row], torch.cat([ahead[-1], behind[0]]))
        assert (encoded.states[row, length:] == 0).all()


@pytest.mark.parametrize("kind", [GRU, LSTM])
def test_a_decoded_sentence_with_attention_by_hand(kind, encoded):
    """s_t = f(s_{t−1}, y_{t−1}); c_t = Σ softmax(v · tanh(W s_t + U h_i)) h_i; tanh(W_c [c_t; s_t]) predicts."""
    model, previous = decoder(kind, attends=True), torch.randint(1, TOKENS, (BATCH, TARGET))
    score, cell = model.attention.score, model.stack.cells[0]
    logits, weights = torch.zeros(BATCH, TARGET, TOKENS), torch.zeros(BATCH, TARGET, SOURCE)
    for row, length in enumerate(VALID.sum(1).tolist()):
        states = encoded.states[row, :length]
        first = torch.tanh(model.first_states.weight @ encoded.summary[row] + model.first_states.bias)
        state = cell.start(first.unsqueeze(0))._replace(hidden=first.unsqueeze(0))
        for at in range(TARGET):
            state = cell(model.embedding.table.weight[previous[row, at]].unsqueeze(0), state)
            said = state.hidden[0]
            scores = [
                score.collapse.weight[0]
                @ torch.tanh(score.project_query.weight @ said + score.project_key.weight @ one)
                for one in states
            ]
            shares = torch.stack(scores).softmax(0)
            weights[row, at, :length] = shares
            context = sum(share * one for share, one in zip(shares, states, strict=True))
            joined = torch.tanh(model.join.weight @ torch.cat([context, said]) + model.join.bias)
            logits[row, at] = model.embedding.table.weight @ joined + model.bias  # the embedding also predicts
    torch.testing.assert_close(model(previous, encoded), logits, rtol=0, atol=1e-12)
    torch.testing.assert_close(model.weights(previous, encoded), weights[:, None, None], rtol=0, atol=1e-13)
    leaves = list(model.parameters())
    actual, expected = (torch.autograd.grad(one.square().sum(), leaves) for one in (model(previous, encoded), logits))
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)


def test_a_decoded_sentence_through_one_vector_by_hand(encoded):
    """Without attention the summary is the first state and stands beside every input (Cho et al., 2014)."""
    model, previous = decoder(GRU, attends=False), torch.randint(1, TOKENS, (BATCH, TARGET))
    cell = model.stack.cells[0]
    state = cell.start(encoded.summary)._replace(hidden=torch.tanh(model.first_states(encoded.summary)))
    logits = []
    for at in range(TARGET):
        state = cell(torch.cat([model.embedding.table.weight[previous[:, at]], encoded.summary], dim=-1), state)
        logits.append(state.hidden @ model.embedding.table.weight.mT + model.bias)
    torch.testing.assert_close(model(previous, encoded), torch.stack(logits, dim=1), rtol=0, atol=1e-12)
    assert not model.attends
    assert model.weights(previous, encoded).shape == (BATCH, 0, 0, TARGET, SOURCE)


def test_every_layer_starts_from_its_own_map_of_the_summary(encoded):
    model = decoder(LSTM, attends=True, layers=2)
    start = model.start(encoded)
    mapped = torch.tanh(model.first_states(encoded.summary))
    for layer, state in enumerate(start.cells):
        torch.testing.assert_close(state.hidden, mapped[:, layer * SIZE : (layer + 1) * SIZE])
        assert (state.carry == 0).all()
    assert start.at.tolist() == [0] * BATCH
    assert model.step(torch.tensor([1, 2]), start).state.at.tolist() == [1] * BATCH
