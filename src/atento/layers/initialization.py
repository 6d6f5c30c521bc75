"""Initializers of recurrent weight matrices, by name in `INITIALIZERS`, and modules without values: `shapes_alone`.

The initializers differ in what repeated multiplication does to a state before training: shrink it, keep its length, or
copy it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Initializer = Callable[[Tensor], object]  # fills a matrix (rows, columns) in place


@torch.no_grad()
def uniform(matrix: Tensor) -> None:
    """U(−a, a), a = 1/√columns: the largest singular value is near 2/√3, the spectral radius near 1/√3."""
    bound = matrix.size(1) ** -0.5
    matrix.uniform_(-bound, bound)


def initialize_blocks(matrix: Tensor, size: int, initializer: Initializer) -> None:
    """Initialize each block of `size` rows by itself: one gate after the other."""
    for block in torch.split(matrix.detach(), size):
        initializer(block)


INITIALIZERS: dict[str, Initializer] = {
    "uniform": uniform,
    "orthogonal": nn.init.orthogonal_,  # random; every singular value is 1 (Saxe et al., 2014)
    "identity": nn.init.eye_,  # copies the state; meant for ReLU (Le et al., 2015)
    "xavier": nn.init.xavier_uniform_,  # U(±a), a² = 6/(rows + columns) (Glorot & Bengio, 2010, eq. 16)
}

DRAWING = {  # functions that give random values to a tensor, which they return
    *(getattr(nn.init, f"{name}_") for name in ("normal", "trunc_normal", "uniform", "orthogonal")),
    *(getattr(nn.init, f"{family}_{name}_") for family in ("kaiming", "xavier") for name in ("normal", "uniform")),
    Tensor.normal_,
    Tensor.uniform_,
}
MADE: dict[Any, Any] = {torch.randn: torch.empty, torch.rand: torch.empty}  # a tensor of random values, and one without
COUNTING = {torch.arange, torch.linspace}
SCALING = {Tensor.mul, Tensor.__mul__, Tensor.__rmul__}


class UndrawnValues(TorchFunctionMode):
    """Within it a tensor that would be given random values, or multiplied by a number, stays as it is; counting is done
    on the CPU.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in DRAWING:
            return args[0] if args else kwargs["tensor"]
        if func in SCALING and not isinstance(args[1], Tensor):
            return args[0]
        if func in COUNTING and kwargs.get("device") is None:
            return func(*args, **{**kwargs, "device": "cpu"}).to("meta")
        return MADE.get(func, func)(*args, **kwargs)


@contextmanager
def shapes_alone() -> Iterator[None]:
    """Within it modules are made without values and memory, on torch's meta device, where drawing a value would load
    torch's compiler: a second, for numbers that no one sees.
    """
    with torch.device("meta"), UndrawnValues():
        yield
