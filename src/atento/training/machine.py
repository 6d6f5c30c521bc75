"""What training asks of a machine: memory, of which a model takes so much at least, and CPU threads.

Their best number is measured: on small models two can be slower than one.
"""

import time
from collections.abc import Callable

import torch
from torch import nn

from atento.errors import InputError
from atento.layers.initialization import shapes_alone
from atento.spec import ModelRecipe, TrainRecipe
from atento.system import usable_cores, usable_memory

COPIES = {"sgd": 0, "momentum": 1, "nesterov": 1, "rmsprop": 1, "adam": 2, "adamw": 2, "radam": 2}  # of each weight
GIGA = 10**9
REPETITIONS = 3
WORTHWHILE = 0.6  # more threads must take less than this share of the time: a busy machine slows them most


def require_memory(
    build: Callable[[ModelRecipe], nn.Module], model: ModelRecipe, train: TrainRecipe, *, device: str = "cpu"
) -> None:
    """Refuse a model whose weights, gradients and optimizer do not fit into memory; `build` makes a model of a recipe,
    here without memory: its shapes alone (on torch's meta device).
    """
    has, takes = memory_of(device), bytes_of(build, model, train)
    if takes <= has:
        return
    parameters = takes // (4 * (2 + COPIES[train.optimizer]))
    raise InputError(
        "this model does not fit into the memory of this machine.",
        found=f"about {parameters:,} parameters, which take {takes / GIGA:,.1f} GB with their gradients and the "
        f"optimizer {train.optimizer}; there are {has / GIGA:,.1f} GB",
        fix=smaller(build, model, train, has // 2),  # batches take memory too
    )


def bytes_of(build: Callable[[ModelRecipe], nn.Module], model: ModelRecipe, train: TrainRecipe) -> int:
    """Bytes of weights, gradients and what the optimizer keeps of each."""
    with torch.random.fork_rng(devices=[]), shapes_alone():  # the weights that are drawn later stay the same
        sketch = build(model)
    weights = sum(one.numel() * one.element_size() for one in sketch.parameters())
    return weights * (2 + COPIES[train.optimizer])


def smaller(build: Callable[[ModelRecipe], nn.Module], model: ModelRecipe, train: TrainRecipe, limit: int) -> str:
    """The hidden size with which the model takes less than the limit; where none does, the sizes to lower."""
    hidden, takes = model.hidden, bytes_of(build, model, train)
    while hidden > model.heads:
        share = min(0.5, (limit / takes) ** 0.5)  # most weights are of square matrices
        hidden = max(int(hidden * share) // model.heads, 1) * model.heads
        takes = bytes_of(build, model.model_copy(update={"hidden": hidden}), train)
        if takes <= limit:
            return f"--set model.hidden={hidden}"
    return "lower the sizes that you set: model.layers, model.feed_forward, model.max_length, tokens.vocab_size"


def memory_of(device: str) -> int:
    """Bytes of memory that a process may have: those of the GPU, or of the machine within the limits that are set."""
    if device == "cuda":
        return int(torch.cuda.get_device_properties(0).total_memory)
    return usable_memory()


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
