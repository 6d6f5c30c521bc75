"""Stacks against torch's modules with the same weights."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers import ELU, MAXOUT, RELU
from atento.layers.dropout import Dropout
from atento.recurrent import ElmanCell, GRUCell, GRUResetBeforeCell, JordanCell, LSTMCell, Stack

BATCH, STEPS, INPUT, HIDDEN = 3, 5, 7, 11


def shaken(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return module


def hidden_of(theirs, last):
    """Torch's last states as ours: one tuple a layer and direction."""
    parts = last if isinstance(theirs, nn.LSTM) else (last,)
    return list(zip(*(part.unbind(0) for part in parts), strict=True))


@pytest.mark.spec("R11")
@pytest.mark.parametrize(
    "kind, theirs",
    [
        pytest.param(ElmanCell, nn.RNN, marks=pytest.mark.spec("R01")),
        pytest.param(partial(ElmanCell, activation=RELU), partial(nn.RNN, nonlinearity="relu"), id="relu"),
        pytest.param(LSTMCell, nn.LSTM, marks=pytest.mark.spec("R08")),
        pytest.param(GRUCell, nn.GRU, marks=pytest.mark.spec("R09")),
    ],
)
@pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("way", ["from torch", "to torch"])
def test_stacks_equal_torch_for_equal_weights(kind, theirs, bidirectional, way):
    if way == "from torch":
        theirs = shaken(theirs(INPUT, HIDDEN, num_layers=2, bidirectional=bidirectional, batch_first=True))
        ours = Stack.from_torch(theirs)
    else:
        ours = shaken(Stack(kind, INPUT, HIDDEN, layers=2, bidirectional=bidirectional))
        theirs = ours.to_torch()
    inputs = torch.randn(BATCH, STEPS, INPUT, requires_grad=True)
    expected, last = theirs(inputs)
    stacked = ours(inputs)
    torch.testing.assert_close(stacked.outputs, expected, rtol=1e-13, atol=1e-12)
    torch.testing.assert_close(
        [tuple(state) for state in stacked.last], hidden_of(theirs, last), rtol=1e-13, atol=1e-12
    )
    upstream = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, [inputs, *theirs.parameters()], upstream)
    weights = [
        part for cell in ours.cells for part in (cell.read.weight, cell.recur.weight, cell.read.bias, cell.recur.bias)
    ]
    torch.testing.assert_close(torch.autograd.grad(stacked.outputs, [inputs, *weights], upstream), gradients)


@pytest.mark.spec("R11")
@pytest.mark.parametrize("theirs", [nn.RNN, nn.LSTM, nn.GRU])
def test_dropout_between_layers_is_torch_s_dropout(theirs):
    """With one row the two libraries lay the numbers out alike, so the same random draws drop the same ones."""
    theirs = shaken(theirs(INPUT, HIDDEN, num_layers=3, dropout=0.5, batch_first=True)).train()
    ours = Stack.from_torch(theirs)
    assert isinstance(ours.dropout, Dropout) and ours.dropout.p == 0.5
    ours.dropout = nn.Dropout(0.5)  # whose draws are torch's
    inputs = torch.randn(1, STEPS, INPUT)
    outputs = []
    for module in (theirs, ours):
        torch.manual_seed(5)
        outputs.append(module(inputs)[0])
    torch.testing.assert_close(*outputs, rtol=0, atol=1e-12)
    torch.testing.assert_close(ours.eval()(inputs).outputs, theirs.eval()(inputs)[0], rtol=0, atol=1e-12)
    assert not torch.allclose(outputs[0], theirs(inputs)[0])


