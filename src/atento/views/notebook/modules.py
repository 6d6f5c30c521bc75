"""Attention modules as a notebook shows them: score × distribution × extent, shapes, parameters, and the extent."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from atento.attention.attention import Attention
from atento.attention.extents.extents import Intersection, Union
from atento.attention.heads import MultiHead
from atento.data.records import counted
from atento.errors import AtentoError
from atento.views.html import Markup, joined, page, table, tag
from atento.views.notebook.pictures import heat_map
from atento.views.wording import whole

# Axes: B batch, H heads, Q queries, K keys, D size, d = D / H.

ITEMS = 16  # queries and keys of the picture
SIZE = 16  # of queries and keys where the module does not say it


def attention_page(attention: Attention) -> str:
    """One attention: its parts, and what each query sees."""
    query, key = (size_of(attention, name) for name in ("query", "key"))
    shapes = [
        ("query", f"(…, Q, {query or 'query size'})"),
        ("key", f"(…, K, {key or 'key size'})"),
        ("value", "(…, K, any size)"),
        ("output", "(…, Q, size of a value)"),
    ]
    return module_page("Attention", attention, attention, shapes, heads=1, size=query or key or SIZE)


def multi_head_page(layer: MultiHead) -> str:
    """Multi-head attention: the composition of its heads and its projections."""
    source = layer.to_key.in_features
    shapes = [
        ("query", f"(B, Q, {layer.size})"),
        ("source", f"(B, K, {source})"),
        (f"each of {counted(layer.heads, 'head')}", f"queries and keys of {layer.size // layer.heads} numbers"),
        ("output", f"(B, Q, {layer.size})"),
    ]
    return module_page(
        "Multi-head attention", layer, layer.attention, shapes, heads=layer.heads, size=layer.size // layer.heads
    )


def module_page(
    title: str, module: nn.Module, attention: Attention, shapes: list[tuple[str, str]], *, heads: int, size: int
) -> str:
    """The page of a module that holds one attention."""
    parameters = sum(one.numel() for one in module.parameters())
    parts = {"score": attention.score, "distribution": attention.distribution, "extent": attention.extent}
    rows: list[tuple[object, ...]] = [
        (kind, tag("code", in_a_line(part)), whole(numbers_in(part))) for kind, part in parts.items()
    ]
    rest = parameters - sum(map(numbers_in, parts.values()))
    if rest:
        rows.append(("projections", "of query, key, value and output", whole(rest)))
    about = joined(
        table(("part", "what it is", "parameters"), rows),
        table(("tensor", "shape"), shapes),
    )
    opening = [tag("p", f"{title}, {counted(parameters, 'parameter')}", class_="verdict")]
    picture = extent_picture(attention, heads=heads, size=size)
    body = tag("section", tag("div", tag("div", about), picture, class_="module"))
    return page(title, " × ".join(type(part).__name__ for part in parts.values()), opening, body)


def in_a_line(part: nn.Module) -> str:
    """A part as it is written in Python, and the linear maps in it: `Causal() & Window(5)`."""
    if isinstance(part, Intersection | Union):
        sign = "&" if isinstance(part, Intersection) else "|"
        return f"{in_a_line(part.left)} {sign} {in_a_line(part.right)}"
    maps = [f"{name} {one.in_features} → {one.out_features}" for name, one in part.named_modules()
            if isinstance(one, nn.Linear)]  # fmt: skip
    written = f"{type(part).__name__}({part.extra_repr()})"
    return f"{written}: {', '.join(maps)}" if maps else written


def numbers_in(module: nn.Module) -> int:
    """How many numbers are learned in a module."""
    return sum(one.numel() for one in module.parameters())


def size_of(attention: Attention, name: str) -> int:
    """The size of a query or a key, where a projection of it says so; else 0."""
    projection = getattr(attention.score, f"project_{name}", None)
    return projection.in_features if isinstance(projection, nn.Linear) else 0


def extent_picture(attention: Attention, *, heads: int, size: int) -> Markup:
    """What each of a few queries sees; nothing for an extent that has to see real queries and keys."""
    share = seen(attention, heads=heads, size=size)
    if share is None:
        return tag("p", "What a query sees depends on its values.", class_="note")
    text = f"Extent over {ITEMS} items: queries down, keys across; the stronger the colour, the more a key counts."
    return tag("figure", heat_map(share, label=f"The extent of this attention over {ITEMS} items."),
               tag("figcaption", text, class_="note"))  # fmt: skip


@torch.no_grad()
def seen(attention: Attention, *, heads: int, size: int) -> NDArray[np.float64] | None:
    """How much each key counts for each query (Q, K) where all scores are equal, in the first head."""
    at = torch.arange(ITEMS)
    like = next(attention.parameters(), torch.zeros(()))
    items = torch.zeros(1, heads, ITEMS, size, dtype=like.dtype, device=like.device)
    try:
        view = attention.extent(items, items, query_at=at.to(like.device), key_at=at.to(like.device), valid=None)
        share = view.visible.to(torch.float64)
        if view.bias is not None:
            bias = view.bias.to(torch.float64).masked_fill(~view.visible, -torch.inf)
            share = share * (bias - bias.amax(-1, keepdim=True)).exp().nan_to_num()
        share = view.scale(share)
        first = torch.broadcast_to(share, (*share.shape[:-2], ITEMS, ITEMS)).reshape(-1, ITEMS, ITEMS)[0]
    except (RuntimeError, AtentoError, IndexError):  # an extent of other sizes
        return None
    return first.cpu().double().numpy()
