"""The parts of `unroll`; what holds for every cell is in tests/contracts/test_cells.py."""

import torch

from atento.recurrent import ElmanCell, GRUCell, LSTMCell, LSTMState, unroll
from atento.recurrent.unroll import gather_steps, hold_state, valid_first


def test_real_items_come_first_in_their_order():
    valid = torch.tensor([[False, True, False, True, True], [True] * 5, [False] * 5])
    assert valid_first(valid).tolist() == [[1, 3, 4, 0, 2], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]


def test_pick_takes_each_row_in_its_own_order():
    values = torch.randn(2, 3, 5)
    order = torch.tensor([[2, 0, 1], [1, 2, 0]])
    expected = torch.stack([torch.stack([values[row, at] for at in order[row].tolist()]) for row in range(2)])
    assert torch.equal(gather_steps(values, order), expected)


def test_hold_moves_only_rows_with_a_real_step():
    moved, kept = (LSTMState(torch.randn(3, 5), torch.randn(3, 5)) for _ in range(2))
    mixed = hold_state(moved, kept, torch.tensor([True, False, True]))
    for part, new, old in zip(mixed, moved, kept, strict=True):
        assert torch.equal(part, torch.stack([new[0], old[1], new[2]]))


def test_a_walk_starts_with_zeros_unless_told():
    inputs = torch.randn(2, 3, 5)
    for cell in (ElmanCell(5, 7), LSTMCell(5, 7), GRUCell(5, 7)):
        start = cell.start(inputs[:, 0])
        assert all((part == 0).all() and part.shape == (2, 7) for part in start)
        assert torch.equal(unroll(cell, inputs).outputs, unroll(cell, inputs, start).outputs)
        other = type(start)(*(part + 1 for part in start))
        assert not torch.allclose(unroll(cell, inputs).outputs, unroll(cell, inputs, other).outputs)
