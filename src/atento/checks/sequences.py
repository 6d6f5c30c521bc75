"""Contracts of every module that reads a sequence: padding, batch, future, gradients, calls, saving."""

from collections.abc import Callable, Collection
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
from safetensors.torch import load, save
from torch import Tensor, nn

from atento.checks.finding import CLOSE, EXACT, Finding, difference, judged, not_applicable, tried
from atento.checks.subject import (
    LENGTHS,
    ROWS,
    TIME,
    Outputs,
    Subject,
    exact_copy,
    output_difference,
    ragged,
    seeded,
    with_padding,
)


class Traced(NamedTuple):
    """Outputs, and the gradients of the sum of their squares."""

    outputs: Outputs
    into: Tensor | None  # in the values, of tokens: in their vectors; None: they could not be followed
    weights: list[Tensor]  # in each weight


def nothing_real(subject: Subject) -> Finding:
    """A row of padding alone gives finite numbers, or zeros where declared, and finite gradients."""
    valid, gap = ragged(), 0.0
    valid[0] = False
    traced = trace(subject, with_padding(subject.values(), valid, 1.0), valid)
    for part in traced.outputs:
        if part is not None:
            gap = max(gap, difference(part[0], torch.zeros_like(part[0]) if subject.zeros else finite(part[0])))
    gap = max([gap, *(difference(gradient, finite(gradient)) for gradient in traced.weights)])
    kind = "zeros" if subject.zeros else "finite numbers"
    return judged("no valid items", gap, EXACT, f"a row of padding alone gives {kind} and finite gradients")


def gradients_at_padding(subject: Subject) -> Finding:
    """The gradient at padding is 0, and the values of padding change no gradient of a weight."""
    values, valid = subject.values(), ragged()
    fillings = (0.0, 1.0 if subject.is_tokens else torch.nan)
    plain, odd = (trace(subject, with_padding(values, valid, filling), valid) for filling in fillings)
    into = [traced.into[~valid] for traced in (plain, odd) if traced.into is not None]
    gap = max((difference(gradient, torch.zeros_like(gradient)) for gradient in into), default=0.0)
    moved = max((difference(*pair) for pair in zip(odd.weights, plain.weights, strict=True)), default=0.0)
    held = "another token" if subject.is_tokens else "NaN"
    words = f"the gradient at padding is 0, and {held} there changes no gradient of a weight"
    return judged("gradients at padding", gap if moved <= CLOSE else max(gap, moved), EXACT, words)


def trace(subject: Subject, values: Tensor, valid: Tensor) -> Traced:
    """A forward and a backward pass."""
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
    """A forward hook that keeps the vectors of an embedding table called with the values."""

    def keep(module: nn.Module, inputs: object, output: Tensor) -> None:
        if output.shape[:2] == valid.shape and output.requires_grad:
            caught.append(output)

    return keep


def finite(values: Tensor) -> Tensor:
    """The same tensor with 0 in place of NaN and infinity."""
    return values.nan_to_num(0.0, 0.0, 0.0)


# Axes: B rows, T time.


def check_sequence(subject: Subject, *, only: Collection[str] = ()) -> list[Finding]:
    """Every contract of SEQUENCES, or only those named, each on a fresh copy of the module."""
    findings = []
    for name, (contract, excuses) in SEQUENCES.items():
        if only and name not in only:
            continue
        reason = next((str(getattr(subject, excuse)) for excuse in excuses if getattr(subject, excuse)), "")
        copy = replace(subject, module=exact_copy(subject.module))
        findings.append(not_applicable(name, reason) if reason else tried(name, partial(contract, copy)))
    return findings


def padding_content(subject: Subject) -> Finding:
    """Numbers, NaN and infinity in the padding give exactly the same outputs."""
    values, valid = subject.values(), ragged()
    plain, *others = subject.fillings()
    with torch.no_grad():
        expected = subject.read(with_padding(values, valid, plain), valid)
        gaps = {
            filling: output_difference(subject.read(with_padding(values, valid, filling), valid), expected, valid)
            for filling in others
        }
    kinds = "another token" if subject.is_tokens else "a number, NaN or infinity"
    worst = next((filling for filling, gap in gaps.items() if gap > EXACT), plain)
    content = "another token" if subject.is_tokens else f"{worst:g}"
    return judged(
        "padding content",
        max(gaps.values()),
        EXACT,
        f"{kinds} in the padding changes nothing",
        otherwise=f"{content} in the padding changes the outputs of valid items: set padding to 0 first",
    )


def padding_amount(subject: Subject) -> Finding:
    """More padding on the right gives the same outputs."""
    valid, more = ragged(), 5
    values = with_padding(subject.values(), valid, 0.0)
    longer = torch.cat([values, values.new_zeros(ROWS, more, *values.shape[2:])], dim=1)
    with torch.no_grad():
        expected = subject.read(values, valid)
        actual = subject.read(longer, torch.cat([valid, valid.new_zeros(ROWS, more)], dim=1)).cut(TIME)
    return judged(
        "padding amount", output_difference(actual, expected, valid), CLOSE, f"{more} more padded items change nothing"
    )


def padding_side(subject: Subject) -> Finding:
    """Padding on the left gives what padding on the right gives."""
    valid = ragged()
    values = with_padding(subject.values(), valid, 0.0)
    moved = torch.stack([row.roll(TIME - length, 0) for row, length in zip(values, LENGTHS, strict=True)])
    with torch.no_grad():
        right, left = subject.read(values, valid), subject.read(moved, valid.flip(1))
    gap = max(difference(*pair) for pair in zip(left.real(valid.flip(1)), right.real(valid), strict=True))
    return judged(
        "padding side",
        gap,
        CLOSE,
        "padding on the left gives what padding on the right gives",
        otherwise="padding on the left changes it: pad on the right, or count positions from the first real item",
    )


