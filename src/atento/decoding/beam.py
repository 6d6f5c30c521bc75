"""Beam search: the likeliest whole outputs, a few at a time."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from atento.decoding.greedy import Hypothesis, Marks, log_probabilities
from atento.models.protocols import Encoded, Writer, reorder

# Axes: B batch rows still searched, W beam width, V vocabulary.


@torch.no_grad()
def beam(
    decoder: Writer[Any],
    encoded: Encoded,
    *,
    marks: Marks,
    longest: int | Sequence[int],
    width: int,
    length_penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """For each row its best hypotheses, at most `width`, best first by score / length^length_penalty.

    A row is done when it has `width` of them and nothing still being written stands better than the worst, or after
    `longest` tokens, one number for all rows or one for each.
    """
    device = encoded.valid.device
    rows = list(range(len(encoded.valid)))  # which batch row each of the B searches belongs to
    found = [Pool(width, length_penalty) for _ in rows]
    state = reorder(decoder.start(encoded), torch.arange(len(rows), device=device).repeat_interleave(width))
    token = torch.full((len(rows) * width,), marks.start, device=device)
    scores = torch.full((len(rows), width), -torch.inf, device=device)
    scores[:, 0] = 0.0  # all beams are alike at the start: let one speak
    written = torch.zeros(len(rows), width, 0, dtype=torch.long, device=device)
    limits = [longest] * len(rows) if isinstance(longest, int) else list(longest)
    for length in range(1, max(limits) + 1):
        logits, state = decoder.step(token, state)
        totals = scores.unsqueeze(-1) + log_probabilities(logits, marks).view(len(rows), width, -1)  # (B, W, V)
        best, beams, tokens = top_candidates(totals, 2 * width)  # enough: at most W of them can end here
        ends = tokens == marks.end
        for place, rank in (ends[:, :width] & (best[:, :width] > -torch.inf)).nonzero().tolist():
            found[rows[place]].add(written[place, beams[place, rank]].tolist(), best[place, rank].item())
        going = stay(ends, width)  # (B, W) columns of the best candidates that go on
        scores, token = best.gather(1, going), tokens.gather(1, going)
        source = beams.gather(1, going)
        written = torch.cat([written.gather(1, source.unsqueeze(-1).expand(-1, -1, length - 1)), token[..., None]], -1)
        leading = scores[:, 0].tolist()
        open_ = [place for place, row in enumerate(rows) if found[row].may_gain(leading[place], length)]
        keep = [place for place in open_ if limits[rows[place]] > length]
        for place in set(open_).difference(keep):
            found[rows[place]].fill(written[place].tolist(), scores[place].tolist())
        if not keep:
            break
        kept = torch.tensor(keep, device=device)
        flat = (torch.arange(len(rows), device=device).unsqueeze(1) * width + source)[kept].flatten()
        state, token = reorder(state, flat), token[kept].flatten()
        scores, written, rows = scores[kept], written[kept], [rows[place] for place in keep]
    else:  # nothing may be written at all
        for place, row in enumerate(rows):
            found[row].fill(written[place].tolist(), scores[place].tolist())
    return [pool.hypotheses for pool in found]


class Pool:
    """The best hypotheses of one row, best first."""

    def __init__(self, width: int, length_penalty: float) -> None:
        self.width, self.length_penalty = width, length_penalty
        self.hypotheses: list[Hypothesis] = []

    def add(self, tokens: list[int], score: float) -> None:
        """Take one in, and let the worst go when there are too many."""
        self.hypotheses.append(Hypothesis(tuple(tokens), score))
        self.hypotheses.sort(key=lambda one: -self.rank(one.score, len(one.tokens) + 1))  # the end mark counts
        del self.hypotheses[self.width :]

    def rank(self, score: float, length: int) -> float:
        """What hypotheses of unequal lengths are compared by."""
        return score / float(length) ** self.length_penalty

    def may_gain(self, score: float, length: int) -> bool:
        """Whether the best one still being written, so long by now, could get in."""
        if score == -torch.inf or len(self.hypotheses) < self.width:
            return score > -torch.inf
        worst = self.hypotheses[-1]
        return self.rank(score, length) > self.rank(worst.score, len(worst.tokens) + 1)

    def fill(self, written: list[list[int]], scores: list[float]) -> None:
        """At the longest length a row still short of hypotheses takes what it has, unended."""
        for tokens, score in zip(written, scores, strict=True):
            if len(self.hypotheses) < self.width and score > -torch.inf:
                self.add(tokens, score)


def top_candidates(totals: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of each row (B, C): their scores, the beam they continue, the token they add."""
    flat = totals.flatten(1)
    best, places = flat.topk(min(count, flat.size(1)), dim=1)
    return best, places // totals.size(-1), places % totals.size(-1)


def stay(ends: Tensor, width: int) -> Tensor:
    """Columns (B, W) of the first `width` candidates that do not end, in their order."""
    return ends.to(torch.uint8).argsort(dim=1, stable=True)[:, :width]
