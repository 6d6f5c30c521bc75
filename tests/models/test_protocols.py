from typing import NamedTuple

import torch

from atento.models.protocols import reorder


class Inner(NamedTuple):
    key: torch.Tensor
    valid: torch.Tensor | None


def test_reorder_picks_rows_of_every_tensor_and_keeps_the_rest():
    rows = torch.tensor([2, 0, 0])
    numbers, table = torch.arange(3), torch.randn(3, 5, 7)
    state = ((numbers, Inner(table, None)), (), Inner(table + 1, numbers > 1))
    moved = reorder(state, rows)
    assert moved[0][0].tolist() == [2, 0, 0]
    assert isinstance(moved[0][1], Inner)
    assert torch.equal(moved[0][1].key, table[rows])
    assert moved[0][1].valid is None
    assert moved[1] == ()
    assert torch.equal(moved[2].key, table[rows] + 1)
    assert moved[2].valid.tolist() == [True, False, False]
