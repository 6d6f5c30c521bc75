"""A recurrent encoder by hand, and what all recurrent decoders share."""

import pytest
import torch

from atento.attention import Additive, Attention, Everything, Softmax
from atento.layers import TokenEmbedding, masked_mean
from atento.models.backbones import BahdanauDecoder, FixedVectorDecoder, LuongDecoder, RecurrentEncoder
from atento.models.backbones.recurrent import as_both, as_input, as_state
from atento.models.summaries import end_states, last_state
from atento.recurrent import GRUCell, LSTMCell, Stack

BATCH, SOURCE, TARGET, SIZE, SOURCE_SIZE, TOKENS = 2, 7, 5, 3, 10, 11

VALID = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])


def encoder(summarise, *, both=True):
    stack = Stack(GRUCell, 5, SOURCE_SIZE // 2 if both else SOURCE_SIZE, bidirectional=both)
    return RecurrentEncoder(TokenEmbedding(TOKENS, 5), stack, summarise)


def decoder(kind, hand_over, *, layers=1):
    """Each kind over the same source, all weights well away from where they start."""
    handover = hand_over(SOURCE_SIZE, SIZE * layers)
    context = SOURCE_SIZE if kind is BahdanauDecoder else 0
    stack = Stack(LSTMCell, SIZE + handover.feed.added + context, SIZE, layers=layers)
    parts = [TokenEmbedding(TOKENS, SIZE), stack, handover]
    if kind is FixedVectorDecoder:
        made = kind(*parts)
    else:
        attention = Attention(Additive(SIZE, SOURCE_SIZE, hidden_size=13), Softmax(), Everything())
        made = kind(*parts, attention, source_size=SOURCE_SIZE)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made


@pytest.fixture
def encoded():
    return encoder(end_states).encode(torch.randint(1, TOKENS, (BATCH, SOURCE)), VALID)


every_kind = pytest.mark.parametrize("kind", [FixedVectorDecoder, LuongDecoder, BahdanauDecoder])
every_handover = pytest.mark.parametrize("hand_over", [as_state, as_input, as_both])


def walk(cell, vectors):
    state, states = cell.start(vectors[:, 0]), []
    for at in range(vectors.size(1)):
        state = cell(vectors[:, at], state)
        states.append(state.hidden)
    return torch.cat(states)


@pytest.mark.spec("E02")
def test_states_and_summary_of_an_encoder_in_both_directions():
    """The summary is the forward state at the end beside the backward state at the start."""
    model = encoder(end_states)
    tokens = torch.randint(1, TOKENS, (BATCH, SOURCE))
    encoded = model.encode(tokens, VALID)
    forward, backward = model.stack.cells
    for row, length in enumerate(VALID.sum(1).tolist()):
        vectors = model.embedding(tokens[row : row + 1, :length])
        ahead, behind = walk(forward, vectors), walk(backward, vectors.flip(1)).flip(0)
        torch.testing.assert_close(encoded.states[row, :length], torch.cat([ahead, behind], dim=-1))
        torch.testing.assert_close(encoded.summary[row], torch.cat([ahead[-1], behind[0]]))
        assert (encoded.states[row, length:] == 0).all()


@pytest.mark.spec("E01", "E02")
def test_an_encoder_in_one_direction_sees_nothing_of_what_follows():
    model = encoder(last_state, both=False)
    tokens = torch.randint(1, TOKENS, (BATCH, SOURCE))
    encoded = model.encode(tokens, VALID)
    for row, length in enumerate(VALID.sum(1).tolist()):
        states = walk(model.stack.cells[0], model.embedding(tokens[row : row + 1, :length]))
        torch.testing.assert_close(encoded.states[row, :length], states)
        torch.testing.assert_close(encoded.summary[row], states[-1])
    changed = tokens.clone()
    changed[:, 3:] = tokens[:, 3:] % (TOKENS - 1) + 1
    assert torch.equal(model.encode(changed, VALID).states[:, :3], encoded.states[:, :3])
    two_ways = encoder(end_states)
    assert not torch.allclose(
        two_ways.encode(changed, VALID).states[:, :3], two_ways.encode(tokens, VALID).states[:, :3]
    )


def test_the_summary_is_of_the_states_before_they_are_dropped():
    model = encoder(masked_mean)
    model.dropout.p = 0.5
    tokens = torch.randint(1, TOKENS, (BATCH, SOURCE))
    whole = masked_mean(model.eval().encode(tokens, VALID).states, VALID)
    dropped = model.train().encode(tokens, VALID).summary
    assert ((dropped == 0) | (dropped - 2 * whole).abs().lt(1e-12)).all()
    assert (dropped == 0).any()


@every_kind
def test_every_layer_starts_from_its_own_map_of_the_summary(kind, encoded):
    model = decoder(kind, as_state, layers=2)
    start = model.start(encoded)
    mapped = torch.tanh(model.first_states(encoded.summary))
    for layer, state in enumerate(start.cells):
        torch.testing.assert_close(state.hidden, mapped[:, layer * SIZE : (layer + 1) * SIZE])
        assert (state.carry == 0).all()
    assert start.at.tolist() == [0] * BATCH
    assert model.step(torch.tensor([1, 2]), start).state.at.tolist() == [1] * BATCH


@every_kind
def test_a_summary_given_as_input_only_leaves_the_first_state_empty(kind, encoded):
    model = decoder(kind, as_input, layers=2)
    assert all((state.hidden == 0).all() for state in model.start(encoded).cells)
    assert not [name for name, _ in model.named_parameters() if name.startswith("first_states")]


@every_kind
@every_handover
def test_chunks_of_a_known_target_resume_from_each_other(kind, hand_over, encoded):
    model, previous = decoder(kind, hand_over, layers=2), torch.randint(1, TOKENS, (BATCH, TARGET))
    whole = model.features(previous, encoded)
    state, found = model.start(encoded), []
    for here in (slice(0, 2), slice(2, 3), slice(3, TARGET)):
        features, state = model.resume(previous[:, here], state)
        found.append(features)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=1e-13)
    assert state.at.tolist() == [TARGET] * BATCH
    logits = model.step(torch.tensor([3, 4]), state).logits
    longer = model(torch.cat([previous, torch.tensor([[3], [4]])], dim=1), encoded)[:, -1]
    torch.testing.assert_close(logits, longer, rtol=0, atol=1e-13)


@every_kind
@every_handover
def test_where_the_summary_goes(kind, hand_over, encoded):
    """It reaches the first step either way; as input it also reaches the others past a forgetful cell."""
    model = decoder(kind, hand_over)
    other = encoded._replace(summary=encoded.summary + 1)
    previous = torch.randint(1, TOKENS, (BATCH, TARGET))
    assert not torch.allclose(model(previous, other)[:, 0], model(previous, encoded)[:, 0])
    fed = not torch.equal(model.inputs(previous, model.start(other)), model.inputs(previous, model.start(encoded)))
    assert fed is (hand_over is not as_state)
