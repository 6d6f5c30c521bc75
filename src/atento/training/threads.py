"""How many processor threads: measured, since two can be slower than one on small models."""

import os
import time
from collections.abc import Callable

import torch

TRIALS = 3
WORTH_IT = 0.6  # more threads must take less than this share of the time: they suffer most when the machine is busy


def choose_threads(work: Callable[[], None], *, most: int | None = None) -> int:
    """Try 1, 2, 4, ... threads on real work and keep the fewest that are clearly fastest."""
    most = most or len(os.sched_getaffinity(0))
    best, best_time = 1, seconds_of(work, 1)
    threads = 2
    while threads <= most:
        took = seconds_of(work, threads)
        if took < WORTH_IT * best_time:
            best, best_time = threads, took
        threads *= 2
    torch.set_num_threads(best)
    return best


def seconds_of(work: Callable[[], None], threads: int) -> float:
    """The fastest of a few trials."""
    torch.set_num_threads(threads)
    work()
    times = []
    for _ in range(TRIALS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
