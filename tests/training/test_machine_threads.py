from types import SimpleNamespace

import pytest
import torch

from atento.training import machine as chosen
from atento.training.machine import choose_threads


@pytest.fixture(autouse=True)
def threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def work_that_takes(monkeypatch):
    """Work whose time depends on the number of threads, as real work's does, by a clock that nothing else moves."""
    now = [0.0]

    def make(milliseconds):
        def work():
            now[0] += milliseconds(torch.get_num_threads()) / 1000

        return work

    monkeypatch.setattr(chosen, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return make


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
def test_the_fewest_threads_that_are_clearly_fastest(work_that_takes, milliseconds, most, best):
    assert choose_threads(work_that_takes(milliseconds), most=most) == best
    assert torch.get_num_threads() == best
