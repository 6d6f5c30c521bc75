"""Linear recurrences h_t = a_t h_{t−1} + b_t of a whole sequence by an associative scan, forward and backward.

Two steps in a row are one step: a₂ (a₁ h + b₁) + b₂ = (a₂ a₁) h + (a₂ b₁ + b₂). So the T steps become T/2 pairs, whose
scan gives every other state, and one more product gives the states between: about 3 T products in 2 log₂ T operations
that wait for each other, in place of T  (Blelloch, 1990, § 1.4).

Nothing is divided and no logarithm is taken. The form in logarithms  (Heinsen, 2023) subtracts sums of log a that grow
with T: in float32 its digits are gone after some thousand steps, and at once where a gate is shut.
"""

from typing import Any

import torch
from torch import Tensor

# Axes: B batch, T time, H hidden.


def linear_recurrence(keep: Tensor, write: Tensor, start: Tensor) -> Tensor:
    """States (B, T, H) of h_t = keep_t h_{t−1} + write_t, from keep and write (B, T, H) and h_0 = start (B, H)."""
    states: Tensor = LinearRecurrence.apply(keep, write, start)  # type: ignore[no-untyped-call]
    return states


class LinearRecurrence(torch.autograd.Function):
    """The scan, whose way back is the same scan from right to left; only a and h are kept for it."""

    @staticmethod
    def forward(context: Any, keep: Tensor, write: Tensor, start: Tensor) -> Tensor:
        """The states of all steps."""
        first = torch.addcmul(write[:, 0], keep[:, 0], start)
        states = scan_pairs(keep, torch.cat([first.unsqueeze(1), write[:, 1:]], dim=1))
        context.save_for_backward(keep, states, start)
        return states

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """d_t = g_t + a_{t+1} d_{t+1} is the gradient of h_t and of b_t; that of a_t is d_t h_{t−1}."""
        keep, states, start = context.saved_tensors
        following = torch.cat([keep[:, 1:], torch.zeros_like(keep[:, :1])], dim=1)  # a_{t+1}
        ends = torch.zeros_like(start)
        d_write = linear_recurrence(following.flip(1), gradients[0].flip(1), ends).flip(1)
        before = torch.cat([start.unsqueeze(1), states[:, :-1]], dim=1)  # h_{t−1}
        return d_write * before, d_write, d_write[:, 0] * keep[:, 0]


def scan_pairs(keep: Tensor, write: Tensor) -> Tensor:
    """States (B, T, H) of a recurrence from zero: those of the pairs of steps, and from them the states between."""
    time = write.size(1)
    if time == 1:
        return write
    early, late = slice(0, time // 2 * 2, 2), slice(1, None, 2)
    pairs = torch.addcmul(write[:, late], keep[:, late], write[:, early])  # (B, T/2, H)
    after = scan_pairs(keep[:, late] * keep[:, early], pairs)  # after steps 1, 3, 5 …, counted from 0
    states = torch.empty_like(write)
    states[:, 0] = write[:, 0]
    states[:, late] = after
    between = slice(2, None, 2)
    states[:, between] = torch.addcmul(write[:, between], keep[:, between], after[:, : (time - 1) // 2])
    return states
