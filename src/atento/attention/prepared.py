"""Keys and values made ready, and what an extent shows of them."""

from typing import NamedTuple

import torch
from torch import Tensor

from atento.attention.extents import Extent, View


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
