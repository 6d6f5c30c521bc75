"""The number of CPU threads, measured: on small models two can be slower than one."""

import time
from collections.abc import Callable

import torch

from atento.system import usable_cores

REPETITIONS = 3
WORTHWHILE = 0.6  # more threads must take less than this share of the time: a busy machine slows them most


def choose_threads(work: Callable[[], None], *, most: int | None = None) -> int:
    """Time the work with 1, 2, 4, ... threads, and set the fewest that are clearly fastest."""
    most = most or usable_cores()
    best, best_time = 1, seconds_of(work, 1)
    threads = 2
    while threads <= most:
        took = seconds_of(work, threads)
        if took < WORTHWHILE * best_time:
            best, best_time = threads, took
        threads *= 2
    torch.set_num_threads(best)
    return best


def seconds_of(work: Callable[[], None], threads: int) -> float:
    """The shortest time of a few repetitions."""
    torch.set_num_threads(threads)
    work()
    times = []
    for _ in range(REPETITIONS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
