"""Contracts of recurrence: each fails on a cell or a stack broken in just that way."""

import pytest
import torch

import atento
from atento.checks.recurrent import HOLES
from atento.layers import valid_from_lengths
from atento.models.builders.recurrent import CELLS
from atento.recurrent import ElmanCell, GRUCell, LSTMCell, Stack, StackOutput, unroll


def broken(checked):
    return {finding.contract for finding in checked.broken}


@pytest.mark.spec("X01")
@pytest.mark.parametrize("kind", CELLS.values(), ids=CELLS)
def test_every_cell_and_its_stacks_keep_every_contract(kind):
    assert atento.check(kind(3, 5))
    both = atento.check(Stack(kind, 3, 5, layers=2, bidirectional=True, dropout=0.3))
    assert both
    assert both["reversed"].verdict == "held"
    assert both["future"].verdict == both["streaming"].verdict == "does not apply"
    one = atento.check(Stack(kind, 3, 5, layers=2, dropout=0.3))
    assert one
    assert one["future in training"].verdict == one["streaming"].verdict == "held"


class StartsAnew(Stack):
    """Forgets the state it is given."""

    def forward(self, inputs, start=None, *, valid=None):
        return super().forward(inputs, None, valid=valid)


class RightPadding(Stack):
    """Takes padding to be on the right, wherever it is."""

    def forward(self, inputs, start=None, *, valid=None):
        if valid is not None:
            valid = valid_from_lengths(valid.sum(1), valid.size(1))
        return super().forward(inputs, start, valid=valid)


class NotReversed(Stack):
    """Both directions go the same way."""

    def forward(self, inputs, start=None, *, valid=None):
        walks = [unroll(self.cell(index), inputs, valid=valid) for index in (0, 1)]
        return StackOutput(torch.cat([walk.outputs for walk in walks], dim=-1), tuple(walk.last for walk in walks))


class ReversedPadding(Stack):
    """The way back begins in the padding."""

    def forward(self, inputs, start=None, *, valid=None):
        there = unroll(self.cell(0), inputs, valid=valid)
        back = unroll(self.cell(1), inputs.masked_fill(~valid.unsqueeze(-1), 0) if valid is not None else inputs,
                      backward=True)  # fmt: skip
        outputs = torch.cat([there.outputs, back.outputs], dim=-1)
        return StackOutput(outputs, (there.last, back.last))


class SwappedGates(GRUCell):
    """A step that differs from the walk's."""

    def forward(self, input, state):
        return super().forward(input.flip(-1), state)


def test_a_state_that_is_forgotten():
    assert broken(atento.check(StartsAnew(LSTMCell, 3, 5))) == {"streaming"}


@pytest.mark.spec("X01")
def test_padding_that_is_taken_to_be_elsewhere():
    found = broken(atento.check(RightPadding(ElmanCell, 3, 5)))
    assert {"ragged", "padding side"} <= found
    assert "padding amount" not in found


@pytest.mark.spec("X01")
def test_a_way_back_that_is_not_one():
    assert broken(atento.check(NotReversed(GRUCell, 3, 5, bidirectional=True))) == {"reversed"}


@pytest.mark.spec("X01")
def test_a_way_back_that_begins_in_the_padding():
    stack = ReversedPadding(GRUCell, 3, 5, bidirectional=True)
    for weight in stack.parameters():
        torch.nn.init.normal_(weight)  # without a bias, zeros would stay zeros
    found = broken(atento.check(stack))
    assert {"padding amount", "ragged"} <= found
    assert "reversed" not in found


def test_a_step_that_is_not_the_walks():
    assert "reversed" in broken(atento.check(Stack(SwappedGates, 3, 5, bidirectional=True)))


def test_rows_with_holes_in_them_are_asked():
    assert HOLES.sum(1).tolist() == [7, 5, 4]
    assert HOLES[2].tolist() == [False, True, False, True, True, False, True]
