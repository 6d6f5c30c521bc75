"""How a recurrent matrix starts: what it does to a state, step after step, before anything is learned."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

Initialise = Callable[[Tensor], None]  # fills a matrix (rows, columns) in place


@torch.no_grad()
def uniform(matrix: Tensor) -> None:
    """U(−a, a), a = 1/√columns: the largest singular value is near 2/√3, the spectral radius near 1/√3."""
    bound = matrix.size(1) ** -0.5
    matrix.uniform_(-bound, bound)


@torch.no_grad()
def orthogonal(matrix: Tensor) -> None:
    """A rotation: every singular value is 1, lengths are kept (Saxe et al., 2014)."""
    nn.init.orthogonal_(matrix)


@torch.no_grad()
def identity(matrix: Tensor) -> None:
    """The state goes on as it is; meant for ReLU (Le et al., 2015)."""
    nn.init.eye_(matrix)


@torch.no_grad()
def xavier(matrix: Tensor) -> None:
    """U(−a, a), a² = 6/(rows + columns): variance 1/size in a square one (Glorot & Bengio, 2010, eq. 16)."""
    nn.init.xavier_uniform_(matrix)


def initialise_blocks(matrix: Tensor, size: int, initialise: Initialise) -> None:
    """Each gate's own block of so many rows by itself."""
    for block in torch.split(matrix.detach(), size):
        initialise(block)


INITIALISATIONS: dict[str, Initialise] = {
    "uniform": uniform,
    "orthogonal": orthogonal,
    "identity": identity,
    "xavier": xavier,
}
