"""Beam search: the likeliest whole outputs, a few at a time."""

from typing import Any

import torch
from torch import Tensor

from atento.decoding.hypothesis import Hypothesis, Marks, log_probabilities
from atento.models.protocols import Decoder, Encoded, reorder

# Axes: B batch rows still searched, W beam width, V vocabulary.


@torch.no_grad()
def beam(
    decoder: Decoder[Any],
    encoded: Encoded,
    *,
    marks: Marks,
    longest: int,
    width: int,
    length_penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """For each row the finished hypotheses, best first by score / length^length_penalty; at most `width`."""
    device = encoded.valid.device
    rows = list(range(len(encoded.valid)))  # which batch row each of the B searches belongs to
    finished: list[list[Hypothesis]] = [[] for _ in rows]
    state = reorder(decoder.start(encoded), torch.arange(len(rows), device=device).repeat_interleave(width))
    token = torch.full((len(rows) * width,), marks.start, device=device)
    scores = torch.full((len(rows), width), -torch.inf, device=device)
    scores[:, 0] = 0.0  # all beams are alike at the start: let one speak
    written = torch.zeros(len(rows), width, 0, dtype=torch.long, device=device)
    for length in range(1, longest + 1):
        logits, state = decoder.step(token, state)
        totals = scores.unsqueeze(-1) + log_probabilities(logits, marks).view(len(rows), width, -1)  # (B, W, V)
        best, beams, tokens = top_candidates(totals, 2 * width)  # enough: at most W of them can end here
        ends = tokens == marks.end
        collect(finished, rows, written, best, beams, ends, width)
        going = stay(ends, width)  # (B, W) columns of the best candidates that go on
        scores, token = best.gather(1, going), tokens.gather(1, going)
        source = beams.gather(1, going)
        written = torch.cat([written.gather(1, source.unsqueeze(-1).expand(-1, -1, length - 1)), token[..., None]], -1)
        keep = [place for place, row in enumerate(rows) if len(finished[row]) < width and scores[place, 0] > -torch.inf]
        if not keep:
            break
        kept = torch.tensor(keep, device=device)
        flat = (torch.arange(len(rows), device=device).unsqueeze(1) * width + source)[kept].flatten()
        state, token = reorder(state, flat), token[kept].flatten()
        scores, written, rows = scores[kept], written[kept], [rows[place] for place in keep]
    else:
        cut_off(finished, rows, written, scores, width)
    return [sorted(found, key=lambda one: -normalised(one, length_penalty))[:width] for found in finished]


def top_candidates(totals: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of each row (B, C): their scores, the beam they continue, the token they add."""
    flat = totals.flatten(1)
    best, places = flat.topk(min(count, flat.size(1)), dim=1)
    return best, places // totals.size(-1), places % totals.size(-1)


def collect(
    finished: list[list[Hypothesis]],
    rows: list[int],
    written: Tensor,
    best: Tensor,
    beams: Tensor,
    ends: Tensor,
    width: int,
) -> None:
    """Keep what ends among the best `width` candidates."""
    for place, rank in (ends[:, :width] & (best[:, :width] > -torch.inf)).nonzero().tolist():
        tokens = written[place, beams[place, rank]].tolist()
        finished[rows[place]].append(Hypothesis(tuple(tokens), best[place, rank].item()))


def stay(ends: Tensor, width: int) -> Tensor:
    """Columns (B, W) of the first `width` candidates that do not end, in their order."""
    return ends.to(torch.uint8).argsort(dim=1, stable=True)[:, :width]


def cut_off(finished: list[list[Hypothesis]], rows: list[int], written: Tensor, scores: Tensor, width: int) -> None:
    """At the longest length a row still short of hypotheses takes what it has."""
    for place, row in enumerate(rows):
        for rank in range(width):
            if len(finished[row]) < width and scores[place, rank] > -torch.inf:
                finished[row].append(Hypothesis(tuple(written[place, rank].tolist()), scores[place, rank].item()))


def normalised(hypothesis: Hypothesis, length_penalty: float) -> float:
    """Score over length^penalty; the end mark counts, so that nothing is divided by zero."""
    return hypothesis.score / float(len(hypothesis.tokens) + 1) ** length_penalty
