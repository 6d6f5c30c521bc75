"""Hard attention: each query takes one key, drawn at random in training, so that the gradient must be estimated."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from atento.attention.distributions.distributions import Distribution
from atento.errors import InputError, unknown_name

# Axes: Q queries, K keys.

Gradient = Literal["straight-through", "score-function"]
GRADIENTS: tuple[Gradient, ...] = ("straight-through", "score-function")
DRAWS: ContextVar[list[Tensor] | None] = ContextVar("draws", default=None)  # where `recorded_draws` collects them


class HardSample(NamedTuple):
    """One drawn key per query, with its log-probability."""

    weights: Tensor  # (..., Q, K) one-hot; zeros for a query without visible keys
    log_probability: Tensor  # (..., Q) of the drawn key; 0 for a query without visible keys


class Hard(Distribution):
    """One key, drawn from the multinoulli of softmax(s) in training, the argmax afterwards (Xu et al., 2015, sec. 4.1).

    straight-through: one-hot forward, the gradient of the softmax backward (Bengio et al., 2013).
    score-function: no gradient through the weights; `recorded_draws` collects the log-probabilities of a forward pass
    for `score_function_loss` (Williams, 1992).
    expected: the probability with which a query gets the expected weights, softmax(s), instead of a draw in training;
    Xu et al. (sec. 4.1) take 0.5, which lowers the variance of the gradient.
    """

    differentiable = False

    def __init__(self, gradient: Gradient = "straight-through", *, expected: float = 0.0) -> None:
        super().__init__()
        if gradient not in GRADIENTS:
            raise unknown_name("gradient", gradient, GRADIENTS, where="Hard")
        if not 0.0 <= expected < 1.0:
            raise InputError("Hard: expected is a probability.", found=f"expected={expected}", fix="from 0 to below 1")
        self.gradient, self.expected = gradient, expected

    def normalize(self, scores: Tensor, visible: Tensor) -> Tensor:
        """One-hot rows; in training, the expected weights for some queries."""
        drawn = self.draw(scores, visible)
        if self.training and self.expected:
            mean = torch.rand_like(drawn.log_probability) < self.expected  # (..., Q)
            drawn = drawn._replace(log_probability=drawn.log_probability.masked_fill(mean, 0.0))
            return torch.where(mean.unsqueeze(-1), scores.softmax(dim=-1), self.with_gradient(drawn, scores))
        return self.with_gradient(drawn, scores)

    def with_gradient(self, drawn: HardSample, scores: Tensor) -> Tensor:
        """The weights with a straight-through gradient; draws of the score-function estimator are recorded."""
        if self.gradient == "straight-through":
            soft = scores.softmax(dim=-1)
            return drawn.weights + (soft - soft.detach())  # the bracket is 0, or NaN where a score was
        record = DRAWS.get() if self.training else None
        if record is not None:
            record.append(drawn.log_probability)
        return drawn.weights

    def draw(self, scores: Tensor, visible: Tensor) -> HardSample:
        """One visible key per query: drawn in training, the argmax afterwards."""
        visible = visible.expand_as(scores)
        log_probs = scores.masked_fill(~visible, torch.finfo(scores.dtype).min).log_softmax(dim=-1)
        chosen = sample_indices(log_probs.detach()) if self.training else log_probs.argmax(dim=-1, keepdim=True)
        log_probability = log_probs.gather(-1, chosen)
        weights = torch.zeros_like(scores).scatter(-1, chosen, 1.0)
        weights = weights.masked_fill(log_probability.isnan(), torch.nan)  # a NaN score stays visible
        seen = visible.any(dim=-1)
        return HardSample(weights.masked_fill(~visible, 0.0), log_probability.squeeze(-1).masked_fill(~seen, 0.0))

    def extra_repr(self) -> str:
        """The gradient estimator, and the probability of the expected weights."""
        return f"{self.gradient}, expected={self.expected:g}" if self.expected else self.gradient


def sample_indices(log_probs: Tensor) -> Tensor:
    """Indices (..., Q, 1) drawn by the probabilities: one random number per row, however many keys are padding."""
    precise = torch.promote_types(log_probs.dtype, torch.float32)
    cumulative = log_probs.to(precise).exp().cumsum(dim=-1)
    total = cumulative[..., -1:]
    threshold = total * torch.rand_like(total)
    reached = (cumulative > threshold) | (cumulative == total)  # rounding may lift a threshold up to the total
    return reached.to(torch.uint8).argmax(dim=-1, keepdim=True)  # the first of them, never one of probability 0


@contextmanager
def recorded_draws() -> Iterator[list[Tensor]]:
    """Collects the log-probabilities (..., Q) of all draws of `Hard("score-function")` within this block in training.

    >>> with recorded_draws() as draws:
    ...     costs = cost_of_each_example(model, batch)
    >>> loss = costs.mean() + sum(score_function_loss(draw, -costs, baseline) for draw in draws) / len(costs)
    """
    record: list[Tensor] = []
    token = DRAWS.set(record)
    try:
        yield record
    finally:
        DRAWS.reset(token)


def score_function_loss(log_probability: Tensor, reward: Tensor, baseline: Tensor | float = 0.0) -> Tensor:
    """REINFORCE: −Σ (reward − baseline) ln P(draw), whose gradient estimates minus that of the expected reward.

    The estimate is unbiased for any baseline that does not depend on the draw (Williams, 1992, theorem 1); one near
    the mean reward lowers its variance. Reward and baseline broadcast to the draws.
    """
    advantage = (reward - baseline).detach()
    try:
        advantage = advantage.expand_as(log_probability)
    except RuntimeError:
        raise InputError(
            "score_function_loss: the reward does not fit the draws.",
            found=f"reward - baseline {tuple(advantage.shape)}, log_probability {tuple(log_probability.shape)}",
            fix="give a reward for each draw, or one that broadcasts to them",
        ) from None
    return -(advantage * log_probability).sum()
