"""Contracts of gradients: none reaches padding, and a row with nothing real spoils none."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.checking.finding import CLOSE, EXACT, Finding, apart, judged
from atento.checking.subject import Outputs, Subject, filled, ragged


class Traced(NamedTuple):
    """Outputs, and the gradients of the sum of their squares."""

    outputs: Outputs
    into: Tensor | None  # in the values, of tokens: in their vectors; None: they could not be followed
    weights: list[Tensor]  # in each weight


def nothing_real(subject: Subject) -> Finding:
    """A row of padding alone gives finite numbers, zeros where promised, and finite gradients."""
    valid, gap = ragged(), 0.0
    valid[0] = False
    traced = trace(subject, filled(subject.values(), valid, 1.0), valid)
    for part in traced.outputs:
        if part is not None:
            gap = max(gap, apart(part[0], torch.zeros_like(part[0]) if subject.zeros else finite(part[0])))
    gap = max([gap, *(apart(gradient, finite(gradient)) for gradient in traced.weights)])
    kind = "zeros" if subject.zeros else "finite numbers"
    return judged("nothing real", gap, EXACT, f"a row of padding alone gives {kind} and finite gradients")


def gradients_at_padding(subject: Subject) -> Finding:
    """No gradient reaches padding, and what padding holds reaches no weight's gradient."""
    values, valid = subject.values(), ragged()
    fillings = (0.0, 1.0 if subject.is_tokens else torch.nan)
    plain, odd = (trace(subject, filled(values, valid, filling), valid) for filling in fillings)
    into = [traced.into[~valid] for traced in (plain, odd) if traced.into is not None]
    gap = max((apart(gradient, torch.zeros_like(gradient)) for gradient in into), default=0.0)
    moved = max((apart(*pair) for pair in zip(odd.weights, plain.weights, strict=True)), default=0.0)
    held = "another token" if subject.is_tokens else "NaN"
    words = f"none reaches padding, and {held} there reaches no weight's"
    return judged("gradients at padding", gap if moved <= CLOSE else max(gap, moved), EXACT, words)


def trace(subject: Subject, values: Tensor, valid: Tensor) -> Traced:
    """Forward and back."""
    caught: list[Tensor] = []
    if subject.is_tokens:
        tables = [part for part in subject.module.modules() if isinstance(part, nn.Embedding)]
        hooks = [table.register_forward_hook(catch(caught, valid)) for table in tables]
        outputs = subject.read(values, valid)
        for hook in hooks:
            hook.remove()
    else:
        caught.append(values.clone().requires_grad_())
        outputs = subject.read(caught[0], valid)
    weights = [weight for weight in subject.module.parameters() if weight.requires_grad]
    total = torch.stack([part.square().sum() for part in outputs.real(valid)]).sum()
    leaves = [*caught[:1], *weights]
    found = torch.autograd.grad(total, leaves, allow_unused=True) if total.requires_grad else [None] * len(leaves)
    gradients = [torch.zeros_like(leaf) if one is None else one for one, leaf in zip(found, leaves, strict=True)]
    return Traced(outputs, gradients[0] if caught else None, gradients[len(caught[:1]) :])


def catch(caught: list[Tensor], valid: Tensor) -> Callable[..., None]:
    """Keeps the vectors of a table that was asked for as many tokens as there are values."""

    def keep(module: nn.Module, inputs: object, output: Tensor) -> None:
        if output.shape[:2] == valid.shape and output.requires_grad:
            caught.append(output)

    return keep


def finite(values: Tensor) -> Tensor:
    """The same numbers where they are numbers."""
    return values.nan_to_num(0.0, 0.0, 0.0)
