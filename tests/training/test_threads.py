import time

import pytest
import torch

from atento.training.threads import choose_threads


@pytest.fixture(autouse=True)
def threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def work_that_takes(milliseconds):
    """Work whose time depends on the number of threads, as real work's does."""
    return lambda: time.sleep(milliseconds(torch.get_num_threads()) / 1000)


@pytest.mark.parametrize(
    "milliseconds, most, best",
    [
        (lambda threads: 24 / threads, 1, 1),
        (lambda threads: 24 / threads, 2, 2),
        (lambda threads: 24 / threads, 4, 4),
        (lambda threads: 24 / min(threads, 2), 4, 2),
        (lambda threads: 8, 4, 1),
        (lambda threads: 6 * threads, 4, 1),
        (lambda threads: 20 if threads == 1 else 16, 2, 1),  # not worth a core
    ],
)
def test_the_fewest_threads_that_are_clearly_fastest(milliseconds, most, best):
    assert choose_threads(work_that_takes(milliseconds), most=most) == best
    assert torch.get_num_threads() == best
