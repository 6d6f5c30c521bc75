"""Losses. Each gives a sum and a count, so that micro-batches of any size add up to one batch exactly.

Quantiles of a number to come: their loss, and an order that never breaks.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError

# Axes: M real items, C classes, L labels, B sequences, T time.

SURE = 1e-3  # how far shares of one item may be from a sum of one


class Loss(NamedTuple):
    """A total and the number of items in it; `mean` is what training follows."""

    total: Tensor
    items: int

    @property
    def mean(self) -> Tensor:
        """The loss of one item."""
        return self.total / max(self.items, 1)

    def shared_by(self, items: int) -> "Loss":
        """The same total over items of another kind: sequences instead of tokens."""
        return Loss(self.total, items)


def token_cross_entropy(
    logits: Tensor, targets: Tensor, *, smoothing: float = 0.0, weights: Tensor | None = None
) -> Loss:
    """Cross-entropy of real tokens only: logits (M, C), targets (M,). Smoothing spreads a share over all classes.

    With weights (C,) each item's loss is times the weight of its class; it still counts as one item.
    """
    require_shape("targets", targets, logits.shape[:-1])
    if not 0.0 <= smoothing <= 1.0:
        raise InputError("smoothing is a share of each label.", found=f"smoothing={smoothing}", fix="from 0 to 1")
    logits = precise(logits)
    weights = None if weights is None else weights.to(logits)
    total = functional.cross_entropy(logits, targets, weight=weights, reduction="sum", label_smoothing=smoothing)
    return Loss(total, targets.numel())


def sequence_cross_entropy(logits: Tensor, targets: Tensor, *, valid: Tensor, smoothing: float = 0.0) -> Loss:
    """Cross-entropy summed over time within a sequence, averaged over sequences: minus log P(y | x) of each.

    logits (B, T, C), targets (B, T), valid (B, T): padding is never read; a row of nothing else is no sequence.
    """
    require_shape("targets", targets, logits.shape[:-1])
    require_shape("valid", valid, logits.shape[:-1])
    tokens = token_cross_entropy(logits[valid], targets[valid], smoothing=smoothing)
    return tokens.shared_by(int(valid.any(dim=-1).sum()))


def binary_cross_entropy(logits: Tensor, truth: Tensor, *, yes: Tensor | None = None) -> Loss:
    """−y ln p − (1 − y) ln(1 − p) with p = sigmoid(logit): each item, or each of several labels, judged by itself.

    logits and truth (M,) or (M, L); every yes or no is an item. With yes (L,), a label's first term is times that.
    """
    truth = as_numbers(truth, logits)
    if truth.numel() and not 0.0 <= truth.min() <= truth.max() <= 1.0:
        raise InputError(
            "the truth about a label is 0, 1 or a probability.",
            found=f"numbers from {truth.min().item():.4g} to {truth.max().item():.4g}",
            fix="give each label 0 for no and 1 for yes",
        )
    logits = precise(logits)
    yes = None if yes is None else yes.to(logits)
    total = functional.binary_cross_entropy_with_logits(logits, truth, pos_weight=yes, reduction="sum")
    return Loss(total, truth.numel())


def divergence(logits: Tensor, shares: Tensor) -> Loss:
    """Kullback–Leibler divergence D(y‖p) = H(y, p) − H(y) of p = softmax(logits) from soft labels y.

    logits and shares (M, C). Zero where they agree. H(y) does not depend on p, so the gradient is the cross-entropy's;
    for one-hot y it is the cross-entropy.
    """
    shares = as_numbers(shares, logits)
    if shares.numel() and not (shares.min() >= 0 and (shares.sum(dim=-1) - 1).abs().max() <= SURE):
        raise InputError(
            "soft labels of an item are shares that sum to 1.",
            found=f"a smallest share of {shares.min().item():.4g}, sums from {shares.sum(dim=-1).min().item():.4g} "
            f"to {shares.sum(dim=-1).max().item():.4g}",
            fix="divide each row by its sum",
        )
    total = functional.kl_div(precise(logits).log_softmax(dim=-1), shares, reduction="sum")
    return Loss(total, shares[..., 0].numel())


def squared_error(outputs: Tensor, truth: Tensor) -> Loss:
    """(y − ŷ)², every number an item: outputs and truth of the same shape."""
    truth = as_numbers(truth, outputs)
    return Loss((precise(outputs) - truth).square().sum(), truth.numel())


def squared_weights(module: nn.Module) -> Tensor:
    """The L2 penalty Σ w² of a module's matrices; biases and gains are free, as the intercept of a ridge regression.

    The whole cost is `loss.mean + strength * squared_weights(module)`, the penalty once a step, however many
    micro-batches there are (Hoerl & Kennard, 1970: strength · items is their k).
    """
    weights = [precise(weight).square().sum() for weight in module.parameters() if weight.dim() > 1]
    return torch.stack(weights).sum() if weights else torch.zeros(())


def precise(values: Tensor) -> Tensor:
    """At least float32: sums of many terms need its digits."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def as_numbers(truth: Tensor, outputs: Tensor) -> Tensor:
    """The truth in the precision of a loss, one number for each output."""
    require_shape("truth", truth, outputs.shape)
    return truth.to(precise(outputs).dtype)


def require_shape(name: str, given: Tensor, wanted: torch.Size) -> None:
    """Nothing is broadcast: a truth of another shape is a mistake."""
    if given.shape != wanted:
        raise InputError(
            f"{name} must have one entry for each output.",
            found=f"{name} of shape {tuple(given.shape)}",
            fix=f"give {name} of shape {tuple(wanted)}",
        )


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
