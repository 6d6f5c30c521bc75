"""Linformer: keys and values projected along time, so that a query attends to a fixed number of mixtures."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.attention.attention import Attention
from atento.attention.extents.extents import Everything, PreparedKeys
from atento.attention.requirements import require_positive
from atento.errors import InputError
from atento.layers.masking import clean

# Axes: B batch (any number of leading axes), Q queries, K keys, C mixtures (rank). The last axis is always features.


class Linformer(Attention):
    """Attention over E K and F V, where E and F (rank × max_length) project positions (Wang et al., 2020, eq. 7).

    Shorter sequences use the first columns of E and F, counted from the first real key. A mixture holds keys of all
    positions, so it cannot be causal.
    """

    def __init__(self, attention: Attention, max_length: int, rank: int, *, shared: bool = False) -> None:
        super().__init__(attention.score, attention.distribution, attention.extent)
        require_positive("Linformer", max_length=max_length, rank=rank)
        if type(attention.extent) is not Everything or attention.score.by_position:
            raise InputError(
                "Linformer mixes keys of all positions, so neither extent nor score may depend on positions.",
                found=f"{type(attention.score).__name__}, {type(attention.extent).__name__}",
                fix="give an Attention with Everything(); Kernel with Proportional is as cheap and may be causal",
            )
        self.max_length, self.rank = max_length, rank
        self.project_keys = nn.Parameter(torch.randn(rank, max_length) / math.sqrt(rank))  # E
        self.project_own = None if shared else nn.Parameter(torch.randn(rank, max_length) / math.sqrt(rank))  # F

    @property
    def project_values(self) -> Tensor:
        """F, or E if it is shared."""
        return self.project_keys if self.project_own is None else self.project_own

    def prepare(self, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> PreparedKeys:
        """The mixed keys (B, C, *), as the score prepares them; values stay unmixed, as weights need them."""
        mixed = self.columns(self.project_keys, key.size(-2), valid) @ clean(key, valid)
        return PreparedKeys(self.score.prepare(mixed), clean(value, valid), valid)

    def read(self, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None) -> Tensor:
        """The context (B, Q, value_size): P (F V), or (P F) V for so few queries that this is less work."""
        value = prepared.value
        if query.size(-2) * (self.rank + value.size(-1)) < self.rank * value.size(-1):
            return self.weights_from(query, prepared) @ value
        mixed = self.columns(self.project_values, value.size(-2), prepared.valid) @ value
        return self.plain().read(query, PreparedKeys(prepared.key, mixed, self.any_real(prepared.valid)))

    def weights_from(self, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None) -> Tensor:
        """The weights (B, Q, K) of the unmixed values, P F: they may be negative and need not sum to 1."""
        valid = prepared.valid
        mixed = self.plain().weights_from(query, PreparedKeys(prepared.key, prepared.key, self.any_real(valid)))
        weights = mixed @ self.columns(self.project_values, prepared.value.size(-2), valid)
        return weights if valid is None else weights.masked_fill(~valid.unsqueeze(-2), 0.0)

    def plain(self) -> Attention:
        """The attention over the mixtures."""
        return Attention(self.score, self.distribution, self.extent)

    def any_real(self, valid: Tensor | None) -> Tensor | None:
        """`valid` of the mixtures (B, C): True if any key of the row is real."""
        return None if valid is None else valid.any(dim=-1, keepdim=True).expand(*valid.shape[:-1], self.rank)

    def columns(self, projection: Tensor, keys: int, valid: Tensor | None) -> Tensor:
        """The columns of E or F for these keys: (C, K), or (B, C, K) if padding stands before the first real key."""
        places = torch.arange(keys, device=projection.device)
        if valid is not None:
            places = places - valid.long().argmax(dim=-1, keepdim=True)  # (B, K)
        beyond = places >= self.max_length if valid is None else valid & (places >= self.max_length)
        recorded = torch.compiler.is_compiling()  # no number can be looked at
        if keys > self.max_length and (valid is None or (not recorded and bool(beyond.any()))):
            raise InputError(
                "Linformer: there are more keys than positions.",
                found=f"{keys} keys, max_length={self.max_length}",
                fix=f"give max_length={keys} or more",
            )
        if valid is not None and (recorded or bool((places < 0).any())):
            return projection[:, places.clamp(0, self.max_length - 1)].movedim(0, -2)  # values at padding are zero
        return functional.pad(projection, (0, max(0, keys - self.max_length)))[:, :keys]

    def extra_repr(self) -> str:
        """Its arguments."""
        return f"max_length={self.max_length}, rank={self.rank}"
