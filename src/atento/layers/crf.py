"""Linear-chain conditional random field (CRF): the probability of a whole sequence of labels.

score(y) = start[y₁] + Σ_t scores[t, y_t] + Σ_t between[y_{t−1}, y_t] + end[y_n], P(y) = exp(score(y)) / Z, with Z the
sum over all sequences (Lafferty et al., 2001, sec. 3; the recursions as in Sutton & McCallum, 2012, sec. 2.2)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.losses import Loss, at_least_float32
from atento.layers.masking import clean, require_items, valid_first

# Axes: B batch, T time, C labels. Padding may stand anywhere in `valid` (B, T); a row of padding alone has one path,
# the empty one, whose score is 0.

FORBIDDEN = -1e4  # the score of a forbidden transition: its exp is 0, and unlike −inf it has a gradient


class Transitions(NamedTuple):
    """A value for each label that begins, follows another, or ends a sequence: scores, or True if allowed."""

    start: Tensor  # (C,)
    between: Tensor  # (C, C) from, to
    end: Tensor  # (C,)


class BestPath(NamedTuple):
    """The most probable labels of each row."""

    labels: Tensor  # (B, T), 0 at padding
    score: Tensor  # (B,)


class LinearChain(nn.Module, ABC):
    """A linear-chain CRF over label scores (B, T, C). Subclasses give the transition scores."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.labels = labels

    @abstractmethod
    def transitions(self) -> Transitions:
        """The score of each transition."""

    def loss(self, scores: Tensor, labels: Tensor, *, valid: Tensor) -> Loss:
        """Σ over rows of −log P(labels (B, T)); its items are the real time steps. A label below 0 is not known: the
        loss sums over all that it could be.
        """
        unknown = (labels < 0) & valid
        if unknown.any():
            true = self.log_partition(self.only(scores, labels), valid=valid)
        else:
            true = self.score(scores, labels, valid=valid)
        return Loss((self.log_partition(scores, valid=valid) - true).sum(), int(valid.sum()))

    def only(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Scores (B, T, C) that leave each known label no other."""
        others = torch.arange(self.labels, device=labels.device) != labels.unsqueeze(-1)
        return at_least_float32(scores).masked_fill(others & (labels >= 0).unsqueeze(-1), FORBIDDEN)

    def log_partition(self, scores: Tensor, *, valid: Tensor) -> Tensor:
        """log Z (B,), by the forward recursion: α_t = e_t + logsumexp over the previous label of α_{t−1} + between."""
        scores, valid, _ = self.real_first(scores, valid)
        start, between, end = self.transitions()
        alpha = start + scores[:, 0]  # (B, C)
        for time in range(1, scores.size(1)):
            moved = torch.logsumexp(alpha.unsqueeze(2) + between, dim=1) + scores[:, time]
            alpha = torch.where(valid[:, time, None], moved, alpha)
        return torch.logsumexp(alpha + end, dim=1).masked_fill(~valid.any(dim=1), 0.0)

    def score(self, scores: Tensor, labels: Tensor, *, valid: Tensor) -> Tensor:
        """The score (B,) of given labels (B, T)."""
        scores, valid, order = self.real_first(scores, valid)
        start, between, end = self.transitions()
        labels = labels.masked_fill(~valid.gather(1, order.argsort(dim=1)), 0).gather(1, order)
        emissions = scores.gather(2, labels.unsqueeze(2)).squeeze(2).masked_fill(~valid, 0.0).sum(dim=1)
        steps = between[labels[:, :-1], labels[:, 1:]].masked_fill(~valid[:, 1:], 0.0).sum(dim=1)
        last = labels.gather(1, (valid.sum(dim=1, keepdim=True) - 1).clamp(min=0)).squeeze(1)
        ends = (start[labels[:, 0]] + end[last]).masked_fill(~valid.any(dim=1), 0.0)
        return ends + emissions + steps

    @torch.no_grad()
    def viterbi(self, scores: Tensor, *, valid: Tensor) -> BestPath:
        """The most probable labels (Viterbi, 1967): the forward recursion with max in place of logsumexp."""
        scores, valid, order = self.real_first(scores, valid)
        start, between, end = self.transitions()
        alpha, back = start + scores[:, 0], []
        for time in range(1, scores.size(1)):
            largest, previous = (alpha.unsqueeze(2) + between).max(dim=1)  # (B, C)
            real = valid[:, time, None]
            alpha = torch.where(real, largest + scores[:, time], alpha)
            back.append(torch.where(real, previous, torch.arange(self.labels, device=scores.device)))
        score, label = (alpha + end).max(dim=1)
        path = [label]
        for previous in reversed(back):  # at padding a label points to itself
            path.append(previous.gather(1, path[-1].unsqueeze(1)).squeeze(1))
        labels = torch.stack(path[::-1], dim=1).masked_fill(~valid, 0)
        return BestPath(labels.gather(1, order.argsort(dim=1)), score.masked_fill(~valid.any(dim=1), 0.0))

    def marginals(self, scores: Tensor, *, valid: Tensor) -> Tensor:
        """P(y_t = c) (B, T, C), zeros at padding: the gradient of log Z by the scores (Sutton & McCallum, eq. 5.10)."""
        with torch.enable_grad():
            leaf = at_least_float32(scores).detach().requires_grad_()
            (probabilities,) = torch.autograd.grad(self.log_partition(leaf, valid=valid).sum(), leaf)
        return clean(probabilities, valid)

    def real_first(self, scores: Tensor, valid: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scores with real steps first and padding zeroed, `valid` in that order, and the order (B, T) itself."""
        require_items("scores", scores, valid, width=self.labels, axes="B, T")
        order = valid_first(valid)
        scores = clean(at_least_float32(scores), valid).gather(1, order.unsqueeze(2).expand_as(scores))
        return scores, valid.gather(1, order), order

    def extra_repr(self) -> str:
        """The number of labels."""
        return str(self.labels)


class LinearChainCRF(LinearChain):
    """A linear-chain CRF over label scores (B, T, C), with learned transition scores; `allowed` may forbid some."""

    def __init__(self, labels: int, *, allowed: Transitions | None = None) -> None:
        super().__init__(labels)
        if labels < 1:
            raise InputError("LinearChainCRF: labels must be positive.", found=f"labels={labels}", fix="give 1 or more")
        self.beside: Callable[[Transitions], Transitions] | None = None  # transition scores made of two models'
        self.start = nn.Parameter(torch.zeros(labels))
        self.between = nn.Parameter(torch.zeros(labels, labels))  # from, to
        self.end = nn.Parameter(torch.zeros(labels))
        added = Transitions(*(torch.zeros(part.shape) for part in (self.start, self.between, self.end)))
        if allowed is not None:
            for name, part, wanted in zip(Transitions._fields, allowed, added, strict=True):
                require_mask(name, part, wanted.shape)
            added = Transitions(*(torch.where(part, 0.0, FORBIDDEN) for part in allowed))
        buffers = (nn.Buffer(part, persistent=False) for part in added)  # they follow from the names of the labels
        self.added_start, self.added_between, self.added_end = buffers

    def transitions(self) -> Transitions:
        """The learned transition scores, with forbidden transitions far below the rest."""
        learned = Transitions(self.start, self.between, self.end)
        if self.beside is not None and not self.training:
            learned = self.beside(learned)
        added = (self.added_start, self.added_between, self.added_end)
        return Transitions(*(at_least_float32(one) + other for one, other in zip(learned, added, strict=True)))


class PooledChain(LinearChain):
    """The logarithmic opinion pool of several CRFs, P(y) ∝ Π_m P_m(y)^(1 / M) (Smith, Cohn & Osborne, 2005).

    ln P_m(y) is score_m(y) − ln Z_m, so that the pool is a CRF again: its transition scores are the mean of theirs, and
    its label scores are to be the mean of theirs. It has no weights: those are in the models that the chains belong to.
    """

    def __init__(self, chains: Sequence[LinearChain]) -> None:
        super().__init__(chains[0].labels)
        self.chains = tuple(chains)  # of other modules, where they are parts

    def transitions(self) -> Transitions:
        """The mean score of each transition."""
        parts = zip(*(chain.transitions() for chain in self.chains), strict=True)
        return Transitions(*(torch.stack(part).mean(dim=0) for part in parts))


def require_mask(name: str, given: Tensor, wanted: torch.Size) -> None:
    """A mask of allowed transitions is boolean, with an entry for each label or pair of labels."""
    if given.dtype != torch.bool or given.shape != wanted:
        raise InputError(
            f"allowed.{name} must be boolean, True for what is allowed.",
            found=f"{tuple(given.shape)} of {given.dtype}",
            fix=f"give a boolean tensor of the shape {tuple(wanted)}",
        )
