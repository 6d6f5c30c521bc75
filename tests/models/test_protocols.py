from typing import NamedTuple

import torch

from atento.models.protocols import Encoded, StateSteps, reorder


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


class Counted(NamedTuple):
    """A state of a table of the source, a count that each step renews, and one that it adds to in place."""

    table: torch.Tensor  # (R, 5)
    count: torch.Tensor  # (R,)
    total: torch.Tensor  # (R,)


class Counting:
    """A decoder whose logits tell the rows of its state apart."""

    def start(self, encoded):
        return Counted(encoded.states[:, 0].clone(), torch.zeros(len(encoded.valid)), torch.zeros(len(encoded.valid)))

    def step(self, token, state):
        state.total.add_(token)
        state = state._replace(count=state.count * 10 + token)
        return torch.cat([state.table, state.count.unsqueeze(1), state.total.unsqueeze(1)], dim=1), state


def test_rows_of_a_search_are_moved_and_what_is_alike_in_all_rows_of_a_source_stays():
    torch.manual_seed(0)
    states = torch.randn(3, 2, 5)
    encoded = Encoded(states, torch.ones(3, 2, dtype=torch.bool), states[:, 0])
    steps, token = StateSteps(Counting(), encoded, copies=2), torch.arange(1.0, 7.0)
    assert torch.equal(steps.step(token)[:, :5], states[:, 0].repeat_interleave(2, dim=0))
    table = steps.state.table

    steps.keep(torch.tensor([1, 1, 2, 3, 5, 4]))  # the sources as before
    assert steps.state.table is table
    assert steps.state.count.tolist() == steps.state.total.tolist() == [2, 2, 3, 4, 6, 5]
    steps.step(token)
    steps.keep(torch.tensor([1, 0, 4, 5]))  # the second source leaves
    assert torch.equal(steps.state.table, states[[0, 0, 2, 2], 0])
    assert steps.state.count.tolist() == [22, 21, 65, 56]
    assert steps.state.total.tolist() == [4, 3, 11, 11]
    table = steps.state.table
    steps.keep(torch.tensor([1, 1, 3, 2]))  # without a step in between
    assert steps.state.table is table
    assert steps.state.count.tolist() == [21, 21, 56, 65]
    logits = steps.step(torch.zeros(4))
    assert logits[:, 5].tolist() == [210, 210, 560, 650]
    assert torch.equal(logits[:, :5], states[[0, 0, 2, 2], 0])
