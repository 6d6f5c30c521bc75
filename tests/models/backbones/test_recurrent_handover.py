"""The summary as first state, with every input, or both."""

import pytest
import torch

from atento.models.backbones.recurrent import ConcatContext, NoContext, ZeroState, as_both, as_input, as_state

BATCH, TIME, SOURCE_SIZE, EMBEDDING, SIZE = 2, 5, 7, 3, 11


@pytest.mark.spec("E01")
def test_an_input_stands_alone_or_beside_the_summary():
    embedded, summary = torch.randn(BATCH, TIME, EMBEDDING), torch.randn(BATCH, SOURCE_SIZE)
    assert NoContext()(embedded, summary) is embedded
    joined = ConcatContext(SOURCE_SIZE)(embedded, summary)
    for row in range(BATCH):
        for at in range(TIME):
            assert joined[row, at].tolist() == [*embedded[row, at].tolist(), *summary[row].tolist()]
    assert torch.equal(ConcatContext(SOURCE_SIZE)(embedded[:, 2], summary), joined[:, 2])


@pytest.mark.spec("E01")
@pytest.mark.parametrize(
    "hand_over, maps, added", [(as_state, True, 0), (as_input, False, SOURCE_SIZE), (as_both, True, SOURCE_SIZE)]
)
def test_each_way_has_the_maps_it_needs(hand_over, maps, added):
    first_states, feed = hand_over(SOURCE_SIZE, SIZE)
    first = first_states(torch.randn(BATCH, SOURCE_SIZE))
    assert first.shape == (BATCH, SIZE)
    assert bool(first.any()) is maps is bool(list(first_states.parameters()))
    assert feed.added == added


def test_silence_follows_the_summary_in_kind():
    summary = torch.randn(BATCH, SOURCE_SIZE, dtype=torch.float32)
    quiet = ZeroState(SIZE)(summary)
    assert (quiet.dtype, quiet.shape, bool(quiet.any())) == (torch.float32, (BATCH, SIZE), False)
