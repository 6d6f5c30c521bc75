"""The memory that the training of a model takes at least, against what the machine has, before the model is built."""

from collections.abc import Callable

import torch
from torch import nn

from atento.errors import InputError
from atento.spec import ModelRecipe, TrainRecipe
from atento.system import usable_memory

COPIES = {"sgd": 0, "momentum": 1, "nesterov": 1, "rmsprop": 1, "adam": 2, "adamw": 2, "radam": 2}  # of each weight
GIGA = 10**9


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
    with torch.random.fork_rng(devices=[]), torch.device("meta"):  # the weights that are drawn later stay the same
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
