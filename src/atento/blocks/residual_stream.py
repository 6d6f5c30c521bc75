"""The residual stream of a packed batch: one node of the graph from each sublayer to the next."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.sublayers import Node, NodeFunction
from atento.blocks.transformer import Residual
from atento.layers.feed_forward import FeedForward
from atento.layers.packing import Packing

# Axes: M real items, D size, N features of a product.


class Change(NamedTuple):
    """The output of a sublayer, before it is added to the residual stream."""

    values: Tensor  # (M, D); of an attention its context, before the output projection
    around: Residual
    combine: nn.Linear | None = None  # the output projection


class ResidualStream:
    """The residual stream (M, D) of a packed batch; each method takes it past a part of a layer."""

    def __init__(self, packed: Tensor, packing: Packing, seed: Tensor | None) -> None:
        self.residual, self.packing, self.seed, self.draw = packed, packing, seed, 0
        self.change: Change | None = None
        self.dtype = compute_dtype(packed)

    def project(self, around: Residual, *layers: nn.Linear) -> Tensor:
        """The products (M, N) of what enters a sublayer with the weights of these layers, as one."""
        return self.pass_node(around, layers)

    def leave(self, context: Tensor, around: Residual, combine: nn.Linear) -> None:
        """The context (M, D) of an attention, which the next node projects and adds."""
        self.change = Change(context, around, combine)

    def feed(self, around: Residual, part: FeedForward) -> None:
        """Through the feed-forward network."""
        drop = part.dropout.p if part.dropout.training else 0.0
        self.change = Change(self.pass_node(around, (part.widen, part.narrow), inner_drop=drop), around)

    def end(self, norm: nn.Module) -> Tensor:
        """What the norm after the last layer gives (M, D)."""
        return self.pass_node(None, (), last=norm)

    def pass_node(
        self,
        around: Residual | None,
        layers: Sequence[nn.Linear],
        *,
        inner_drop: float | None = None,
        last: nn.Module | None = None,
    ) -> Tensor:
        """Add the change of the sublayer before, normalize, and give the output of these layers."""
        change, self.change = self.change, None
        left = None if change is None else change.around
        post = (around or left) is not None and (around or left).order == "post"  # type: ignore[union-attr]
        norm = (None if left is None else left.norm) if post else last if around is None else around.norm
        gained = norm if isinstance(norm, nn.LayerNorm) else None
        node = Node(
            post=post,
            feeds=inner_drop is not None,
            eps=gained.eps if gained is not None else 0.0,
            drop=left.dropout.p if left is not None and left.dropout.training else 0.0,
            inner_drop=inner_drop or 0.0,
            seed=self.seed,
            draw=self.draw,
        )
        self.draw += 2
        combine = None if change is None else change.combine
        self.residual, output = NodeFunction.apply(  # type: ignore[no-untyped-call]
            node,
            self.dtype,
            self.residual,
            change.values if change is not None and combine is None else None,
            change.values if change is not None and combine is not None else None,
            None if combine is None else combine.weight,
            None if combine is None else combine.bias,
            None if gained is None else gained.weight,
            None if gained is None else gained.bias,
            *(weight for layer in layers for weight in (layer.weight, layer.bias)),
        )
        return output


def compute_dtype(values: Tensor) -> torch.dtype:
    """What products are computed in: the type of autocast, or that of the values."""
    device = values.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else values.dtype
