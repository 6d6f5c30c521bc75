"""Extents: who may look at whom. They combine: `Causal() & Window(128)`.

Keys and values made ready, and what an extent shows of them.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.extents.groups import Groups, Partition
from atento.errors import InputError

# Axes: Q queries, K keys. Positions are absolute, so a cached step sees what the whole pass sees.


class View(NamedTuple):
    """What an extent lets through. Each part has two axes or more, and broadcasts to (..., Q, K)."""

    visible: Tensor  # True: this query may look at this key
    bias: Tensor | None = None  # added to scores
    factor: Tensor | None = None  # multiplies weights

    def tilt(self, scores: Tensor) -> Tensor:
        """Scores with the bias, where there is one."""
        return scores if self.bias is None else scores + self.bias

    def shade(self, weights: Tensor) -> Tensor:
        """Weights with the factor, where there is one."""
        return weights if self.factor is None else weights * self.factor


class Piece(NamedTuple):
    """Groups of queries, and for each the group of keys that holds what it sees through `extent`."""

    queries: Partition
    keys: Groups
    extent: "Extent"

    @property
    def area(self) -> int:
        """How many scores the groups hold."""
        return self.queries.groups * self.queries.size * self.keys.size


class Extent(nn.Module, ABC):
    """query (..., Q, D), key (..., K, D) at positions (..., Q), (..., K) -> View. valid (..., K): real keys; None: all.

    Heads are the third axis from the right. What an extent promises:
    """

    between: bool = True  # it has a meaning from one sequence to another, not only within one
    within_past: bool = True  # it has a meaning while the keys still grow: with Causal, in a cache
    biased: bool = False  # it adds to the scores
    by_place: bool = False  # it follows from positions alone, so a group can be seen by itself
    counted: bool = False  # it counts positions from the first real key

    @abstractmethod
    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """Say what each query may see."""

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """Groups that hold all that is shown (`causal`: at or before the query), nothing twice. Empty: not sparse."""
        return ()

    def __and__(self, other: "Extent") -> "Extent":
        return Both(self, other)

    def __or__(self, other: "Extent") -> "Extent":
        return Either(self, other)


class Everything(Extent):
    """Every query sees every key."""

    by_place = True

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """No limit."""
        return View(torch.ones((1, 1), dtype=torch.bool, device=query.device))


class Causal(Extent):
    """A query sees keys at its own position and before."""

    between = False
    by_place = True

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """key_at ≤ query_at."""
        return View(key_at.unsqueeze(-2) <= query_at.unsqueeze(-1))


class Masked(Extent):
    """What a mask (..., Q, K) says of absolute positions: boolean, True shows; or numbers added to scores, −inf hides.

    A mask that is an `nn.Parameter` is learned.
    """

    def __init__(self, mask: Tensor) -> None:
        super().__init__()
        self.biased = mask.is_floating_point()
        if mask.dim() < 2 or not (self.biased or mask.dtype == torch.bool):
            raise InputError(
                "Masked: mask must be boolean or floating point, with an axis of queries and one of keys.",
                found=f"{mask.dtype}, shape {tuple(mask.shape)}",
                fix="give True where a query may look, or numbers to add to the scores (−inf hides)",
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
        if int(query_at.max()) >= rows or int(key_at.max()) >= columns:
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


class Joined(Extent):
    """Two extents seen as one; leaves say how their views are joined."""

    def __init__(self, left: Extent, right: Extent) -> None:
        super().__init__()
        self.left, self.right = left, right
        self.between = left.between and right.between
        self.within_past = left.within_past and right.within_past
        self.biased = left.biased or right.biased
        self.by_place = left.by_place and right.by_place
        self.counted = left.counted or right.counted

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """Look through both, then join."""
        left = self.left(query, key, query_at=query_at, key_at=key_at, valid=valid)
        right = self.right(query, key, query_at=query_at, key_at=key_at, valid=valid)
        return self.join(left, right)

    @abstractmethod
    def join(self, left: View, right: View) -> View:
        """One view of two."""


class Both(Joined):
    """Seen only through both: a & b. Biases add, factors multiply."""

    def __init__(self, left: Extent, right: Extent) -> None:
        super().__init__(left, right)
        if not self.within_past and any(isinstance(part, Causal) for part in self.modules()):
            raise InputError(
                "one of these extents has to know how long the whole sequence is, and a past still grows.",
                found=f"{left} & {right}",
                fix="use Causal() & Window(reach), which looks at a fixed distance",
            )

    def join(self, left: View, right: View) -> View:
        """Intersection."""
        bias = right.bias if left.bias is None else right.tilt(left.bias)
        factor = right.factor if left.factor is None else right.shade(left.factor)
        return View(left.visible & right.visible, bias, factor)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """The smaller covering of the two, seen through the other as well."""
        causal = causal or isinstance(self.left, Causal) or isinstance(self.right, Causal)
        covers = [
            tuple(piece._replace(extent=piece.extent & other) for piece in one.cover(queries, keys, causal=causal))
            for one, other in ((self.left, self.right), (self.right, self.left))
        ]
        return min(filter(None, covers), key=lambda pieces: sum(piece.area for piece in pieces), default=())


class Either(Joined):
    """Seen through at least one: a | b. Only plain extents can be joined so."""

    def join(self, left: View, right: View) -> View:
        """Union."""
        if any(part is not None for part in (*left[1:], *right[1:])):
            raise InputError(
                "`|` joins extents that only show or hide; one of these also adds a bias or a factor.",
                found=f"{self.left} | {self.right}",
                fix="join with `&`, where biases add and factors multiply",
            )
        return View(left.visible | right.visible)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """Both coverings; the second shows only what the first does not."""
        first = self.left.cover(queries, keys, causal=causal)
        second = self.right.cover(queries, keys, causal=causal)
        if not first or not second or self.biased:
            return ()
        return (*first, *(piece._replace(extent=Without(piece.extent, self.left)) for piece in second))


class Without(Joined):
    """Seen through the left one and not through the right one."""

    def join(self, left: View, right: View) -> View:
        """Difference."""
        return left._replace(visible=left.visible & ~right.visible)


class Prepared(NamedTuple):
    """Keys and values made ready once, to be asked many times; a decoder's cache is one of these."""

    key: Tensor  # (B, K, *) as the score prepares it
    value: Tensor  # (B, K, value_size)
    valid: Tensor | None  # (B, K) True: a real key; None: all are

    def append(self, other: "Prepared") -> "Prepared":
        """These keys, then those."""
        padded = self.valid is not None or other.valid is not None
        valid = torch.cat([self.real(), other.real()], dim=-1) if padded else None
        return Prepared(torch.cat([self.key, other.key], dim=-2), torch.cat([self.value, other.value], dim=-2), valid)

    def real(self) -> Tensor:
        """Which keys are real, written out also where all are."""
        every = torch.ones(self.value.shape[:-1], dtype=torch.bool, device=self.value.device)
        return every if self.valid is None else every & self.valid


def look(extent: Extent, query: Tensor, prepared: Prepared, *, query_at: Tensor | None) -> View:
    """What the extent shows, less the padding."""
    if query_at is None:
        query_at = torch.arange(query.size(-2), device=query.device)
    key_at = torch.arange(prepared.value.size(-2), device=query.device)
    view: View = extent(query, prepared.key, query_at=query_at, key_at=key_at, valid=prepared.valid)
    if prepared.valid is None:
        return view
    return view._replace(visible=view.visible & prepared.valid.unsqueeze(-2))