@pytest.mark.parametrize("theirs", [nn.RNN, partial(nn.RNN, nonlinearity="relu"), nn.LSTM, nn.GRU])
def test_ragged_rows_equal_torch_s_packed_sequences(theirs):
    theirs = shaken(theirs(INPUT, HIDDEN, num_layers=2, bidirectional=True, batch_first=True))
    lengths = torch.tensor([5, 3, 1])
    inputs = torch.randn(BATCH, STEPS, INPUT)
    packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True)
    outputs, last = theirs(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
    stacked = Stack.from_torch(theirs)(inputs, valid=torch.arange(STEPS) < lengths.unsqueeze(1))
    near = {"rtol": 1e-13, "atol": 1e-12}  # outputs of ReLU reach 40
    torch.testing.assert_close(stacked.outputs, expected, **near)
    torch.testing.assert_close([tuple(state) for state in stacked.last], hidden_of(theirs, last), **near)


@pytest.mark.parametrize("kind", [ElmanCell, partial(ElmanCell, activation=RELU), LSTMCell, GRUCell])
def test_there_and_back_again(kind):
    ours = shaken(Stack(kind, INPUT, HIDDEN, layers=2, bidirectional=True, dropout=0.25)).eval()
    again = Stack.from_torch(ours.to_torch())
    assert (again.layers, again.directions, again.dropout.p, again.training) == (2, 2, 0.25, False)
    assert again.cell(0).activation == ours.cell(0).activation
    assert all(torch.equal(again.state_dict()[name], tensor) for name, tensor in ours.state_dict().items())


@pytest.mark.spec("R10")
@pytest.mark.parametrize("kind", [ElmanCell, LSTMCell, GRUCell])
def test_reversed_input_and_swapped_directions_give_the_reversed_output(kind):
    stack = shaken(Stack(kind, INPUT, HIDDEN, bidirectional=True))
    swapped = Stack(kind, INPUT, HIDDEN, bidirectional=True)
    swapped.cells[0].load_state_dict(stack.cells[1].state_dict())
    swapped.cells[1].load_state_dict(stack.cells[0].state_dict())
    inputs = torch.randn(BATCH, STEPS, INPUT)
    forward, backward = stack(inputs).outputs.split(HIDDEN, dim=-1)
    mirrored = swapped(inputs.flip(1)).outputs.flip(1)
    torch.testing.assert_close(mirrored, torch.cat([backward, forward], dim=-1), rtol=0, atol=1e-14)


def learned_share_right(*, bidirectional):
    """Train to fill a blank whose content only the item to its right decides; the share filled rightly."""
    torch.manual_seed(0)
    items, hidden = 5, 17
    table = torch.randperm(items)
    parts = nn.ModuleList(
        [nn.Embedding(items + 1, hidden), Stack(GRUCell, hidden, hidden, bidirectional=bidirectional)]
    ).float()
    parts.append(nn.Linear(parts[1].output_size, items).float())
    optimiser = torch.optim.Adam(parts.parameters(), lr=0.02, fused=True)
    for _ in range(120):
        tokens = torch.randint(items, (61, STEPS))
        place = torch.randint(STEPS - 1, (61, 1))
        target = table[tokens.gather(1, place + 1)].squeeze(1)
        shown = tokens.scatter(1, place, items)  # the blank
        states = parts[1](parts[0](shown)).outputs
        logits = parts[2](states.gather(1, place.unsqueeze(-1).expand(-1, -1, states.size(-1))).squeeze(1))
        functional.cross_entropy(logits, target).backward()
        optimiser.step()
        optimiser.zero_grad()
    return (logits.argmax(-1) == target).double().mean().item()


@pytest.mark.spec("R10")
def test_only_both_directions_fill_a_blank_that_the_right_decides():
    assert learned_share_right(bidirectional=True) == 1.0
    assert learned_share_right(bidirectional=False) < 0.5


@pytest.mark.spec("R17")
@pytest.mark.parametrize("kind", [ElmanCell, LSTMCell, GRUCell])
def test_steps_of_a_stack_equal_the_whole_sequence(kind):
    stack = shaken(Stack(kind, INPUT, HIDDEN, layers=3, dropout=0.5)).eval()
    inputs = torch.randn(BATCH, STEPS, INPUT)
    whole, state = stack(inputs), tuple(cell.start(inputs[:, 0]) for cell in stack.cells)
    for step in range(STEPS):
        output, state = stack.step(inputs[:, step], state)
        torch.testing.assert_close(output, whole.outputs[:, step], rtol=0, atol=1e-13)
    for carried, last in zip(state, whole.last, strict=True):
        torch.testing.assert_close(tuple(carried), tuple(last), rtol=0, atol=1e-13)
    torch.testing.assert_close(stack(inputs[:, 2:], stack(inputs[:, :2]).last).outputs, whole.outputs[:, 2:])


@pytest.mark.parametrize(
    "module", [nn.LSTM(3, 5, proj_size=2), nn.GRU(3, 5, bias=False)], ids=["projection", "no bias"]
)
def test_what_we_cannot_hold_is_refused(module):
    with pytest.raises(InputError, match="from_torch reads"):
        Stack.from_torch(module)


@pytest.mark.parametrize(
    "kind, named",
    [
        (type("Unknown", (GRUCell,), {}), "Unknown"),
        (GRUResetBeforeCell, "GRUResetBeforeCell"),
        (JordanCell, "JordanCell"),
        (partial(ElmanCell, activation=ELU), "ElmanCell"),
        (partial(LSTMCell, activation=RELU), "LSTMCell"),
        (partial(GRUCell, activation=MAXOUT), "GRUCell"),
    ],
)
def test_what_torch_cannot_hold_is_refused(kind, named):
    with pytest.raises(InputError, match=f"no module for {named} with"):
        Stack(kind, INPUT, HIDDEN).to_torch()


@pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "both ways"])
def test_a_stack_is_as_wide_as_its_cells_say(bidirectional):
    """A layer reads the output of the one below, which may be narrower than its hidden layer."""
    stack = Stack(partial(JordanCell, output_size=2), INPUT, HIDDEN, layers=3, bidirectional=bidirectional)
    width = 4 if bidirectional else 2
    assert stack.output_size == width
    assert [stack.cell(index).input_size for index in range(len(stack.cells))][:: stack.directions] == [
        INPUT,
        width,
        width,
    ]
    inputs = torch.randn(BATCH, STEPS, INPUT)
    assert stack(inputs).outputs.shape == (BATCH, STEPS, width)
    assert [state.hidden.shape for state in stack.start(inputs[:, 0])] == [(BATCH, 2)] * len(stack.cells)


def test_layers_are_at_least_one():
    with pytest.raises(InputError, match="layers must be at least 1"):
        Stack(GRUCell, INPUT, HIDDEN, layers=0)
