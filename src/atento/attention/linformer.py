"""Linformer: keys and values pressed together along time, so that a query looks at C mixtures instead of n keys."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.attention.attention import Attention
from atento.attention.extents.extents import Everything, Prepared
from atento.attention.requirements import require_positive
from atento.errors import InputError
from atento.layers.masking import clean

# Axes: B batch (any number of leading axes), Q queries, K keys, C mixtures. The last axis is always features.


class Linformer(Attention):
    """An attention over E K and F V, where E and F (C × longest) mix positions (Wang et al., 2020, eq. 7).

    Of E and F only the columns of the positions there are take part, counted from the first real key. A mixture holds
    keys of all positions, so it has no meaning in a past that still grows.
    """

    def __init__(self, attention: Attention, longest: int, size: int, *, shared: bool = False) -> None:
        super().__init__(attention.score, attention.distribution, attention.extent)
        require_positive("Linformer", longest=longest, size=size)
        if type(attention.extent) is not Everything or attention.score.by_position:
            raise InputError(
                "Linformer mixes keys of all positions: no mixture has a position for an extent or a score to ask.",
                found=f"{type(attention.score).__name__}, {type(attention.extent).__name__}",
                fix="give it an Attention with Everything(); a causal one that is as cheap is Kernel × Proportional",
            )
        self.longest, self.size = longest, size
        self.mix_keys = nn.Parameter(torch.randn(size, longest) / math.sqrt(size))  # E
        self.mix_own = None if shared else nn.Parameter(torch.randn(size, longest) / math.sqrt(size))  # F

    @property
    def mix_values(self) -> Tensor:
        """F, or E where it is shared."""
        return self.mix_keys if self.mix_own is None else self.mix_own

    def prepare(self, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Prepared:
        """The mixed keys (B, C, *), as the score prepares them; the values stay, so that weights can be given them."""
        mixed = self.columns(self.mix_keys, key.size(-2), valid) @ clean(key, valid)
        return Prepared(self.score.prepare(mixed), clean(value, valid), valid)

    def read(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """The context (B, Q, value_size): P (F V), or (P F) V where so few ask that this is less work."""
        value = prepared.value
        if query.size(-2) * (self.size + value.size(-1)) < self.size * value.size(-1):
            return self.share(query, prepared) @ value
        mixed = self.columns(self.mix_values, value.size(-2), prepared.valid) @ value
        return self.plain().read(query, Prepared(prepared.key, mixed, self.any_real(prepared.valid)))

    def share(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """The weights (B, Q, K) that the values themselves get, P F: they may be negative and need not sum to 1."""
        valid = prepared.valid
        asked = self.plain().share(query, Prepared(prepared.key, prepared.key, self.any_real(valid)))
        weights = asked @ self.columns(self.mix_values, prepared.value.size(-2), valid)
        return weights if valid is None else weights.masked_fill(~valid.unsqueeze(-2), 0.0)

    def plain(self) -> Attention:
        """The attention that asks the mixtures."""
        return Attention(self.score, self.distribution, self.extent)

    def any_real(self, valid: Tensor | None) -> Tensor | None:
        """Mixtures (B, C) are real where any key is."""
        return None if valid is None else valid.any(dim=-1, keepdim=True).expand(*valid.shape[:-1], self.size)

    def columns(self, mix: Tensor, keys: int, valid: Tensor | None) -> Tensor:
        """E or F at the places of these keys: (C, K), or (B, C, K) where padding stands before the first real key."""
        places = torch.arange(keys, device=mix.device)
        if valid is not None:
            places = places - valid.long().argmax(dim=-1, keepdim=True)  # (B, K)
        beyond = places >= self.longest if valid is None else valid & (places >= self.longest)
        if keys > self.longest and bool(beyond.any()):
            raise InputError(
                "Linformer: there are more keys than it has places for.",
                found=f"{keys} keys, longest={self.longest}",
                fix=f"give longest={keys} or more (model.longest in a recipe)",
            )
        if valid is not None and bool((places < 0).any()):
            return mix[:, places.clamp(0, self.longest - 1)].movedim(0, -2)  # what padding gets multiplies zeros
        return functional.pad(mix, (0, max(0, keys - self.longest)))[:, :keys]

    def extra_repr(self) -> str:
        """Its numbers."""
        return f"longest={self.longest}, size={self.size}"
