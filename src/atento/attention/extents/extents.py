"""Extents: which keys each query may attend to, with a bias or factor where there is one.

They combine with `&` and `|`: `Causal() & Window(128)`. The file ends with prepared keys, and what an extent shows of
them once padding is hidden."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.extents.groups import Groups, Partition
from atento.errors import InputError

# Axes: B batch (any number of leading axes), Q queries, K keys, D features. Positions are absolute, so that a step with
# a cache and a pass over the whole sequence agree.


class View(NamedTuple):
    """What an extent allows. Each part has two axes or more, and broadcasts to (..., Q, K)."""

    visible: Tensor  # True: this query may attend to this key
    bias: Tensor | None = None  # added to scores
    factor: Tensor | None = None  # multiplies weights

    def add_bias(self, scores: Tensor) -> Tensor:
        """Scores plus the bias, if there is one."""
        return scores if self.bias is None else scores + self.bias

    def scale(self, weights: Tensor) -> Tensor:
        """Weights times the factor, if there is one."""
        return weights if self.factor is None else weights * self.factor


class GroupPair(NamedTuple):
    """Groups of queries, and for each the group of keys that holds all it sees through `extent`."""

    queries: Partition
    keys: Groups
    extent: "Extent"

    @property
    def area(self) -> int:
        """The number of scores in all groups."""
        return self.queries.groups * self.queries.size * self.keys.size


class Extent(nn.Module, ABC):
    """Queries (..., Q, D) and keys (..., K, D) at positions (..., Q) and (..., K) -> View.

    valid (..., K) is True for real keys; None: all are. Heads are the third axis from the right. The flags below say
    where an extent can be used.
    """

    crosses_sequences: bool = True  # it also applies from one sequence to another, as in cross-attention
    causal_safe: bool = True  # it also applies while the keys still grow: with Causal, in a cache
    biased: bool = False  # it adds a bias to the scores
    position_only: bool = False  # it depends on positions alone, so that groups of keys can be handled separately
    counts_real: bool = False  # it counts positions from the first real key

    @abstractmethod
    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """The keys each query may attend to."""

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """Groups that hold each visible pair of query and key exactly once; empty for an extent that is not sparse.

        causal: only keys at or before the query need to be held.
        """
        return ()

    def __and__(self, other: "Extent") -> "Extent":
        return Intersection(self, other)

    def __or__(self, other: "Extent") -> "Extent":
        return Union(self, other)


class Everything(Extent):
    """Every query sees every key: global attention."""

    position_only = True

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """True."""
        return View(torch.ones((1, 1), dtype=torch.bool, device=query.device))


class Causal(Extent):
    """A query sees keys at its own position and before."""

    crosses_sequences = False
    position_only = True

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """key_at ≤ query_at."""
        return View(key_at.unsqueeze(-2) <= query_at.unsqueeze(-1))


class Masked(Extent):
    """A given mask (..., Q, K) by absolute position: boolean, True for visible; or added to the scores, −inf hides.

    A mask that is an `nn.Parameter` is learned.
    """

    def __init__(self, mask: Tensor) -> None:
        super().__init__()
        self.biased = mask.is_floating_point()
        if mask.dim() < 2 or not (self.biased or mask.dtype == torch.bool):
            raise InputError(
                "Masked: mask must be boolean or floating point, with an axis of queries and one of keys.",
                found=f"{mask.dtype}, shape {tuple(mask.shape)}",
                fix="give True where a query may attend, or numbers to add to the scores (−inf hides)",
            )
        if self.biased and not bool((mask < torch.inf).all()):
            raise InputError(
                "Masked: a mask that is added must be finite or −inf.",
                found="NaN or +inf in mask",
                fix="hide with −inf, show with 0",
            )
        self.mask = mask if isinstance(mask, nn.Parameter) else nn.Buffer(mask)

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """The mask at these positions."""
        rows, columns = self.mask.shape[-2:]
        recorded = torch.compiler.is_compiling()  # then the index below refuses a position that there is not
        if not recorded and (int(query_at.max()) >= rows or int(key_at.max()) >= columns):
            raise InputError(
                "Masked: there are more positions than the mask has.",
                found=f"mask {rows} × {columns}, last query {int(query_at.max())}, last key {int(key_at.max())}",
                fix="give a mask of the longest sequence",
            )
        mask = self.mask[..., query_at.unsqueeze(-1), key_at.unsqueeze(-2)]
        if not self.biased:
            return View(mask)
        visible = mask > -torch.inf
        return View(visible, bias=mask.masked_fill(~visible, 0.0))


class CombinedExtent(Extent):
    """Two extents combined into one; subclasses define how their views are joined."""

    def __init__(self, left: Extent, right: Extent) -> None:
        super().__init__()
        self.left, self.right = left, right
        self.crosses_sequences = left.crosses_sequences and right.crosses_sequences
        self.causal_safe = left.causal_safe and right.causal_safe
        self.biased = left.biased or right.biased
        self.position_only = left.position_only and right.position_only
        self.counts_real = left.counts_real or right.counts_real

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """The views of both, joined."""
        left = self.left(query, key, query_at=query_at, key_at=key_at, valid=valid)
        right = self.right(query, key, query_at=query_at, key_at=key_at, valid=valid)
        return self.join(left, right)

    @abstractmethod
    def join(self, left: View, right: View) -> View:
        """One view made of two."""


class Intersection(CombinedExtent):
    """Visible through both: a & b. Biases add, factors multiply."""

    def __init__(self, left: Extent, right: Extent) -> None:
        super().__init__(left, right)
        if not self.causal_safe and any(isinstance(part, Causal) for part in self.modules()):
            raise InputError(
                "one of these extents needs the length of the whole sequence, which is unknown while it is decoded.",
                found=f"{left} & {right}",
                fix="use Causal() & Window(reach), which sees a fixed distance",
            )

    def join(self, left: View, right: View) -> View:
        """Left and right."""
        bias = right.bias if left.bias is None else right.add_bias(left.bias)
        factor = right.factor if left.factor is None else right.scale(left.factor)
        return View(left.visible & right.visible, bias, factor)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """The smaller cover of the two, restricted by the other extent."""
        causal = causal or isinstance(self.left, Causal) or isinstance(self.right, Causal)
        left, right = (
            tuple(pair._replace(extent=pair.extent & other) for pair in one.cover(queries, keys, causal=causal))
            for one, other in ((self.left, self.right), (self.right, self.left))
        )
        if not left or not right:
            return left or right
        return left if area_of(left) <= area_of(right) else right


def area_of(pairs: tuple[GroupPair, ...]) -> int:
    """The number of scores in all groups of a cover."""
    return sum(pair.area for pair in pairs)


class Union(CombinedExtent):
    """Visible through at least one: a | b. Only extents without bias and factor can be united."""

    def join(self, left: View, right: View) -> View:
        """Left or right."""
        if any(part is not None for part in (*left[1:], *right[1:])):
            raise InputError(
                "`|` joins extents that only show or hide; one of these also has a bias or a factor.",
                found=f"{self.left} | {self.right}",
                fix="join with `&`, where biases add and factors multiply",
            )
        return View(left.visible | right.visible)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """Both covers; the second holds only what the first does not."""
        first = self.left.cover(queries, keys, causal=causal)
        second = self.right.cover(queries, keys, causal=causal)
        if not first or not second or self.biased:
            return ()
        return (*first, *(pair._replace(extent=Difference(pair.extent, self.left)) for pair in second))


class Difference(CombinedExtent):
    """Visible through the left extent and not through the right one."""

    def join(self, left: View, right: View) -> View:
        """Left and not right."""
        return left._replace(visible=left.visible & ~right.visible)


class PreparedKeys(NamedTuple):
    """Keys and values prepared once for many queries; the cache of a decoder is one of these."""

    key: Tensor  # (B, K, *) as the score prepares it
    value: Tensor  # (B, K, value_size)
    valid: Tensor | None  # (B, K) True: a real key; None: all are

    def append(self, other: "PreparedKeys") -> "PreparedKeys":
        """These keys followed by those."""
        padded = self.valid is not None or other.valid is not None
        valid = torch.cat([self.real(), other.real()], dim=-1) if padded else None
        key, value = torch.cat([self.key, other.key], dim=-2), torch.cat([self.value, other.value], dim=-2)
        return PreparedKeys(key, value, valid)

    def real(self) -> Tensor:
        """`valid` with all leading axes, also if it is None."""
        every = torch.ones(self.value.shape[:-1], dtype=torch.bool, device=self.value.device)
        return every if self.valid is None else every & self.valid


def view_of(extent: Extent, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None) -> View:
    """The view of an extent with padding hidden; query_at None: the queries start at position 0."""
    if query_at is None:
        query_at = torch.arange(query.size(-2), device=query.device)
    key_at = torch.arange(prepared.value.size(-2), device=query.device)
    view: View = extent(query, prepared.key, query_at=query_at, key_at=key_at, valid=prepared.valid)
    if prepared.valid is None:
        return view
    return view._replace(visible=view.visible & prepared.valid.unsqueeze(-2))
