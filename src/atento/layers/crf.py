"""Linear-chain conditional random field: a whole sequence of labels is judged, not each label by itself.

score(y) = start[y₁] + Σ_t scores[t, y_t] + Σ_t between[y_{t−1}, y_t] + end[y_n], P(y) = exp(score(y)) / Z, with Z the
sum over all sequences (Lafferty et al., 2001, sec. 3; the recursions as in Sutton & McCallum, 2012, sec. 2.2)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.losses import Loss, precise
from atento.layers.masking import clean, require_items

# Axes: B batch, T time, C labels. Padding may stand anywhere in `valid` (B, T); a row of nothing else has one path,
# the empty one, whose score is 0.

NEVER = -1e4  # added to what is not allowed: exp of it is 0, and unlike −inf it has a gradient


class Allowed(NamedTuple):
    """Which labels may begin, follow each other and end. True means yes."""

    start: Tensor  # (C,)
    between: Tensor  # (C, C) from, to
    end: Tensor  # (C,)


class Best(NamedTuple):
    """The likeliest path of each row."""

    labels: Tensor  # (B, T), 0 at padding
    score: Tensor  # (B,)


class LinearChain(nn.Module):
    """Scores (B, T, C) of labels at each step, and learned ones of neighbours."""

    def __init__(self, labels: int, *, allowed: Allowed | None = None) -> None:
        super().__init__()
        if labels < 1:
            raise InputError("a chain has one label at least.", found=f"labels={labels}", fix="1 or more")
        self.labels = labels
        self.start = nn.Parameter(torch.zeros(labels))
        self.between = nn.Parameter(torch.zeros(labels, labels))  # from, to
        self.end = nn.Parameter(torch.zeros(labels))
        never = Allowed(*(torch.zeros(part.shape) for part in (self.start, self.between, self.end)))
        if allowed is not None:
            for name, part, wanted in zip(Allowed._fields, allowed, never, strict=True):
                require_mask(name, part, wanted.shape)
            never = Allowed(*(torch.where(part, 0.0, NEVER) for part in allowed))
        self.never_start: Tensor
        self.never_between: Tensor
        self.never_end: Tensor
        for name, part in zip(Allowed._fields, never, strict=True):
            self.register_buffer(f"never_{name}", part, persistent=False)  # follows from the labels' names

    def loss(self, scores: Tensor, labels: Tensor, *, valid: Tensor) -> Loss:
        """Σ over rows of −log P(labels (B, T)); its items are the real steps, as of a label judged by itself."""
        total = (self.log_partition(scores, valid=valid) - self.score(scores, labels, valid=valid)).sum()
        return Loss(total, int(valid.sum()))

    def log_partition(self, scores: Tensor, *, valid: Tensor) -> Tensor:
        """log Z (B,), by the forward recursion: α_t = e_t + logsumexp over the label before of α_{t−1} + between."""
        scores, valid, _ = self.real_first(scores, valid)
        start, between, end = self.neighbours()
        alpha = start + scores[:, 0]  # (B, C)
        for time in range(1, scores.size(1)):
            moved = torch.logsumexp(alpha.unsqueeze(2) + between, dim=1) + scores[:, time]
            alpha = torch.where(valid[:, time, None], moved, alpha)
        return torch.logsumexp(alpha + end, dim=1).masked_fill(~valid.any(dim=1), 0.0)

    def score(self, scores: Tensor, labels: Tensor, *, valid: Tensor) -> Tensor:
        """The score (B,) of given labels (B, T)."""
        scores, valid, order = self.real_first(scores, valid)
        start, between, end = self.neighbours()
        labels = labels.masked_fill(~valid.gather(1, order.argsort(dim=1)), 0).gather(1, order)
        said = scores.gather(2, labels.unsqueeze(2)).squeeze(2).masked_fill(~valid, 0.0).sum(dim=1)
        steps = between[labels[:, :-1], labels[:, 1:]].masked_fill(~valid[:, 1:], 0.0).sum(dim=1)
        last = labels.gather(1, (valid.sum(dim=1, keepdim=True) - 1).clamp(min=0)).squeeze(1)
        ends = (start[labels[:, 0]] + end[last]).masked_fill(~valid.any(dim=1), 0.0)
        return ends + said + steps

    @torch.no_grad()
    def best(self, scores: Tensor, *, valid: Tensor) -> Best:
        """The likeliest path (Viterbi, 1967): the forward recursion with the largest in place of the sum."""
        scores, valid, order = self.real_first(scores, valid)
        start, between, end = self.neighbours()
        alpha, back = start + scores[:, 0], []
        for time in range(1, scores.size(1)):
            largest, came_from = (alpha.unsqueeze(2) + between).max(dim=1)  # (B, C)
            real = valid[:, time, None]
            alpha = torch.where(real, largest + scores[:, time], alpha)
            back.append(torch.where(real, came_from, torch.arange(self.labels, device=scores.device)))
        score, label = (alpha + end).max(dim=1)
        path = [label]
        for came_from in reversed(back):  # at padding a label comes from itself
            path.append(came_from.gather(1, path[-1].unsqueeze(1)).squeeze(1))
        labels = torch.stack(path[::-1], dim=1).masked_fill(~valid, 0)
        return Best(labels.gather(1, order.argsort(dim=1)), score.masked_fill(~valid.any(dim=1), 0.0))

    def marginals(self, scores: Tensor, *, valid: Tensor) -> Tensor:
        """P(y_t = c) (B, T, C), zeros at padding: the gradient of log Z by the scores (Sutton & McCallum, eq. 5.10)."""
        with torch.enable_grad():
            leaf = precise(scores).detach().requires_grad_()
            (chances,) = torch.autograd.grad(self.log_partition(leaf, valid=valid).sum(), leaf)
        return clean(chances, valid)

    def neighbours(self) -> Allowed:
        """What is learned of neighbours, with what is not allowed far below the rest."""
        learned, never = (self.start, self.between, self.end), (self.never_start, self.never_between, self.never_end)
        return Allowed(*(precise(one) + other for one, other in zip(learned, never, strict=True)))

    def real_first(self, scores: Tensor, valid: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Real steps first, padding zeroed; then what is real, and the order (B, T) that made it so."""
        require_items("scores", scores, valid, width=self.labels, axes="B, T")
        order = torch.argsort(valid.logical_not().to(torch.uint8), dim=1, stable=True)
        scores = clean(precise(scores), valid).gather(1, order.unsqueeze(2).expand_as(scores))
        return scores, valid.gather(1, order), order

    def extra_repr(self) -> str:
        """The one number."""
        return str(self.labels)


def require_mask(name: str, given: Tensor, wanted: torch.Size) -> None:
    """What is allowed is said of each label, or of each pair of them."""
    if given.dtype != torch.bool or given.shape != wanted:
        raise InputError(
            f"allowed.{name} is boolean, True for what may be said.",
            found=f"{tuple(given.shape)} of {given.dtype}",
            fix=f"give a boolean tensor of the shape {tuple(wanted)}",
        )
