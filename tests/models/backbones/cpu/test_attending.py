"""The walk of an attending decoder on a CPU against its formula in float64, and against the decoder step by step."""

import pytest
import torch

from atento.attention import Additive, Attention, Everything, Softmax, Sparsemax
from atento.layers.embeddings import TokenEmbedding
from atento.models.backbones import BahdanauDecoder
from atento.models.backbones.cpu import attending
from atento.models.backbones.cpu.attending import AttendingWalk, AttendingWeights, attending_formula, is_walked
from atento.models.backbones.recurrent import as_state
from atento.models.protocols import Encoded
from atento.recurrent import GRUCell, LSTMCell, Stack
from atento.recurrent.unroll import step_by_step

BATCH, TIME, KEYS, SCORE, VALUE, HIDDEN = 5, 3, 7, 11, 13, 2
LENGTHS = torch.tensor([7, 4, 1, 0, 6])

both_cells = pytest.mark.parametrize("is_lstm", [True, False], ids=["lstm", "gru"])


def some_parts(is_lstm):
    width = (4 if is_lstm else 3) * HIDDEN
    shapes = [(BATCH, TIME, width), (BATCH, HIDDEN), (BATCH, HIDDEN), (BATCH, KEYS, SCORE), (BATCH, KEYS, VALUE)]
    shapes += [(SCORE, HIDDEN), (SCORE,), (width, VALUE), (width, HIDDEN), (width,)]
    return AttendingWeights(*(torch.randn(*shape) for shape in shapes))


def compare(is_lstm, valid, parts):
    parts = [part.requires_grad_() for part in parts]
    found, expected = AttendingWalk.apply(is_lstm, valid, *parts), attending_formula(is_lstm, valid, *parts)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)
    upstream = [torch.randn_like(part) for part in expected]
    gradients = [torch.autograd.grad(outputs, parts, upstream, materialize_grads=True) for outputs in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-11, atol=1e-12)


@both_cells
@pytest.mark.parametrize("padded", [False, True], ids=["dense", "ragged"])
@pytest.mark.parametrize("size", [1, 1 << 18], ids=["row by row", "at once"])
def test_values_and_gradients(monkeypatch, is_lstm, padded, size):
    monkeypatch.setattr(attending, "SLICE", size)
    compare(is_lstm, torch.arange(KEYS) < LENGTHS.unsqueeze(1) if padded else None, some_parts(is_lstm))


@both_cells
def test_large_keys_and_large_first_states(is_lstm):
    """Their exponentials would be no number; the other rows are computed as ever."""
    parts = some_parts(is_lstm)
    parts.keys[1] *= 1e4
    parts.hidden[0] *= 1e3
    parts.keys[0] -= parts.query_weight @ parts.hidden[0]  # which cancels the first query
    compare(is_lstm, torch.arange(KEYS) < LENGTHS.unsqueeze(1), parts)


@both_cells
def test_one_row_whose_reads_are_not_written_over(is_lstm):
    parts = AttendingWeights(*(part[:1] if place < 5 else part for place, part in enumerate(some_parts(is_lstm))))
    kept = parts.reads.clone()
    compare(is_lstm, None, parts)
    assert torch.equal(parts.reads, kept)


@both_cells
def test_second_derivatives(is_lstm):
    parts = [
        part[:2, :2].requires_grad_() if part.dim() == 3 else part.requires_grad_() for part in some_parts(is_lstm)
    ]
    parts[1:3] = [part.detach()[:2].requires_grad_() for part in parts[1:3]]
    valid = torch.tensor([[True, True], [True, False]])
    assert torch.autograd.gradgradcheck(lambda *given: AttendingWalk.apply(is_lstm, valid, *given), parts, atol=1e-4)


@pytest.mark.parametrize("kind", [LSTMCell, GRUCell])
def test_the_decoder_gives_the_same_step_by_step(kind):
    attention = Attention(Additive(HIDDEN, VALUE, hidden_size=SCORE), Softmax(), Everything())
    stack, embedding = Stack(kind, HIDDEN + VALUE, HIDDEN), TokenEmbedding(17, HIDDEN)
    decoder = BahdanauDecoder(embedding, stack, as_state(VALUE, HIDDEN), attention, source_size=VALUE)
    states = torch.randn(BATCH, KEYS, VALUE, requires_grad=True)
    encoded = Encoded(states, torch.arange(KEYS) < LENGTHS.unsqueeze(1), torch.randn(BATCH, VALUE))
    previous, state = torch.randint(1, 17, (BATCH, TIME)), decoder.start(encoded)
    inputs = decoder.inputs(previous, state)
    assert is_walked(stack, attention, inputs, state)
    assert not is_walked(stack, Attention(attention.score, Sparsemax(), Everything()), inputs, state)
    found = decoder.features(previous, encoded)
    with step_by_step():
        assert not is_walked(stack, attention, inputs, state)
        expected = decoder.features(previous, encoded)
        step = decoder.resume(previous, state)[1]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(decoder.resume(previous, state)[1].cells, step.cells, rtol=0, atol=1e-13)
    upstream, parts = torch.randn_like(found), [states, *stack.parameters(), *attention.parameters()]
    gradients = [torch.autograd.grad(one, parts, upstream, retain_graph=True) for one in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-13)