def batch_order(subject: Subject) -> Finding:
    """Rows in another order give outputs in that order."""
    (values, valid), order = batch(subject), torch.tensor([2, 0, 1])
    with torch.no_grad():
        expected = subject.read(values, valid).rows(order)
        actual = subject.read(values[order], valid[order])
    words = "rows in another order give outputs in that order"
    return judged("batch order", output_difference(actual, expected, valid[order]), CLOSE, words)


def neighbours(subject: Subject) -> Finding:
    """A row gives the same outputs alone as in a batch."""
    (values, valid), gap = batch(subject), 0.0
    with torch.no_grad():
        together = subject.read(values, valid)
        for row in range(ROWS):
            place = torch.tensor([row])
            gap = max(
                gap, output_difference(subject.read(values[place], valid[place]), together.rows(place), valid[place])
            )
    return judged("neighbours", gap, CLOSE, "a row gives the same outputs alone as in a batch")


def future(subject: Subject) -> Finding:
    """Later items change no earlier output."""
    return judged("future", leak(subject), EXACT, "later items change no earlier output")


def future_in_training(subject: Subject) -> Finding:
    """The same in training mode, with the same random seed for dropout."""
    subject.module.train()
    words = "nor do they in training mode, with the same random seed for dropout"
    return judged("future in training", leak(subject), EXACT, words)


def leak(subject: Subject) -> float:
    """The largest change of earlier outputs when later items change."""
    values, valid, gap = subject.values(), torch.ones(ROWS, TIME, dtype=torch.bool), 0.0
    other = subject.values(ROWS, 2 * TIME)[:, TIME:]
    with torch.no_grad():
        with seeded(1):
            expected = subject.read(values, valid)
        for now in (1, TIME // 2, TIME - 1):
            with seeded(1):
                changed = subject.read(torch.cat([values[:, :now], other[:, now:]], dim=1), valid)
            if changed.items is not None and expected.items is not None:
                gap = max(gap, difference(changed.items[:, :now], expected.items[:, :now]))
    return gap


def independent_calls(subject: Subject) -> Finding:
    """A call leaves no state behind: a module gives the same outputs before and after other calls."""
    values, valid = batch(subject)
    other = subject.values(ROWS, 2 * TIME)[:, TIME:]
    other = other if subject.unmasked else with_padding(other, valid, 0.0)
    fresh = deepcopy(subject.module)
    with torch.no_grad():
        subject.read(other, valid)
        used, again = subject.read(values, valid), subject.read(values, valid)
        unused = replace(subject, module=fresh).read(values, valid)
    gap = max(output_difference(used, unused, valid), output_difference(again, used, valid))
    return judged("independent calls", gap, EXACT, "outputs do not depend on earlier calls")


def save_and_load(subject: Subject) -> Finding:
    """The state dict holds everything that outputs depend on."""
    (values, valid), module = batch(subject), subject.module
    outside = tensors_outside(module)
    with torch.no_grad():
        expected = subject.read(values, valid)
        saved = load(save({name: tensor.clone() for name, tensor in module.state_dict().items()}))
        for tensor in (*module.state_dict().values(), *outside.values()):
            if tensor.is_floating_point():
                tensor.mul_(0.5).add_(0.25)  # what loading does not restore is wrong now
        module.load_state_dict(saved)
        actual = subject.read(values, valid)
    mend = f": register_buffer {', '.join(outside)}" if outside else ""
    return judged(
        "save and load",
        output_difference(actual, expected, valid),
        EXACT,
        "weights saved and loaded give exactly the same outputs",
        otherwise=f"outputs depend on what the state dict does not hold{mend}",
    )


def tensors_outside(module: nn.Module) -> dict[str, Tensor]:
    """Plain tensors kept on a module, which no state dict saves and no `.to()` moves."""
    return {
        f"{path}.{name}".lstrip("."): value
        for path, part in module.named_modules()
        for name, value in vars(part).items()
        if isinstance(value, Tensor) and value.is_floating_point()
    }


def batch(subject: Subject) -> tuple[Tensor, Tensor]:
    """Rows of unequal lengths with zeros in the padding; where a module takes no mask, all items are valid."""
    if subject.unmasked:
        return subject.values(), torch.ones(ROWS, TIME, dtype=torch.bool)
    return with_padding(subject.values(), ragged(), 0.0), ragged()


# name -> the contract, and the fields of a subject whose reason makes it not apply
SEQUENCES: dict[str, tuple[Callable[[Subject], Finding], tuple[str, ...]]] = {
    "padding content": (padding_content, ("unmasked",)),
    "padding amount": (padding_amount, ("unmasked",)),
    "padding side": (padding_side, ("unmasked", "side_matters")),
    "batch order": (batch_order, ()),
    "neighbours": (neighbours, ()),
    "future": (future, ("not_causal",)),
    "future in training": (future_in_training, ("not_causal",)),
    "no valid items": (nothing_real, ("unmasked",)),
    "gradients at padding": (gradients_at_padding, ("unmasked",)),
    "independent calls": (independent_calls, ()),
    "save and load": (save_and_load, ()),
}
FUTURE = ("future", "future in training")
NOT_FUTURE = [name for name in SEQUENCES if name not in FUTURE]
