"""The vectors of a text's tokens on their way through a model: as they are looked up, then after each layer."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.stack import TransformerStack
from atento.errors import InputError
from atento.layers.embeddings import PlacedEmbedding, TokenEmbedding
from atento.recurrent.stack import Stack

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
