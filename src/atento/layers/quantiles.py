"""Quantiles of a number to come: their loss, and an order that never breaks."""

from collections.abc import Sequence

import torch
from torch import Tensor

from atento.errors import InputError
from atento.layers.losses import Loss, as_numbers, precise

# Axes: Q levels. Any axes may stand before it.


def pinball(outputs: Tensor, truth: Tensor, levels: Sequence[float]) -> Loss:
    """max(τ (y − q), (τ − 1) (y − q)) of every level τ, every number an item (Koenker & Bassett, 1978, eq. 2.1).

    outputs (..., Q), truth (...): smallest where q is the τ-quantile of y. An item's loss is the mean over its levels.
    """
    if outputs.size(-1) != len(levels):
        raise InputError(
            "there must be an output for each level.",
            found=f"outputs {tuple(outputs.shape)}, {len(levels)} levels",
            fix=f"give outputs (..., {len(levels)})",
        )
    above = as_numbers(truth, outputs[..., 0]).unsqueeze(-1) - precise(outputs)  # (..., Q)
    shares = above.new_tensor(levels)
    return Loss(torch.maximum(shares * above, (shares - 1) * above).sum() / len(levels), truth.numel())


def in_order(outputs: Tensor) -> Tensor:
    """The outputs (..., Q) sorted, so that quantiles never cross; their loss only falls by it (Chernozhukov,
    Fernández-Val & Galichon, 2010, prop. 4).
    """
    return outputs.sort(dim=-1).values if outputs.size(-1) > 1 else outputs


def median_shares(levels: Sequence[float]) -> list[float]:
    """What each level gives to the median: all where 0.5 is among them, else by a line between its neighbours."""
    if not levels:
        return [1.0]
    shares = [0.0] * len(levels)
    after = next((index for index, level in enumerate(levels) if level >= 0.5), len(levels))
    if after == len(levels) or after == 0:  # all lie on one side: the nearest
        shares[min(after, len(levels) - 1)] = 1.0
        return shares
    low, high = levels[after - 1], levels[after]
    shares[after] = (0.5 - low) / (high - low)
    shares[after - 1] = 1.0 - shares[after]
    return shares
