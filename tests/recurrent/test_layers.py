"""RNN, LSTM and GRU against torch's modules of the same names, dense and ragged, in float64."""

import math

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.recurrent import GRU, LSTM, RNN
from cases import all_pairs

BATCH, STEPS, INPUT, HIDDEN, LAYERS = 3, 5, 7, 11, 2

every_layer = pytest.mark.parametrize(
    "kind, theirs, options",
    [
        pytest.param(RNN, nn.RNN, {}, marks=pytest.mark.spec("R01"), id="rnn"),
        pytest.param(RNN, nn.RNN, {"nonlinearity": "relu"}, marks=pytest.mark.spec("R01"), id="rnn relu"),
        pytest.param(LSTM, nn.LSTM, {}, marks=pytest.mark.spec("R08"), id="lstm"),
        pytest.param(GRU, nn.GRU, {}, marks=pytest.mark.spec("R09"), id="gru"),
    ],
)
both_ways = pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "both ways"])


def shaken(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return module


def torch_layer(theirs, bidirectional, options):
    return shaken(theirs(INPUT, HIDDEN, LAYERS, bidirectional=bidirectional, batch_first=True, **options))


def some_state(kind, bidirectional):
    shape = (LAYERS * (2 if bidirectional else 1), BATCH, HIDDEN)
    return (torch.randn(shape), torch.randn(shape)) if kind is LSTM else torch.randn(shape)


def tensors(state):
    return [state] if isinstance(state, torch.Tensor) else list(state)


@every_layer
@pytest.mark.parametrize(
    "bidirectional, begun, way", all_pairs([False, True], [False, True], ["from torch", "to torch"])
)
def test_layers_equal_torch(kind, theirs, options, bidirectional, begun, way):
    if way == "from torch":
        theirs = torch_layer(theirs, bidirectional, options)
        ours = kind.from_torch(theirs)
    else:
        ours = shaken(kind(INPUT, HIDDEN, LAYERS, bidirectional=bidirectional, **options))
        theirs = ours.to_torch()
    values, state = torch.randn(BATCH, STEPS, INPUT), some_state(kind, bidirectional) if begun else None
    expected, last = theirs(values, state)
    outputs, final = ours(values, state=state)
    torch.testing.assert_close(outputs, expected, rtol=1e-13, atol=1e-12)
    torch.testing.assert_close(tensors(final), tensors(last), rtol=1e-13, atol=1e-12)


@every_layer
@both_ways
def test_ragged_batches_equal_packed_sequences(kind, theirs, options, bidirectional):
    theirs = torch_layer(theirs, bidirectional, options)
    lengths, values = torch.tensor([2, 5, 1]), torch.randn(BATCH, STEPS, INPUT)
    packed = nn.utils.rnn.pack_padded_sequence(values, lengths, batch_first=True, enforce_sorted=False)
    expected, last = theirs(packed)
    valid = torch.arange(STEPS) < lengths.unsqueeze(1)
    outputs, final = kind.from_torch(theirs)(values.masked_fill(~valid.unsqueeze(-1), math.nan), valid)
    padded, _ = nn.utils.rnn.pad_packed_sequence(expected, batch_first=True)
    torch.testing.assert_close(outputs, padded, rtol=0, atol=1e-12)
    torch.testing.assert_close(tensors(final), tensors(last), rtol=0, atol=1e-12)


@pytest.mark.spec("R17")
@every_layer
def test_a_state_continues_a_sequence(kind, theirs, options):
    layer, values = shaken(kind(INPUT, HIDDEN, LAYERS, **options)), torch.randn(BATCH, STEPS, INPUT)
    whole, final = layer(values)
    _, state = layer(values[:, :2])
    rest, last = layer(values[:, 2:], state=state)
    torch.testing.assert_close(rest, whole[:, 2:], rtol=0, atol=1e-13)
    torch.testing.assert_close(tensors(last), tensors(final), rtol=0, atol=1e-13)


@every_layer
def test_there_and_back_again(kind, theirs, options):
    layer = shaken(kind(INPUT, HIDDEN, LAYERS, bidirectional=True, dropout=0.25, **options)).eval()
    again = kind.from_torch(layer.to_torch())
    assert (type(again), again.stack.dropout.p, again.training) == (kind, 0.25, False)
    assert all(torch.equal(again.state_dict()[name], tensor) for name, tensor in layer.state_dict().items())


def test_what_does_not_fit_is_named():
    values = torch.randn(BATCH, STEPS, INPUT)
    with pytest.raises(InputError, match=r"LSTM.from_torch reads torch.nn.LSTM") as caught:
        LSTM.from_torch(nn.GRU(INPUT, HIDDEN))
    assert caught.value.fix.startswith("call GRU.from_torch")
    with pytest.raises(InputError, match="did you mean 'tanh'"):
        RNN(INPUT, HIDDEN, nonlinearity="tan")
    with pytest.raises(InputError, match="LSTM: state must be hidden and carry"):
        LSTM(INPUT, HIDDEN)(values, state=torch.zeros(1, BATCH, HIDDEN))
    with pytest.raises(InputError, match="GRU: state must be hidden") as caught:
        GRU(INPUT, HIDDEN, 2)(values, state=torch.zeros(1, BATCH, HIDDEN))
    assert caught.value.found == "state (1, 3, 11)" and "(2, B, 11)" in caught.value.fix
