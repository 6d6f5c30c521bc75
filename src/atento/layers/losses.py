"""Loss functions. Each returns a sum and a count, so that micro-batches of any size add up to one batch exactly."""

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers.products import linear

# Axes: M real items, C classes, L labels, B sequences, T time, Q quantile levels.

HAS_TRITON = find_spec("triton") is not None
SUM_TOLERANCE = 1e-3  # how far the soft labels of an item may be from a sum of 1


class Loss(NamedTuple):
    """A summed loss and the number of items in the sum; training minimizes `mean`."""

    total: Tensor
    items: int

    @property
    def mean(self) -> Tensor:
        """The loss per item."""
        return self.total / max(self.items, 1)

    def averaged_over(self, items: int) -> "Loss":
        """The same total over another count, such as sequences instead of tokens."""
        return Loss(self.total, items)


def token_cross_entropy(
    logits: Tensor, targets: Tensor, *, smoothing: float = 0.0, weights: Tensor | None = None
) -> Loss:
    """Cross-entropy of real tokens only: logits (M, C), targets (M,), with label smoothing over all classes.

    Class weights (C,) multiply the loss of each item by the weight of its class; it still counts as one item.
    """
    require_shape("targets", targets, logits.shape[:-1])
    if not 0.0 <= smoothing <= 1.0:
        raise InputError(
            "smoothing is the probability taken from the true class.", found=f"smoothing={smoothing}", fix="from 0 to 1"
        )
    if weights is None and by_kernel(logits):
        from atento.layers.loss_kernels import summed_cross_entropy  # imports Triton

        return Loss(summed_cross_entropy(logits, targets, smoothing=smoothing), targets.numel())
    logits = at_least_float32(logits)
    weights = None if weights is None else weights.to(logits)
    total = functional.cross_entropy(logits, targets, weight=weights, reduction="sum", label_smoothing=smoothing)
    return Loss(total, targets.numel())


def sampled_cross_entropy(features: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, *, samples: int) -> Loss:
    """Cross-entropy of targets (M,) whose normalization Σ_k exp(s_k) is estimated from `samples` drawn tokens instead
    of all C, by importance sampling: exp(s_y) + 1/S Σ_{drawn k ≠ y} exp(s_k) / Q(k) (Bengio & Senécal, 2008, sec. III).

    features (M, D), weight (C, D), bias (C,). The whole batch shares its samples, of Q(k) = ln((k + 1) / k) / ln C for
    the token of number k ≥ 1: words stand in order of their frequency, which falls about so (Zipf, 1935).
    """
    classes = len(weight)
    reach = torch.rand(samples, device=targets.device, dtype=torch.float64) * math.log(classes)
    drawn = reach.exp().long().clamp(1, classes - 1)  # (S,)
    true = (features * weight[targets]).sum(dim=-1) + bias[targets]  # (M,)
    others = linear(features, weight[drawn], bias[drawn])  # (M, S)
    true, others = at_least_float32(true), at_least_float32(others) - log_draws(drawn, classes, samples)
    others = others.masked_fill(drawn == targets.unsqueeze(-1), -torch.inf)
    logits = torch.cat([true.unsqueeze(-1), others], dim=-1)  # (M, 1 + S), the target first
    total = functional.cross_entropy(logits, torch.zeros_like(targets), reduction="sum")
    return Loss(total, targets.numel())


def log_draws(tokens: Tensor, classes: int, samples: int) -> Tensor:
    """ln S Q(k): of how often each token k ≥ 1 is drawn in the mean."""
    return (samples * torch.log1p(1 / tokens.double()) / math.log(classes)).log().float()


def by_kernel(logits: Tensor) -> bool:
    """Whether one kernel computes the cross-entropy of these logits (M, C): on a GPU with Triton."""
    plain = type(logits) is Tensor and logits.is_cuda and logits.dim() == 2 and logits.numel() > 0
    return plain and logits.dtype != torch.float64 and HAS_TRITON and not torch.compiler.is_compiling()


def sequence_cross_entropy(logits: Tensor, targets: Tensor, *, valid: Tensor, smoothing: float = 0.0) -> Loss:
    """Cross-entropy summed over time within a sequence, averaged over sequences: −log P(y | x) of each.

    logits (B, T, C), targets (B, T), valid (B, T). Padding is ignored; a row of padding alone is not a sequence.
    """
    require_shape("targets", targets, logits.shape[:-1])
    require_shape("valid", valid, logits.shape[:-1])
    tokens = token_cross_entropy(logits[valid], targets[valid], smoothing=smoothing)
    return tokens.averaged_over(int(valid.any(dim=-1).sum()))


