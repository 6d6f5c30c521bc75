"""Any module, by the signature of its forward: (values, valid) -> values, and torch's own sequence modules."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from atento.checking.finding import Finding
from atento.checking.places import why_sided
from atento.checking.sequences import check_sequence
from atento.checking.subject import ROWS, TIME, Outputs, Subject, exact_copy, numbers_of, tokens_of, vocabulary_of
from atento.errors import InputError

EXPECTED = (
    "forward(values, valid) -> values: values (B, T, D) or tokens (B, T), valid (B, T), True where an item is real"
)
Draw = Callable[[int, int], Tensor]  # rows, time -> values

MASKS = {"valid", "src_key_padding_mask", "key_padding_mask"}
UNTOLD = "its forward has no `valid`, so it cannot be told what is padding"
LOOKS_AHEAD = "not said to be causal: pass causal=True if it must not look ahead"
SIZES = ("size", "input_size", "embed_dim", "d_model", "in_features")  # where modules keep the width they read


def check_any(module: nn.Module, *, values: Tensor | None, causal: bool) -> list[Finding]:
    """Every contract of sequences; a module that cannot be called so is refused with what is expected."""
    draw, per_item = understood(exact_copy(module), values)
    untold = "" if MASKS & set(parameters(module)) else UNTOLD
    ahead = "" if causal and per_item else LOOKS_AHEAD if per_item else "it gives one output a row"

    def view(one: nn.Module) -> Subject:
        call = caller(one)

        def read(values: Tensor, valid: Tensor) -> Outputs:
            found = call(values, valid)
            return Outputs(items=found) if per_item else Outputs(whole=found)

        return Subject(one, read, draw, over=view, masks=untold, sided=why_sided(module), causal=ahead)

    return check_sequence(module, view)


def understood(module: nn.Module, values: Tensor | None) -> tuple[Draw, bool]:
    """What to feed it, and whether it gives one output an item; refused where nothing that it could read fits."""
    problems = []
    for draw in [like(values)] if values is not None else guesses(module):
        try:
            return draw, gives_items(module, draw)
        except Exception as error:  # noqa: BLE001 - what it raises is said when nothing else fits either
            problems.append(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}")
    raise InputError(
        f"{type(module).__name__} cannot be checked: it cannot be called with values and what of them is real.",
        found=problems[0],
        fix=f"write {EXPECTED}; or give an example: atento.check(module, values=torch.randn(3, 7, width))",
    )


def like(values: Tensor) -> Draw:
    """Numbers as wide as the example, or tokens like its."""
    if values.dim() != (3 if values.is_floating_point() else 2):
        raise InputError(
            "check: values must be numbers (rows, time, width) or tokens (rows, time).",
            found=f"{values.dtype} of shape {tuple(values.shape)}",
            fix="give, e.g., values=torch.randn(3, 7, 16)",
        )
    return numbers_of(values.size(-1)) if values.is_floating_point() else tokens_of(int(values.max()) + 1)


def guesses(module: nn.Module) -> list[Draw]:
    """Tokens for an embedding; else numbers of a width it keeps by name, or of a size of its weights."""
    vocabulary = vocabulary_of(module)
    if vocabulary:
        return [tokens_of(vocabulary, least=4)]
    named = [getattr(part, name, None) for part in module.modules() for name in SIZES]
    sizes = [size for size in named if isinstance(size, int) and size > 0]
    sizes += [size for weight in module.parameters() for size in weight.shape]
    return [numbers_of(size) for size in dict.fromkeys([*sizes, 8])]


def caller(module: nn.Module) -> Callable[[Tensor, Tensor], Any]:
    """How this module is told what is real: `valid`, or torch's own masks, where True means padding."""
    names = parameters(module)
    theirs = type(module).__module__.startswith("torch.")
    turned = theirs and any(getattr(part, "batch_first", True) is False for part in module.modules())

    def call(values: Tensor, valid: Tensor) -> Any:
        told: dict[str, Tensor] = {}
        if "valid" in names:
            told["valid"] = valid
        for name in ("src_key_padding_mask", "key_padding_mask"):
            if name in names:
                told[name] = ~valid
        values = values.transpose(0, 1) if turned else values
        several = [values] * 3 if isinstance(module, nn.MultiheadAttention) else [values]
        found = module(*several, **told)
        first = found[0] if isinstance(found, tuple) else found
        return first.transpose(0, 1) if turned else first

    return call


def parameters(module: nn.Module) -> dict[str, inspect.Parameter]:
    """The arguments of its forward."""
    return dict(inspect.signature(module.forward).parameters)


def gives_items(module: nn.Module, draw: Draw) -> bool:
    """Whether there is one output an item, not one a row."""
    shapes = []
    for time in (TIME, TIME - 2):
        with torch.no_grad():
            found = caller(module)(draw(ROWS, time), torch.ones(ROWS, time, dtype=torch.bool))
        shapes.append(tuple(found.shape))
    if any(len(shape) < 2 or shape[0] != ROWS for shape in shapes):
        raise ValueError(f"an output of shape {shapes[0]} for {ROWS} rows: the first axis must be the rows")
    return [shape[1] for shape in shapes] == [TIME, TIME - 2]
