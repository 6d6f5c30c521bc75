"""Windows of one long row: views of it, each token once an epoch."""

import itertools

import pytest
import torch

from atento.data.examples.streams import StoredTokens, Stream, StreamSampler

TOKENS, WINDOW = 103, 7


@pytest.fixture
def stream():
    return Stream(range(TOKENS), WINDOW)


def test_windows_are_views(stream):
    window = stream[5]
    assert window.tolist() == list(range(5, 5 + WINDOW + 1))
    assert window.untyped_storage().data_ptr() == stream.tokens.untyped_storage().data_ptr()
    assert [part[0].item() for part in stream[:3]] == [0, 7, 14]
    assert len(stream[len(stream) - 1]) == WINDOW + 1


def test_a_text_shorter_than_a_window_is_one_window():
    short = Stream([3, 5, 6], 10)
    assert short[0].tolist() == [3, 5, 6]
    assert StreamSampler(short, batch_tokens=100, seed=0, lanes=True).epoch(0) == [[0]]


@pytest.mark.parametrize("lanes", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 50])
def test_an_epoch_meets_every_token_once(stream, lanes, rows):
    order = StreamSampler(stream, batch_tokens=rows * WINDOW, seed=1, lanes=lanes)
    for number in range(5):
        batches = order.epoch(number)
        targets = torch.cat([stream[start][1:] for batch in batches for start in batch])
        assert len(targets.unique()) == len(targets)
        assert len(targets) >= TOKENS - 1 - (rows + 1) * WINDOW
        assert max(map(len, batches)) <= rows
    assert order.epoch(3) == order.epoch(3)
    assert order.epoch(3) != order.epoch(4)
    assert order.epoch(0) != StreamSampler(stream, batch_tokens=rows * WINDOW, seed=2, lanes=lanes).epoch(0)


def test_lanes_follow_each_other(stream):
    """Every row of a batch begins where the same row of the batch before it ended."""
    batches = StreamSampler(stream, batch_tokens=3 * WINDOW, seed=1, lanes=True).epoch(2)
    assert len(batches) == 4
    for before, after in itertools.pairwise(batches):
        assert [start + WINDOW for start in before] == after


def test_tokens_on_disk_are_the_same_stream():
    rows = [torch.arange(7), torch.arange(100, 113), torch.arange(3)]
    stored, held = Stream(StoredTokens(iter(rows)), 5), Stream(torch.cat(rows), 5)
    assert len(stored) == len(held)
    for start in range(len(held)):
        assert stored[start].tolist() == held[start].tolist()
        assert stored[start].dtype == torch.long
    samplers = [StreamSampler(one, batch_tokens=10, seed=1, lanes=False) for one in (stored, held)]
    assert samplers[0].epoch(2) == samplers[1].epoch(2)
