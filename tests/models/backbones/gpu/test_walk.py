"""The walk of an attentive decoder agrees with single steps in float64, gradients included, in Triton's interpreter.

The same decoder runs on a GPU in `benchmarks/gpu/bahdanau.py`, behind such a gate."""

import copy
import os

import pytest
import torch

if torch.cuda.is_available():
    pytest.skip("the interpreter is for machines without a GPU", allow_module_level=True)
pytest.importorskip("triton")

from atento.attention import Additive, Attention, Everything, Softmax
from atento.layers.embeddings import TokenEmbedding
from atento.models.backbones import recurrent_decoders
from atento.models.backbones.recurrent import as_both
from atento.models.backbones.recurrent_decoders import BahdanauDecoder
from atento.models.protocols import Encoded
from atento.recurrent import ElmanCell, GRUCell, LSTMCell, Stack

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the interpreter computes hidden places in NumPy
    pytest.mark.skipif(os.name == "nt", reason="Triton has no build for it"),
]

BATCH, STEPS, KEYS, EMBEDDING, HIDDEN, SOURCE, SCORES, WORDS = 3, 2, 7, 5, 13, 11, 17, 19
NEAR = 1e-5


def a_decoder(cell):
    attention = Attention(Additive(HIDDEN, SOURCE, hidden_size=SCORES), Softmax(), Everything())
    stack, handover = Stack(cell, EMBEDDING + 2 * SOURCE, HIDDEN), as_both(SOURCE, HIDDEN)
    decoder = BahdanauDecoder(TokenEmbedding(WORDS, EMBEDDING), stack, handover, attention, source_size=SOURCE).float()
    with torch.no_grad():
        for part in decoder.parameters():
            part += 0.1 * torch.randn_like(part)  # biases too
    return decoder


def numbers_of(decoder, dtype, given, valid):
    """Features, queries and last states of a known target, and the gradients of a weighted sum of them."""
    states, summary, previous = given
    leaves = [part.to(dtype).requires_grad_() for part in (states, summary)]
    state = decoder.start(Encoded(leaves[0], valid, leaves[1]))
    steps = decoder.unroll(decoder.inputs(previous, state), state)
    parts = [steps.features, steps.queries, *steps.state.cells[0]]
    chance = torch.Generator().manual_seed(1)
    loss = sum((part * torch.randn(part.shape, generator=chance).to(dtype)).sum() for part in parts)
    parameters = [part for name, part in decoder.named_parameters() if name != "bias"]  # of the logits
    return [*parts, *torch.autograd.grad(loss, [*leaves, *parameters])]


@pytest.mark.parametrize("cell", [GRUCell, LSTMCell, ElmanCell])
@pytest.mark.parametrize("lengths", [[7, 4, 0], None])
def test_features_states_and_gradients(cell, lengths, monkeypatch):
    """NaN at padding, and a row without any real key."""
    decoder = a_decoder(cell)
    valid = torch.ones(BATCH, KEYS, dtype=torch.bool)
    if lengths is not None:
        valid = torch.arange(KEYS) < torch.tensor(lengths).unsqueeze(-1)
    states = torch.randn(BATCH, KEYS, SOURCE).masked_fill(~valid.unsqueeze(-1), torch.nan)
    given = states, torch.randn(BATCH, SOURCE), torch.randint(WORDS, (BATCH, STEPS))
    exact = numbers_of(copy.deepcopy(decoder).double(), torch.float64, given, valid)
    monkeypatch.setattr(recurrent_decoders, "decline_reason", lambda *parts: None)  # as for tensors on a GPU
    walked = numbers_of(decoder, torch.float32, given, valid)
    for number, (one, other) in enumerate(zip(walked, exact, strict=True)):
        assert one.dtype == torch.float32
        assert (one.double() - other).norm() / other.norm() < NEAR, number
