"""Chunks of time and nested states; the gradients of truncated back-propagation are in tests/training."""

import pytest
import torch

from atento.errors import InputError
from atento.recurrent import HiddenState, LSTMState, chunks, map_state


def test_chunks_follow_each_other():
    assert list(chunks(7, 3)) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert list(chunks(6, 3)) == [slice(0, 3), slice(3, 6)]
    assert list(chunks(2, 3)) == [slice(0, 2)]


def test_a_chunk_has_a_step():
    with pytest.raises(InputError, match="at least one step"):
        list(chunks(7, 0))


def test_a_function_of_nested_states():
    state = (
        HiddenState(torch.full((2, 3), 2.0)),
        (LSTMState(torch.ones(2, 5), torch.ones(2, 5)), None, 7),
    )
    doubled = map_state(lambda part: 2 * part, state)
    assert (doubled[0].hidden == 4).all() and type(doubled[0]) is HiddenState
    assert type(doubled[1][0]) is LSTMState and doubled[1][1:] == (None, 7)
    summed = map_state(torch.add, state[:1], (HiddenState(torch.ones(2, 3)),))
    assert (summed[0].hidden == 3).all()
