"""Beam search: the `width` best partial outputs of each row are continued, until no better output can be found."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from atento.decoding.greedy import Hypothesis, SpecialTokens, forbidden_tokens, log_probabilities, steps_of
from atento.models.protocols import Encoded, IncrementalDecoder

# Axes: B batch rows still searched, W beam width, V vocabulary, C candidates.

BeamStep = list[Hypothesis]  # the partial outputs of the first row after one step, best first


@torch.no_grad()
def beam(
    decoder: IncrementalDecoder[Any],
    encoded: Encoded,
    *,
    special_tokens: SpecialTokens,
    max_tokens: int | Sequence[int],
    width: int,
    length_penalty: float = 1.0,
    followed: list[BeamStep] | None = None,
) -> list[list[Hypothesis]]:
    """For each row its best hypotheses, at most `width`, best first by score / length^length_penalty.

    The search of a row ends when it has `width` hypotheses and no partial one ranks above the worst, or after
    `max_tokens` tokens, one number for all rows or one for each. `followed` receives the beam of the first row after
    each step, to be looked at.
    """
    device = encoded.valid.device
    rows = list(range(len(encoded.valid)))  # the batch row of each of the B searches
    found = [HypothesisPool(width, length_penalty) for _ in rows]
    token = torch.full((len(rows) * width,), special_tokens.start, device=device)
    scores = torch.full((len(rows), width), -torch.inf, device=device)
    scores[:, 0] = 0.0  # all beams are equal at the start: only one may be continued
    written = torch.zeros(len(rows), width, 0, dtype=torch.long, device=device)
    limits = [max_tokens] * len(rows) if isinstance(max_tokens, int) else list(max_tokens)
    steps = steps_of(decoder, encoded, room=max(limits, default=0), copies=width)
    forbidden = forbidden_tokens(special_tokens, encoded.valid)
    for length in range(1, max(limits) + 1):
        logits = steps.step(token)
        log_probs = log_probabilities(logits, special_tokens, forbidden).view(len(rows), width, -1)
        best, beams, tokens = top_candidates(scores.unsqueeze(-1) + log_probs, 2 * width)  # at most W of them end here
        ends = tokens == special_tokens.end
        for place, rank in (ends[:, :width] & (best[:, :width] > -torch.inf)).nonzero().tolist():
            found[rows[place]].add(written[place, beams[place, rank]].tolist(), best[place, rank].item())
        going = unfinished(ends, width)  # (B, W) columns of the best candidates that go on
        scores, token = best.gather(1, going), tokens.gather(1, going)
        source = beams.gather(1, going)
        written = torch.cat([written.gather(1, source.unsqueeze(-1).expand(-1, -1, length - 1)), token[..., None]], -1)
        if followed is not None and rows[0] == 0:
            followed.append(held(written[0], scores[0]))
        leading = scores[:, 0].tolist()
        open_ = [place for place, row in enumerate(rows) if found[row].may_gain(leading[place], length)]
        keep = [place for place in open_ if limits[rows[place]] > length]
        for place in set(open_).difference(keep):
            found[rows[place]].fill(written[place].tolist(), scores[place].tolist())
        if not keep:
            break
        kept = torch.tensor(keep, device=device)
        flat = (torch.arange(len(rows), device=device).unsqueeze(1) * width + source)[kept].flatten()
        steps.keep(flat)
        token = token[kept].flatten()
        scores, written, rows = scores[kept], written[kept], [rows[place] for place in keep]
    else:  # max_tokens is 0
        for place, row in enumerate(rows):
            found[row].fill(written[place].tolist(), scores[place].tolist())
    return [pool.hypotheses for pool in found]


class HypothesisPool:
    """The best hypotheses of one row, best first."""

    def __init__(self, width: int, length_penalty: float) -> None:
        self.width, self.length_penalty = width, length_penalty
        self.hypotheses: list[Hypothesis] = []

    def add(self, tokens: list[int], score: float) -> None:
        """Insert a hypothesis, and drop the worst if there are more than `width`."""
        self.hypotheses.append(Hypothesis(tuple(tokens), score))
        self.hypotheses.sort(key=lambda one: -self.rank(one.score, len(one.tokens) + 1))  # the end token counts
        del self.hypotheses[self.width :]

    def rank(self, score: float, length: int) -> float:
        """The score by which hypotheses of different lengths are compared."""
        return score / float(length) ** self.length_penalty

    def may_gain(self, score: float, length: int) -> bool:
        """Whether the best partial hypothesis, of this score and length, could still enter the pool."""
        if score == -torch.inf or len(self.hypotheses) < self.width:
            return score > -torch.inf
        worst = self.hypotheses[-1]
        return self.rank(score, length) > self.rank(worst.score, len(worst.tokens) + 1)

    def fill(self, written: list[list[int]], scores: list[float]) -> None:
        """At `max_tokens`, add partial hypotheses while there are fewer than `width`."""
        for tokens, score in zip(written, scores, strict=True):
            if len(self.hypotheses) < self.width and score > -torch.inf:
                self.add(tokens, score)


def held(written: Tensor, scores: Tensor) -> BeamStep:
    """Partial outputs (W, length) with their scores (W,), without those that cannot go on."""
    pairs = zip(written.tolist(), scores.tolist(), strict=True)
    return [Hypothesis(tuple(tokens), score) for tokens, score in pairs if score > -torch.inf]


def top_candidates(totals: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations (B, C) of totals (B, W, V): their scores, the beams they continue, the tokens they add."""
    flat = totals.flatten(1)
    best, places = flat.topk(min(count, flat.size(1)), dim=1)
    return best, places // totals.size(-1), places % totals.size(-1)


def unfinished(ends: Tensor, width: int) -> Tensor:
    """Columns (B, W) of the first `width` candidates that do not end, in their order."""
    return ends.to(torch.uint8).argsort(dim=1, stable=True)[:, :width]
