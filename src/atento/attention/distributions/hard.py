"""Hard attention: one key is drawn, not a mixture, so that the gradient has to be estimated."""

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


class Drawn(NamedTuple):
    """What was looked at, and how likely that was."""

    weights: Tensor  # (..., Q, K) a single one in each row that sees anything
    log_probability: Tensor  # (..., Q) of the drawn key; 0 where there was nothing to draw


class Hard(Distribution):
    """One key from the multinoulli of softmax(s) while training, the likeliest afterwards (Xu et al., 2015, sec. 4.1).

    straight-through: one-hot forward, the softmax's gradient backward (Bengio et al., 2013).
    score-function: no gradient through the weights; `recorded_draws` hands the log-probabilities of a pass to
    `score_function_loss` (Williams, 1992).
    expected: the chance with which a query gets the mean of its draws, softmax(s), in place of one while training;
    Xu et al. (sec. 4.1) take 0.5, for a steadier gradient.
    """

    differentiable = False

    def __init__(self, gradient: Gradient = "straight-through", *, expected: float = 0.0) -> None:
        super().__init__()
        if gradient not in GRADIENTS:
            raise unknown_name("gradient", gradient, GRADIENTS, where="Hard")
        if not 0.0 <= expected < 1.0:
            raise InputError("Hard: expected is a chance.", found=f"expected={expected}", fix="from 0 to below 1")
        self.gradient, self.expected = gradient, expected

    def normalise(self, scores: Tensor, visible: Tensor) -> Tensor:
        """One-hot rows; while training, the mean where chance says so."""
        drawn = self.draw(scores, visible)
        if self.training and self.expected:
            mean = torch.rand_like(drawn.log_probability) < self.expected  # (..., Q)
            drawn = drawn._replace(log_probability=drawn.log_probability.masked_fill(mean, 0.0))
            return torch.where(mean.unsqueeze(-1), scores.softmax(dim=-1), self.heard(drawn, scores))
        return self.heard(drawn, scores)

    def heard(self, drawn: Drawn, scores: Tensor) -> Tensor:
        """The weights with the gradient they have; the others' draws are recorded."""
        if self.gradient == "straight-through":
            soft = scores.softmax(dim=-1)
            return drawn.weights + (soft - soft.detach())  # the bracket is 0, or NaN where a score was
        record = DRAWS.get()
        if record is not None and self.training:
            record.append(drawn.log_probability)
        return drawn.weights

    def draw(self, scores: Tensor, visible: Tensor) -> Drawn:
        """One visible key a query: by chance while training, the likeliest afterwards."""
        visible = visible.expand_as(scores)
        logarithms = scores.masked_fill(~visible, torch.finfo(scores.dtype).min).log_softmax(dim=-1)
        chosen = pick(logarithms.detach()) if self.training else logarithms.argmax(dim=-1, keepdim=True)
        log_probability = logarithms.gather(-1, chosen)
        weights = torch.zeros_like(scores).scatter(-1, chosen, 1.0)
        weights = weights.masked_fill(log_probability.isnan(), torch.nan)  # a score that is no number shows
        seen = visible.any(dim=-1)
        return Drawn(weights.masked_fill(~visible, 0.0), log_probability.squeeze(-1).masked_fill(~seen, 0.0))

    def extra_repr(self) -> str:
        """How its gradient is estimated."""
        return f"{self.gradient}, expected={self.expected:g}" if self.expected else self.gradient


def pick(logarithms: Tensor) -> Tensor:
    """An index (..., Q, 1) drawn by each row's probabilities; one chance a row, however many keys are padding."""
    precise = torch.promote_types(logarithms.dtype, torch.float32)
    cumulative = logarithms.to(precise).exp().cumsum(dim=-1)
    total = cumulative[..., -1:]
    threshold = total * torch.rand_like(total)
    reached = (cumulative > threshold) | (cumulative == total)  # rounding may lift a threshold up to the total
    return reached.to(torch.uint8).argmax(dim=-1, keepdim=True)  # the first of them, never one of probability 0


DRAWS: ContextVar[list[Tensor] | None] = ContextVar("draws", default=None)


@contextmanager
def recorded_draws() -> Iterator[list[Tensor]]:
    """The log-probabilities (..., Q) of all that `Hard("score-function")` draws in this block while training.

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
    """−Σ (reward − baseline) ln P(draw), whose gradient estimates minus the gradient of the expected sum of rewards.

    The estimate is unbiased for any baseline that does not depend on the draw (Williams, 1992, theorem 1); one near
    the mean reward makes it steadier. Reward and baseline broadcast to the draws.
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