def binary_cross_entropy(logits: Tensor, targets: Tensor, *, positive_weight: Tensor | None = None) -> Loss:
    """−y ln p − (1 − y) ln(1 − p) with p = sigmoid(logit), for one label or for several independent ones.

    logits and targets (M,) or (M, L); every entry is an item. positive_weight (L,) multiplies the first term.
    """
    targets = targets_like(outputs=logits, targets=targets)
    if targets.numel() and not 0.0 <= targets.min() <= targets.max() <= 1.0:
        raise InputError(
            "the target of a label must be 0, 1 or a probability.",
            found=f"numbers from {targets.min().item():.4g} to {targets.max().item():.4g}",
            fix="give each label 0 for no and 1 for yes",
        )
    logits = at_least_float32(logits)
    weight = None if positive_weight is None else positive_weight.to(logits)
    total = functional.binary_cross_entropy_with_logits(logits, targets, pos_weight=weight, reduction="sum")
    return Loss(total, targets.numel())


def kl_divergence(logits: Tensor, soft_labels: Tensor) -> Loss:
    """Kullback–Leibler divergence D(y‖p) = H(y, p) − H(y) of p = softmax(logits) from soft labels y.

    logits and soft_labels (M, C). It is 0 where they agree. H(y) does not depend on p, so the gradient is that of the
    cross-entropy; for one-hot y it is the cross-entropy.
    """
    soft_labels = targets_like(outputs=logits, targets=soft_labels)
    sums = soft_labels.sum(dim=-1)
    if soft_labels.numel() and not (soft_labels.min() >= 0 and (sums - 1).abs().max() <= SUM_TOLERANCE):
        raise InputError(
            "the soft labels of an item are probabilities that sum to 1.",
            found=f"a smallest probability of {soft_labels.min().item():.4g}, sums from {sums.min().item():.4g} "
            f"to {sums.max().item():.4g}",
            fix="divide each row by its sum",
        )
    total = functional.kl_div(at_least_float32(logits).log_softmax(dim=-1), soft_labels, reduction="sum")
    return Loss(total, sums.numel())


def squared_error(outputs: Tensor, targets: Tensor) -> Loss:
    """(y − ŷ)² of outputs and targets of the same shape; every number is an item."""
    targets = targets_like(outputs=outputs, targets=targets)
    return Loss((at_least_float32(outputs) - targets).square().sum(), targets.numel())


def pinball_loss(outputs: Tensor, targets: Tensor, levels: Sequence[float]) -> Loss:
    """max(τ (y − q), (τ − 1) (y − q)) for every quantile level τ (Koenker & Bassett, 1978, eq. 2.1).

    outputs (..., Q), targets (...): smallest where q is the τ-quantile of y. Every target is an item, whose loss is
    the mean over the levels.
    """
    if outputs.size(-1) != len(levels):
        raise InputError(
            "pinball_loss: there must be one output for each quantile level.",
            found=f"outputs {tuple(outputs.shape)}, {len(levels)} levels",
            fix=f"give outputs (..., {len(levels)})",
        )
    error = targets_like(outputs=outputs[..., 0], targets=targets).unsqueeze(-1) - at_least_float32(outputs)  # (..., Q)
    tau = error.new_tensor(levels)
    return Loss(torch.maximum(tau * error, (tau - 1) * error).sum() / len(levels), targets.numel())


def sort_quantiles(outputs: Tensor) -> Tensor:
    """The outputs (..., Q) in increasing order, so that quantiles never cross.

    Sorting never increases the pinball loss (Chernozhukov, Fernández-Val & Galichon, 2010, prop. 4).
    """
    return outputs.sort(dim=-1).values if outputs.size(-1) > 1 else outputs


def median_weights(levels: Sequence[float]) -> list[float]:
    """The weight of each quantile in the median: 1 for level 0.5, else linear interpolation between its neighbours."""
    if not levels:
        return [1.0]
    weights = [0.0] * len(levels)
    after = next((index for index, level in enumerate(levels) if level >= 0.5), len(levels))
    if after == len(levels) or after == 0:  # all levels lie on one side: the nearest one
        weights[min(after, len(levels) - 1)] = 1.0
        return weights
    low, high = levels[after - 1], levels[after]
    weights[after] = (0.5 - low) / (high - low)
    weights[after - 1] = 1.0 - weights[after]
    return weights


def l2_penalty(module: nn.Module) -> Tensor:
    """Σ w² over the weight matrices of a module; biases and gains are not penalized, as in ridge regression.

    The total cost is `loss.mean + strength * l2_penalty(module)`, added once per step, however many micro-batches
    there are (Hoerl & Kennard, 1970: strength · items is their k).
    """
    weights = [at_least_float32(weight).square().sum() for weight in module.parameters() if weight.dim() > 1]
    return torch.stack(weights).sum() if weights else torch.zeros(())


def at_least_float32(values: Tensor) -> Tensor:
    """The values in float32, or in float64 if they already are; sums of many terms lose digits in less."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def targets_like(*, outputs: Tensor, targets: Tensor) -> Tensor:
    """Targets in the precision of the loss, one for each output."""
    require_shape("targets", targets, outputs.shape)
    return targets.to(at_least_float32(outputs).dtype)


def require_shape(name: str, given: Tensor, wanted: torch.Size) -> None:
    """Refuse targets of another shape instead of broadcasting them."""
    if given.shape != wanted:
        raise InputError(
            f"{name} must have one entry for each output.",
            found=f"{name} of shape {tuple(given.shape)}",
            fix=f"give {name} of shape {tuple(wanted)}",
        )
