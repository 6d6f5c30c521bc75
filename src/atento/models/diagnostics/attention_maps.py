"""Attention weights of every attention in a model: calls recorded in one forward pass, labelled as maps.

`record_attention` wraps the `read` of each attention, so that no model needs code of its own. `maps_of_calls` joins
the calls of one place in all layers and gives them the names and labels of a list of `MapPlace`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.extents.extents import Extent, PreparedKeys
from atento.attention.heads import MultiHead
from atento.attention.scores.product import ScaledDot
from atento.attention.weights import summarize_weights
from atento.blocks.multi_dimensional import MultiDimensionalAttention
from atento.models.backbones.transformer import is_causal

# Axes: B batch, L layers, H heads, Q queries, K keys, d size of a head.

MapKind = Literal["self", "causal", "cross", "pooling", "words", "sentences", "regions"]
AnyAttention = Attention | MultiHead | MultiDimensionalAttention


class RecordedAttention(NamedTuple):
    """One or more calls of one attention over the same keys."""

    place: str  # the name of the submodule
    attention: AnyAttention
    query: Tensor  # (B, Q, D)
    prepared: PreparedKeys
    query_at: Tensor | None  # (Q,) positions; None: from 0 on

    def weights(self) -> Tensor:
        """The weights (B, H, Q, K) by the formula; without heads H is 1, and features of a multi-dimensional attention
        count as heads.
        """
        found = self.attention.weights_from(self.query, self.prepared, query_at=self.query_at)
        return found.unsqueeze(-3) if found.dim() == self.query.dim() else found

    def vectors(self) -> "HeadVectors | None":
        """Queries, keys and values as the heads see them; None where the score keeps no plain keys."""
        if not isinstance(self.attention, MultiHead):
            return None
        queries = self.attention.project_query(self.query, self.query_at)
        if self.prepared.key.shape[-1] != queries.shape[-1]:
            return None
        return HeadVectors(queries, self.prepared.key, self.prepared.value)


class HeadVectors(NamedTuple):
    """Queries (…, H, Q, d), keys and values (…, H, K, d) of the heads of a layer, or of layers (L, H, …)."""

    query: Tensor
    key: Tensor
    value: Tensor


@contextmanager
def record_attention(model: nn.Module) -> Iterator[list[RecordedAttention]]:
    """Record every attention that a model computes, in order; steps over the same keys are joined to one call."""
    found: list[RecordedAttention] = []
    with ExitStack() as undo:
        inside = {id(part.attention) for part in model.modules() if isinstance(part, MultiHead)}
        for name, part in model.named_modules():
            if isinstance(part, AnyAttention) and id(part) not in inside:
                record_reads(name, part, found, undo)
        yield found


def record_reads(name: str, attention: AnyAttention, found: list[RecordedAttention], undo: ExitStack) -> None:
    """Replace the `read` of one attention by one that also records its arguments."""
    read = attention.read

    def recorded(query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None) -> Tensor:
        last = next((call for call in reversed(found) if call.place == name), None)
        if last is not None and last.prepared is prepared and last.query_at is not None and query_at is not None:
            found.remove(last)
            query_at = torch.cat([last.query_at, query_at])
            found.append(RecordedAttention(name, attention, torch.cat([last.query, query], dim=-2), prepared, query_at))
            return read(query, prepared, query_at=query_at[len(last.query_at) :])
        found.append(RecordedAttention(name, attention, query, prepared, query_at))
        return read(query, prepared, query_at=query_at)

    attention.__dict__["read"] = recorded
    undo.callback(attention.__dict__.pop, "read")


@dataclass(frozen=True)
class MapPlace:
    """What the attention of one part of a model reads: how its map is called and labelled.

    `arrange` turns weights (B, H, Q, K) into one map (H, queries, keys); None: the first row of the batch.
    """

    part: str  # in the dotted name of the submodule; each place labels one part, and one that is called twice has two
    name: str
    kind: MapKind
    queries: Sequence[str]
    keys: Sequence[str]
    grid: tuple[int, int] = (0, 0)
    arrange: Callable[[Tensor], Tensor] | None = None
    within: str = ""  # also in that name: which network the part belongs to, where there are several

    def names(self, submodule: str) -> bool:
        """Whether it labels the attention of that submodule."""
        path = f".{submodule}."
        if self.within:
            return self.within in path and self.part in path.replace(self.within, ".", 1)
        return self.part in path


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """The attention weights of one part of a model on one input, with a label for each query and each key."""

    name: str
    kind: MapKind
    queries: list[str]
    keys: list[str]
    weights: Tensor  # (L, H, Q, K); NaN where a query has no such key
    grid: tuple[int, int] = (0, 0)  # of regions: rows and columns
    vectors: HeadVectors | None = None  # of each layer and head
    formula: str = ""  # how the weights are computed from queries and keys

    def statistics(self) -> "MapStatistics":
        """Entropy, distance and zeros of each layer and head, averaged over queries."""
        seen = ~self.weights.isnan()
        at = torch.arange(self.weights.size(-2))
        every = summarize_weights(self.weights.nan_to_num(0.0), None, query_at=at)
        real = seen.any(dim=-1).float()  # (L, H, Q)
        rows = real.sum(dim=-1).clamp(min=1)
        zeros = ((self.weights == 0) & seen).sum(dim=-1) / seen.sum(dim=-1).clamp(min=1)
        return MapStatistics(
            (every.entropy * real).sum(dim=-1) / rows,
            (every.distance * real).sum(dim=-1) / rows,
            (zeros * real).sum(dim=-1) / rows,
        )


class MapStatistics(NamedTuple):
    """Of each layer and head (L, H), averaged over queries."""

    entropy: Tensor  # in nats
    distance: Tensor  # in positions
    zeros: Tensor  # the fraction of keys with weight exactly 0


@dataclass
class LayerGroup:
    """The calls of one part in all layers: the first call of each layer, or the second of each."""

    place: str  # without the numbers of layers
    calls: list[RecordedAttention] = field(default_factory=list)


def maps_of_calls(calls: Sequence[RecordedAttention], places: Sequence[MapPlace]) -> list[AttentionMap]:
    """A map for each part that attended, layers together, in the order of the forward pass."""
    unused, found = list(places), []
    for group in group_layers(calls):
        place = next((place for place in unused if place.names(group.place)), None)
        if place is not None:
            unused.remove(place)  # the next call of the same part is labelled by the next place
        found.append(labelled(group, place))
    return found


def group_layers(calls: Sequence[RecordedAttention]) -> list[LayerGroup]:
    """Calls that differ in the number of their layer alone belong together; a second call of a layer does not."""
    groups: list[LayerGroup] = []
    times: dict[str, int] = {}
    by_key: dict[tuple[str, int], LayerGroup] = {}
    for call in calls:
        time = times[call.place] = times.get(call.place, -1) + 1
        place = ".".join(part for part in without_layer_number(call.place))
        if (place, time) not in by_key:
            groups.append(by_key.setdefault((place, time), LayerGroup(place)))
        by_key[place, time].calls.append(call)
    return groups


def without_layer_number(place: str) -> Iterator[str]:
    """The parts of a name, but for the number after `layers`."""
    before = ""
    for part in place.split("."):
        if not (before == "layers" and part.isdecimal()):
            yield part
        before = part


def labelled(group: LayerGroup, place: MapPlace | None) -> AttentionMap:
    """The map of a group; without a place, or where labels do not fit, queries and keys are numbered."""
    arrange = first_row if place is None or place.arrange is None else place.arrange
    weights = torch.stack([arrange(call.weights().detach()).float().cpu() for call in group.calls])  # (L, H, Q, K)
    queries, keys = weights.shape[-2:]
    kind: MapKind = "cross" if place is None else place.kind
    if kind == "self" and all(is_causal(extent_of(call.attention)) for call in group.calls):
        kind = "causal"
    plain = place is None or place.arrange is None
    vectors = [call.vectors() for call in group.calls] if plain else []
    return AttentionMap(
        name=group.place if place is None else place.name,
        kind=kind,
        queries=fitting_labels(() if place is None else place.queries, queries),
        keys=fitting_labels(() if place is None else place.keys, keys),
        weights=weights,
        grid=(0, 0) if place is None else place.grid,
        vectors=layered([found for found in vectors if found is not None], len(group.calls)),
        formula=formula_of(group.calls[0].attention),
    )


def formula_of(attention: AnyAttention) -> str:
    """The weights as a formula of queries and keys."""
    inner = attention.attention if isinstance(attention, MultiHead) else attention
    score = "Q Kᵀ / √d" if type(getattr(inner, "score", None)) is ScaledDot else "a(Q, K)"
    name = type(inner.distribution).__name__.lower()
    of_score = "" if score != "a(Q, K)" or not hasattr(inner, "score") else f", a: {type(inner.score).__name__}"
    return f"{name}({score}){of_score}"


def first_row(weights: Tensor) -> Tensor:
    """(B, H, Q, K) -> (H, Q, K)."""
    return weights[0]


def extent_of(attention: AnyAttention) -> Extent:
    """The extent of an attention, with heads or without."""
    return attention.attention.extent if isinstance(attention, MultiHead) else attention.extent


def layered(vectors: Sequence[HeadVectors], layers: int) -> HeadVectors | None:
    """The vectors of all layers (L, H, …) of the first row of the batch; None unless every layer has them."""
    if not vectors or len(vectors) != layers:
        return None
    return HeadVectors(*(torch.stack([one[0].float().cpu() for one in part]) for part in zip(*vectors, strict=True)))


def fitting_labels(labels: Sequence[str], count: int) -> list[str]:
    """The labels, or numbers from 1 where they are not as many as there are items."""
    return list(labels) if len(labels) == count else [str(number + 1) for number in range(count)]
