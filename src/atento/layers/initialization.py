"""Initializers of recurrent weight matrices, by name in `INITIALIZERS`.

They differ in what repeated multiplication does to a state before training: shrink it, keep its length, or copy it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

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
