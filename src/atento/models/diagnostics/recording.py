"""Recording activations: the inputs of recurrent stacks, cells and attention, and hidden states layer by layer."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.transformer import TransformerDecoderLayer
from atento.blocks.transformer_stack import TransformerStack
from atento.errors import InputError
from atento.layers.embeddings import PositionedEmbedding, TokenEmbedding
from atento.recurrent.cells import Cell
from atento.recurrent.stack import Stack

# Axes: B batch, T time or tokens, I input, G gate inputs of a cell, D size.


class StackInputs(NamedTuple):
    """The arguments of one call of a recurrent stack."""

    inputs: Tensor  # (B, T, I)
    start: tuple[Any, ...] | None
    valid: Tensor | None  # (B, T)


class CellStep(NamedTuple):
    """The arguments of one step of a cell outside of any stack's call."""

    read: Tensor  # (B, G)
    state: Any


class AttentionPass(NamedTuple):
    """One pass through layers of attention; the graph of the outputs ends at the inputs."""

    inputs: Tensor  # (B, T, D)
    outputs: Tensor  # (B, T, D)
    valid: Tensor | None  # (B, T)


@dataclass
class RecordedActivations:
    """Activations by the names of the submodules."""

    stack_inputs: dict[str, list[StackInputs]] = field(default_factory=dict)
    cell_steps: dict[str, list[CellStep]] = field(default_factory=dict)
    attention_passes: dict[str, list[AttentionPass]] = field(default_factory=dict)


@contextmanager
def record_activations(model: nn.Module) -> Iterator[RecordedActivations]:
    """Record by hooks what the recurrent and attention parts of a model are given; gradients must be enabled."""
    recorded, depth = RecordedActivations(), [0]  # how many calls of stacks are under way
    with ExitStack() as undo:
        for name, part in model.named_modules():
            if isinstance(part, Stack):
                record_stack(part, recorded.stack_inputs.setdefault(name, []), depth, undo)
            elif isinstance(part, Cell):
                record_cell(part, recorded.cell_steps.setdefault(name, []), depth, undo)
            elif isinstance(part, TransformerStack):
                passes = recorded.attention_passes.setdefault(name, [])
                record_passes(part, part, lambda output: output, passes, undo)
            elif isinstance(part, nn.ModuleList) and len(part) and isinstance(part[0], TransformerDecoderLayer):
                passes = recorded.attention_passes.setdefault(name, [])
                record_passes(part[0], part[-1], lambda output: output.values, passes, undo)
        yield recorded


def record_stack(stack: Stack, found: list[StackInputs], depth: list[int], undo: ExitStack) -> None:
    """Record each call of a stack, and count it while it is under way."""

    def note(inputs: Tensor, start: tuple[Any, ...] | None = None, *, valid: Tensor | None = None) -> None:
        found.append(StackInputs(inputs.detach(), start, valid))

    def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        note(*args, **kwargs)  # as the stack's own arguments are named
        depth[0] += 1

    def after(*_: Any) -> None:
        depth[0] -= 1

    undo.callback(stack.register_forward_pre_hook(before, with_kwargs=True).remove)
    undo.callback(stack.register_forward_hook(after).remove)


def record_cell(cell: Cell[Any], found: list[CellStep], depth: list[int], undo: ExitStack) -> None:
    """Record each step outside of a stack's call. `advance` is replaced, as a decoder may call it without hooks."""
    advance = cell.advance

    def recorded(read: Tensor, state: Any) -> Any:
        if not depth[0]:
            found.append(CellStep(read.detach(), type(state)(*(part.detach() for part in state))))
        return advance(read, state)

    cell.__dict__["advance"] = recorded
    undo.callback(cell.__dict__.pop, "advance")


def record_passes(
    first: nn.Module, last: nn.Module, values_of: Callable[[Any], Tensor], found: list[AttentionPass], undo: ExitStack
) -> None:
    """Record the inputs of the first layer, detached from what is below, and the outputs of the last."""
    entered: list[tuple[Tensor, Tensor | None]] = []

    def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        values, *rest = args or (kwargs.pop("values"),)
        leaf = values.detach().requires_grad_()
        entered.append((leaf, kwargs.get("valid")))
        return (leaf, *rest), kwargs

    def after(_: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        inputs, valid = entered.pop()
        found.append(AttentionPass(inputs, values_of(output), valid))

    undo.callback(first.register_forward_pre_hook(before, with_kwargs=True).remove)
    undo.callback(last.register_forward_hook(after).remove)


class LayerVectors(NamedTuple):
    """The vectors of a text's tokens after one layer."""

    name: str
    vectors: Tensor  # (T, D)


@torch.no_grad()
def hidden_states(module: nn.Module, tokens: Tensor) -> list[LayerVectors]:
    """The hidden states of one text (T,), or (T, 1 + characters): its embeddings, then the output of each layer.

    The embeddings depend on neither neighbours nor positions; a recurrent stack counts as one layer.
    """
    encoder, rows = text_encoder_of(module), tokens.unsqueeze(0)
    valid = torch.ones(rows.shape[:2], dtype=torch.bool, device=rows.device)
    if isinstance(encoder.embedding, PositionedEmbedding):
        found = [LayerVectors("embedding", encoder.embedding.tokens(rows)[0])]
        values = encoder.embedding.embed_padded(rows, valid)
        layers = encoder.stack.each()
        for number, layer in enumerate(layers, start=1):
            values = layer.extend(values, valid=valid).values
            shown = encoder.stack.norm(values) if number == len(layers) else values
            found.append(LayerVectors(f"layer {number}", shown[0]))
        return found
    vectors = encoder.embedding(rows)
    states = encoder.stack(vectors, valid=valid).outputs
    return [LayerVectors("embedding", vectors[0]), LayerVectors("states", states[0])]


def text_encoder_of(module: nn.Module) -> Any:
    """The first submodule that embeds tokens and passes them through layers."""
    for part in module.modules():
        embedding, stack = getattr(part, "embedding", None), getattr(part, "stack", None)
        positioned = isinstance(embedding, PositionedEmbedding) and isinstance(stack, TransformerStack)
        if positioned or (isinstance(embedding, TokenEmbedding) and isinstance(stack, Stack)):
            return part
    raise InputError(
        "this model has no layers that read a text word by word.",
        found=type(module).__name__,
        fix="look at a Transformer or a recurrent model",
    )
