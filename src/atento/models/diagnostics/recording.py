"""Watch a model read: what each recurrent cell and each stack of attention was given.

The vectors of a text's tokens on their way through a model: as they are looked up, then after each layer.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.transformer import DecoderLayer, TransformerStack
from atento.errors import InputError
from atento.layers.embeddings import PlacedEmbedding, TokenEmbedding
from atento.recurrent.cells import Cell
from atento.recurrent.stack import Stack

# Axes: B batch, T time, I input, G product of a step, D size.


class Walked(NamedTuple):
    """A stack of cells walked a whole sequence."""

    inputs: Tensor  # (B, T, I)
    start: tuple[Any, ...] | None
    valid: Tensor | None  # (B, T)


class Stepped(NamedTuple):
    """A cell took one step by itself."""

    read: Tensor  # (B, G)
    state: Any


class Passed(NamedTuple):
    """Attention passed a whole sequence; the outputs hang on the inputs and on nothing before them."""

    inputs: Tensor  # (B, T, D)
    outputs: Tensor  # (B, T, D)
    valid: Tensor | None  # (B, T)


@dataclass
class Seen:
    """By the names of the parts."""

    walked: dict[str, list[Walked]] = field(default_factory=dict)  # stacks
    stepped: dict[str, list[Stepped]] = field(default_factory=dict)  # cells that no stack walked
    passed: dict[str, list[Passed]] = field(default_factory=dict)  # stacks of attention


@contextmanager
def watch(model: nn.Module) -> Iterator[Seen]:
    """While inside, everything the model's parts are given is remembered; gradients must be on."""
    seen, walking = Seen(), [0]  # how many walks are under way
    with ExitStack() as undo:
        for name, part in model.named_modules():
            if isinstance(part, Stack):
                watch_stack(part, seen.walked.setdefault(name, []), walking, undo)
            elif isinstance(part, Cell):
                watch_cell(part, seen.stepped.setdefault(name, []), walking, undo)
            elif isinstance(part, TransformerStack):
                watch_passes(part, part, lambda output: output, seen.passed.setdefault(name, []), undo)
            elif isinstance(part, nn.ModuleList) and len(part) and isinstance(part[0], DecoderLayer):
                watch_passes(part[0], part[-1], lambda output: output.values, seen.passed.setdefault(name, []), undo)
        yield seen


def watch_stack(stack: Stack, found: list[Walked], walking: list[int], undo: ExitStack) -> None:
    """Note each walk, and when it is over."""

    def note(inputs: Tensor, start: tuple[Any, ...] | None = None, *, valid: Tensor | None = None) -> None:
        found.append(Walked(inputs.detach(), start, valid))

    def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        note(*args, **kwargs)  # as the stack's own arguments are named
        walking[0] += 1

    def after(*_: Any) -> None:
        walking[0] -= 1

    undo.callback(stack.register_forward_pre_hook(before, with_kwargs=True).remove)
    undo.callback(stack.register_forward_hook(after).remove)


def watch_cell(cell: Cell[Any], found: list[Stepped], walking: list[int], undo: ExitStack) -> None:
    """Note each step that is no part of a walk. Decoders may call `advance` itself, which no hook sees."""
    advance = cell.advance

    def noted(read: Tensor, state: Any) -> Any:
        if not walking[0]:
            found.append(Stepped(read.detach(), type(state)(*(part.detach() for part in state))))
        return advance(read, state)

    cell.__dict__["advance"] = noted
    undo.callback(cell.__dict__.pop, "advance")


def watch_passes(
    first: nn.Module, last: nn.Module, values_of: Callable[[Any], Tensor], found: list[Passed], undo: ExitStack
) -> None:
    """Note what went into the first layer, cut off from what lies below, and what came out of the last."""
    entered: list[tuple[Tensor, Tensor | None]] = []

    def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        values, *rest = args or (kwargs.pop("values"),)
        leaf = values.detach().requires_grad_()
        entered.append((leaf, kwargs.get("valid")))
        return (leaf, *rest), kwargs

    def after(_: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        inputs, valid = entered.pop()
        found.append(Passed(inputs, values_of(output), valid))

    undo.callback(first.register_forward_pre_hook(before, with_kwargs=True).remove)
    undo.callback(last.register_forward_hook(after).remove)


# Axes: T tokens, D size.

BEFORE = "embedding"


class Stage(NamedTuple):
    """Where on the way, and the vectors there."""

    name: str
    vectors: Tensor  # (T, D)


@torch.no_grad()
def stages(module: nn.Module, tokens: Tensor) -> list[Stage]:
    """One text (T,), or (T, 1 + letters) where words are read with their letters, through the part that reads it.

    The first stage knows neither neighbours nor places; a Transformer has one more a layer, a recurrent model one.
    """
    reader, rows = reader_of(module), tokens.unsqueeze(0)
    valid = torch.ones(rows.shape[:2], dtype=torch.bool, device=rows.device)
    if isinstance(reader.embedding, PlacedEmbedding):
        found = [Stage(BEFORE, reader.embedding.tokens(rows)[0])]
        values = reader.embedding.whole(rows, valid)
        layers = reader.stack.each()
        for number, layer in enumerate(layers, start=1):
            values = layer.extend(values, valid=valid).values
            shown = reader.stack.norm(values) if number == len(layers) else values
            found.append(Stage(f"layer {number}", shown[0]))
        return found
    vectors = reader.embedding(rows)
    return [Stage(BEFORE, vectors[0]), Stage("states", reader.stack(vectors, valid=valid).outputs[0])]


def reader_of(module: nn.Module) -> Any:
    """The first part that looks tokens up and passes them through layers."""
    for part in module.modules():
        embedding, stack = getattr(part, "embedding", None), getattr(part, "stack", None)
        placed = isinstance(embedding, PlacedEmbedding) and isinstance(stack, TransformerStack)
        if placed or (isinstance(embedding, TokenEmbedding) and isinstance(stack, Stack)):
            return part
    raise InputError(
        "this model has no layers that read a text word by word.",
        found=type(module).__name__,
        fix="look at a Transformer or a recurrent model",
    )
