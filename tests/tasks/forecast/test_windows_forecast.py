"""Windows are views: found by arithmetic, equal to a loop over all of them, never a copy of the series."""

import numpy as np
import pytest
import torch
from tests.tasks.hand_series import series

from atento.data.series import Frequency
from atento.tasks.forecast.windows import (
    EncodedSeries,
    Origins,
    ShuffledWindows,
    TrainingWindows,
    WindowSpec,
    stack_windows,
)

FRAME = WindowSpec(5, 3, ("a", "b"), ("k",), Frequency(1, "h"), 1)
CHANCE = np.random.default_rng(0)


def encoded(*lengths):
    return [EncodedSeries(torch.randn(rows, 2), torch.randn(rows, 1)) for rows in lengths]


@pytest.mark.spec("D02")
def test_windows_of_a_series_are_views_of_it():
    """[samples, look_back, features] over 10⁶ rows holds no more numbers than the rows themselves."""
    values = torch.arange(2_000_000, dtype=torch.float32).view(-1, 2)
    windows = TrainingWindows(
        [EncodedSeries(values, torch.zeros(len(values), 0))], FRAME._replace(look_back=41), steps=1
    )
    assert windows.values.shape == (1_000_000 - 41, 42, 2)
    assert windows.values.data_ptr() == values.data_ptr()
    assert windows.values.untyped_storage().nbytes() == values.untyped_storage().nbytes()
    one = windows[977]
    assert one.past.shape == (41, 2)
    assert one.past.untyped_storage().data_ptr() == values.untyped_storage().data_ptr()
    np.testing.assert_array_equal(one.past.numpy(), values[977 : 977 + 41].numpy())
    np.testing.assert_array_equal(one.target.numpy(), values[977 + 41 : 977 + 42].numpy())


@pytest.mark.spec("D02")
def test_questions_are_views_too():
    whole = series(CHANCE.normal(size=(60, 2)), known=CHANCE.normal(size=60))
    origins = Origins([whole], FRAME, [(20, 31)])
    assert len(origins) == 11
    for at, question in enumerate(origins):
        past, (future,) = question
        assert np.shares_memory(past.values, whole.values) and np.shares_memory(future, whole.values)
        assert np.shares_memory(past.future_covariates, whole.future_covariates)
        np.testing.assert_array_equal(past.values, whole.values[15 + at : 20 + at])
        np.testing.assert_array_equal(future, whole.values[20 + at : 23 + at])
        assert past.future_covariates.shape == (8, 1) and past.origin == 20 + at
    assert str(origins[0].source) == "until 2024-01-01 19:00"


@pytest.mark.parametrize("lengths", [(23,), (23, 8, 7, 11), (3, 19)])
def test_every_window_once_and_none_across_two_series(lengths):
    parts = encoded(*lengths)
    windows = TrainingWindows(parts, FRAME, steps=3)
    expected = [
        (part.values[at : at + 5], part.known[at : at + 8], part.values[at + 5 : at + 8])
        for part in parts
        for at in range(len(part.values) - 7)
    ]
    assert len(windows) == len(expected)
    order = CHANCE.permutation(len(windows))
    batch = windows.gather(order)
    for row, at in enumerate(order):
        for mine, theirs in zip(batch, expected[at], strict=True):
            assert torch.equal(mine[row], theirs)
    again = stack_windows(windows[2:5])
    assert all(torch.equal(one, other) for one, other in zip(again, windows.gather(range(2, 5)), strict=True))


def test_origins_of_many_series_and_their_slices():
    parts = [series(range(30), "a"), series(range(12), "b"), series(range(100, 140), "c")]
    frame = FRAME._replace(channels=("a",), covariates=())
    origins = Origins(parts, frame, [(20, 28), (11, 10), (30, 38)])  # the second has none
    places = [(question.source.series, question.source.origin) for question in origins]
    assert places == [("a", at) for at in range(20, 28)] + [("c", at) for at in range(30, 38)]
    assert [(one.source.series, one.source.origin) for one in origins[1::5]] == places[1::5]
    assert [one.source.origin for one in origins[::3][-2:]] == [at for _, at in places[::3]][-2:]
    assert origins[-1].references[0][:, 0].tolist() == [137, 138, 139]
    assert len(Origins([], frame, [])) == 0


def test_an_epoch_is_a_permutation_in_arrays():
    order = ShuffledWindows(101, batch=7, seed=3)
    first = order.epoch(0)
    assert len(order) == 101 and len(first) == 15 and len(first[-1]) == 3
    assert sorted(np.concatenate(list(first)).tolist()) == list(range(101))
    assert [part.tolist() for part in order.epoch(0)] == [part.tolist() for part in first]
    assert [part.tolist() for part in order.epoch(1)] != [part.tolist() for part in first]
    assert [part.tolist() for part in first[4:]] == [part.tolist() for part in first][4:]  # a resumed run
    assert first[0].dtype == np.int32
