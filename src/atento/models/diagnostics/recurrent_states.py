"""Hidden states of recurrent networks at each token, and a search for units that follow a simple pattern.

A unit that is on inside quotes, or counts the position in a line, correlates with that pattern (Karpathy et al., 2015,
sec. 4.2). A unit is chosen on one half of the texts and its correlation measured on the other, as among many units some
would fit one text by chance.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.recurrent.stack import Stack, StackOutput

# Axes: T tokens, U units.

VOWELS = set("aeiouyäöüáéíóúàèìòùâêîôûåæøœ")
QUOTES, OPENED, CLOSED = '"“”„«»', "([{", ")]}"
LEAST_TOKENS = 8  # of each half, below which no correlation is measured


class TokenStates(NamedTuple):
    """The outputs of one recurrent stack for the tokens of a text."""

    part: str
    tokens: Sequence[str]
    states: Tensor  # (T, U)


class UnitPattern(NamedTuple):
    """The unit that follows a pattern best."""

    pattern: str
    unit: int  # from 0
    correlation: float  # on the texts it was chosen by
    held_out: float  # on other texts


@contextmanager
def recorded_states(model: nn.Module) -> Iterator[dict[str, list[Tensor]]]:
    """Record the outputs (T, U) of every recurrent stack at real tokens, call by call."""
    found: dict[str, list[Tensor]] = {}
    with ExitStack() as undo:
        for name, part in model.named_modules():
            if isinstance(part, Stack) and "characters" not in name.split("."):

                def note(
                    _: nn.Module, args: Any, kwargs: Mapping[str, Any], output: StackOutput, *, name: str = name
                ) -> None:
                    valid = kwargs.get("valid")
                    rows = output.outputs.flatten(0, 1) if valid is None else output.outputs[valid]
                    found.setdefault(name, []).append(rows.detach().float().cpu())

                undo.callback(part.register_forward_hook(note, with_kwargs=True).remove)
        yield found


def states_of_tokens(found: Mapping[str, Sequence[Tensor]], tokens: Sequence[str]) -> TokenStates | None:
    """The first stack that has a state for each token; ends of sentences (¶) may be without. None: no stack has."""
    words = [token for token in tokens if token != "¶"]
    for part, calls in found.items():
        states = torch.cat(list(calls))
        for labels in (tokens, words):
            if len(states) == len(labels):
                return TokenStates(part, list(labels), states)
    return None


def running(tokens: Sequence[str], step: Callable[[int, str], int]) -> list[float]:
    """A number that goes on from token to token."""
    return [float(number) for number in accumulate(tokens, step, initial=0)][1:]


def quoted(tokens: Sequence[str]) -> list[float]:
    """1 inside quotes."""
    return running(tokens, lambda inside, token: inside ^ (count(token, QUOTES) % 2))


def bracketed(tokens: Sequence[str]) -> list[float]:
    """How many brackets are open."""
    return running(tokens, lambda depth, token: max(0, depth + count(token, OPENED) - count(token, CLOSED)))


def count(token: str, signs: str) -> int:
    """How many of the signs a token holds."""
    return sum(token.count(sign) for sign in signs)


def each(test: Callable[[str], bool]) -> Callable[[Sequence[str]], list[float]]:
    """A pattern of single tokens."""
    return lambda tokens: [float(test(token)) for token in tokens]


def is_break(token: str) -> bool:
    """Whether a token ends a line."""
    return "\n" in token or token == "⏎"


PATTERNS: dict[str, Callable[[Sequence[str]], list[float]]] = {
    "vowel": each(lambda token: token.lower() in VOWELS),
    "digit": each(lambda token: any(map(str.isdigit, token))),
    "capital letter": each(lambda token: token.lstrip("▁")[:1].isupper()),
    "white space": each(lambda token: not token.strip() or is_break(token)),
    "punctuation": each(lambda token: bool(token.strip("▁ ")) and not any(map(str.isalnum, token))),
    "inside quotes": quoted,
    "inside brackets": bracketed,
    "position in the text": lambda tokens: [float(at) for at in range(len(tokens))],
    "position in the line": lambda tokens: running(tokens, lambda at, token: 0 if is_break(token) else at + 1),
    "position in the word": lambda tokens: running(tokens, lambda at, token: at + 1 if token.isalnum() else 0),
    "tokens that remain": lambda tokens: [float(len(tokens) - at) for at in range(len(tokens))],
    "same token as before": lambda tokens: [0.0, *(float(one == other) for one, other in pairwise(tokens))][
        : len(tokens)
    ],
    "length of the token": each(lambda token: len(token) > 5),
}


def find_units(texts: Sequence[TokenStates]) -> list[UnitPattern]:
    """For each pattern that occurs the unit that follows it best, the surest first: chosen on every second text,
    measured on the others.
    """
    chosen, others = texts[::2], texts[1::2]
    if min(sum(len(text.tokens) for text in half) for half in (chosen, others)) < LEAST_TOKENS:
        return []
    found: list[UnitPattern] = []
    met: list[list[Tensor]] = []
    for pattern, values in PATTERNS.items():
        numbers = [torch.tensor([value for text in half for value in values(text.tokens)]) for half in (chosen, others)]
        if any(all(map(alike, numbers, other)) for other in met):
            continue  # in these texts the same as an earlier pattern
        met.append(numbers)
        own, held_out = (
            correlations(torch.cat([text.states for text in half]), wanted)
            for half, wanted in zip((chosen, others), numbers, strict=True)
        )
        if own is None or held_out is None:
            continue
        unit = int(own.abs().argmax())
        found.append(UnitPattern(pattern, unit, float(own[unit]), float(held_out[unit])))
    return sorted(found, key=lambda one: -abs(one.held_out))


def alike(one: Tensor, other: Tensor) -> bool:
    """Whether two patterns (T,) differ in a constant at most."""
    return bool(torch.allclose(one - one.mean(), other - other.mean(), atol=1e-4))


def correlations(states: Tensor, pattern: Tensor) -> Tensor | None:
    """Pearson's correlation (U,) of each unit with a pattern (T,); None where the pattern never changes, 0 for a unit
    that never does.
    """
    states, pattern = states.double(), pattern.double()
    states, pattern = states - states.mean(dim=0), pattern - pattern.mean()
    if not bool(pattern.abs().max() > 0):
        return None
    norms = states.norm(dim=0) * pattern.norm()
    return torch.where(norms > 0, pattern @ states / norms.clamp(min=1e-300), 0.0)
