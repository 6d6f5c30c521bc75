"""One row of what an encoder hands over."""

import torch
from torch.utils._pytree import tree_map_only

from atento.models.protocols import Encoded


def one_row(encoded: Encoded, row: int, times: int = 1) -> Encoded:
    """The row alone, `times` over; what the encoder left out stays out."""
    return tree_map_only(torch.Tensor, lambda part: part[row : row + 1].expand(times, *part.shape[1:]), encoded)
