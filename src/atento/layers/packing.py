"""Packed batches: the real items of sequences of different lengths, one after another, without the padding.

What a layer computes position by position (norms, linear layers, activations) then costs nothing for padding; what
mixes positions is given the padded form again, or the lengths."""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

# Axes: B batch, T time, M real items, D features.

ROWS = 32  # packed rows on a CPU are a multiple of this: oneDNN prepares a product for each number of rows


class Packing:
    """Where the real items of a batch (B, T) are. Packed tensors have `rows` rows: the real items, on a CPU then 0s."""

    def __init__(
        self, batch: int, time: int, places: Tensor | None, valid: Tensor | None, device: torch.device
    ) -> None:
        self.batch, self.time, self.device = batch, time, device
        self.places, self.valid = places, valid  # (M,) the place b T + t of each; (B, T). None, None: all are real
        self.items = batch * time if places is None else places.numel()
        exact = places is None or device.type != "cpu"
        self.rows = self.items if exact else -(-self.items // ROWS) * ROWS

    @classmethod
    def of(cls, values: Tensor, valid: Tensor | None) -> "Packing":
        """The packing of values (B, T, ...), of which valid (B, T) are real; None: all are."""
        if valid is None:
            return cls(values.size(0), values.size(1), None, None, values.device)
        known: tuple[int, Packing] | None = getattr(valid, "packing", None)
        if known is not None and known[0] == version_of(valid):
            return known[1]
        return remember(valid, places_of(valid))  # on a GPU this waits until the number of real items is known

    @cached_property
    def bounds(self) -> Tensor:
        """Where each sequence begins among the packed items, and where the last ends: (B + 1,), 32-bit integers."""
        if self.valid is None:
            return torch.arange(0, self.rows + 1, self.time, dtype=torch.int32, device=self.device)
        return functional.pad(self.valid.sum(dim=1).cumsum(dim=0), (1, 0)).to(torch.int32)

    @cached_property
    def positions(self) -> Tensor:
        """The place of each row within its sequence, (rows,); 0 after the last real one."""
        if self.places is None:
            return torch.arange(self.time, device=self.device).repeat(self.batch)
        return functional.pad(self.places % self.time, (0, self.rows - self.items))

    @cached_property
    def is_right(self) -> bool:
        """Whether all padding is on the right."""
        return self.valid is None or bool((self.valid[:, 1:] <= self.valid[:, :-1]).all())

    def pack(self, values: Tensor) -> Tensor:
        """(B, T, D) -> (M, D); what is at padding is not read."""
        flat = values.reshape(self.batch * self.time, -1)
        if self.places is None:
            return flat
        found: Tensor = Pack.apply(flat, self.places, self.rows)  # type: ignore[no-untyped-call]
        return found

    def unpack(self, values: Tensor) -> Tensor:
        """(M, D) -> (B, T, D), with zeros at padding."""
        if self.places is not None:
            values = Unpack.apply(values, self.places, self.batch * self.time)  # type: ignore[no-untyped-call]
        return values.view(self.batch, self.time, -1)


def places_of(valid: Tensor) -> Tensor | None:
    """The places (M,) of the real items of valid (B, T); None: all are real."""
    if valid.is_cpu and bool(valid.all()):
        return None
    places = valid.flatten().nonzero().squeeze(-1)
    return None if places.numel() == valid.numel() else places


def remember(valid: Tensor, places: Tensor | None) -> Packing:
    """The packing of valid (B, T), noted at that tensor: encoder, decoder and loss ask for the same."""
    real = None if places is None else valid.detach()
    found = Packing(valid.size(0), valid.size(1), places, real, valid.device)
    valid.packing = version_of(valid), found  # type: ignore[attr-defined]
    return found


def version_of(valid: Tensor) -> int:
    """How often a tensor was changed in place."""
    return 0 if valid.is_inference() else valid._version


def moved(part: Tensor, device: torch.device) -> Tensor:
    """A part of a batch on a device. Of a mask (B, T) the places of real items go with it: there they would have to be
    waited for.
    """
    there = part.to(device, non_blocking=True)
    if device.type == "cuda" and part.is_cpu and part.dtype == torch.bool and part.dim() == 2:
        own = Packing.of(part, part)
        places = None if own.places is None else own.places.to(device, non_blocking=True)
        remember(there, places).is_right = own.is_right
    return there


def real_items(items: Tensor, valid: Tensor) -> Tensor:
    """Items (B, T) that are real, (M,), row by row, without waiting where the mask was packed before."""
    places = Packing.of(items, valid).places
    return items.flatten() if places is None else items.flatten().index_select(0, places)


def gather_rows(values: Tensor, places: Tensor, rows: int) -> Tensor:
    """The rows at these places, then zeros."""
    items = places.numel()
    if items == rows:
        return values.index_select(0, places)
    found = values.new_empty(rows, values.size(1))
    torch.index_select(values, 0, places, out=found[:items])
    found[items:] = 0.0
    return found


def scatter_rows(values: Tensor, places: Tensor, rows: int) -> Tensor:
    """Zeros with the first of these rows at their places."""
    return values.new_zeros(rows, values.size(1)).index_copy_(0, places, values[: places.numel()])


class Pack(torch.autograd.Function):
    """Rows (R, D) at `places` (M,) -> (M, D)."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, places: Tensor, rows: int) -> Tensor:
        """The real rows."""
        ctx.save_for_backward(places)
        ctx.rows = values.size(0)
        return gather_rows(values, places, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """Zeros at padding."""
        return Unpack.apply(gradient, ctx.saved_tensors[0], ctx.rows), None, None  # type: ignore[no-untyped-call]


class Unpack(torch.autograd.Function):
    """Rows (M, D) -> (R, D) with these rows at `places` (M,) and zeros elsewhere."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, places: Tensor, rows: int) -> Tensor:
        """Real rows and zeros."""
        ctx.save_for_backward(places)
        ctx.rows = values.size(0)
        return scatter_rows(values, places, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """The real rows."""
        return Pack.apply(gradient, ctx.saved_tensors[0], ctx.rows), None, None  # type: ignore[no-untyped-call]
