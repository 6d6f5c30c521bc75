"""One pass of a matcher, part by part, with its matrices: for teaching."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from atento.models.joint_matcher import JointMatcher
from atento.models.matcher import ECHOES, CoMatcher, MatchBatch, Matcher, TwoTowers
from atento.tasks.match_codec import MatchCodec
from atento.tasks.traces import Trace, entry

# Axes: T items of the first text, N of the second, D size, C labels.


def trace_match(
    matcher: Matcher, codec: MatchCodec, rows: MatchBatch, pieces: tuple[Sequence[str], Sequence[str]]
) -> list[Trace]:
    """From the tokens of both texts to the label: each entry has a title, a formula, labels and a matrix."""
    first, second = pieces
    both = matcher.sum_up(rows)
    chances = matcher.verdict(both).softmax(dim=-1)
    return [
        *read_traces(matcher, rows, first, second),
        *weight_traces(matcher, rows, first, second),
        entry("summaries", "each text in one vector: u, v", ["first", "second"], torch.cat(list(both))),
        entry(
            "label",
            "softmax(W₂ ReLU(W₁ [u; v; |u − v|; u ∗ v]))",
            ["p"],
            chances,
            columns=[str(x) for x in codec.labels],
        ),
    ]


def read_traces(matcher: Matcher, rows: MatchBatch, first: Sequence[str], second: Sequence[str]) -> list[Trace]:
    """What was read of each text: the numbers of its tokens, and its states."""
    traces = []
    for text, pieces, tokens, valid, echo in (("first", first, *rows[0:3]), ("second", second, *rows[3:6])):
        numbers = torch.stack([tokens[0], echo[0]], dim=1).float()
        said = ", ".join(f"{number} {word}" for number, word in enumerate(ECHOES) if number)
        traces.append(
            entry(f"{text} text", f"each piece is a number; echo: {said}", pieces, numbers, columns=["number", "echo"])
        )
        states = states_of(matcher, tokens, valid, echo)
        if states is not None:
            traces.append(entry(f"{text} states", "one vector a piece", pieces, states[0]))
    if isinstance(matcher, JointMatcher):
        joined = matcher.join(rows)
        states = matcher.stack(joined.values, valid=joined.valid)
        traces.append(entry("states", "both texts as one sequence", [*first, *second], states[0]))
    return traces


def states_of(matcher: Matcher, tokens: Tensor, valid: Tensor, echo: Tensor) -> Tensor | None:
    """States (B, T, D) of one text by itself; None where both are read as one."""
    if isinstance(matcher, TwoTowers):
        return matcher.encoder.encode(tokens, valid).states
    return matcher.read(tokens, valid, echo) if isinstance(matcher, CoMatcher) else None


def weight_traces(matcher: Matcher, rows: MatchBatch, first: Sequence[str], second: Sequence[str]) -> list[Trace]:
    """Where the second text looked in the first."""
    weights: Any = matcher.weights(rows)[0]
    return [
        entry(
            f"weights, layer {layer + 1}, head {head + 1}",
            "how much each piece of the second text took of each of the first",
            second,
            matrix,
            columns=first,
        )
        for layer, heads in enumerate(weights)
        for head, matrix in enumerate(heads)
    ]
