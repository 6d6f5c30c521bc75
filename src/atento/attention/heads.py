"""Several attentions side by side, each on its own slice of the features."""

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Softmax
from atento.attention.extents.extents import Everything, Prepared
from atento.attention.scores.product import Dot, ScaledDot
from atento.attention.scores.similarity import cosine, minus_euclidean
from atento.errors import InputError
from atento.layers.masking import clean, mapped
from atento.layers.positions import Rotary

# Axes: B batch, H heads, Q queries, K keys, D size, d = D / H.


class MultiHead(nn.Module):
    """Learned maps of query, key and value, one attention over H heads, a map back (Vaswani et al., 2017, sec. 3.2.2).

    query (B, Q, D), source (B, K, source_size) -> (B, Q, D). The attention object is shared by the heads;
    it sees tensors (B, H, Q, d). With `rotary` queries and keys are turned by their positions, which has a meaning
    where both are positions of one sequence: in self-attention.
    """

    def __init__(
        self, size: int, heads: int, attention: Attention, *, source_size: int = 0, rotary: Rotary | None = None
    ) -> None:
        super().__init__()
        if heads < 1 or size % heads:
            fitting = [str(number) for number in range(1, size + 1) if size % number == 0 and number <= 16]
            raise InputError(
                "model.heads must divide model.hidden.",
                found=f"model.heads={heads}, model.hidden={size}",
                fix=f"heads that fit: {', '.join(fitting)}",
            )
        if rotary is not None:
            require_turnable(rotary, attention, size // heads)
        self.size, self.heads, self.attention, self.rotary = size, heads, attention, rotary
        source_size = source_size or size
        self.to_query = nn.Linear(size, size)
        self.to_key = nn.Linear(source_size, size)
        self.to_value = nn.Linear(source_size, size)
        self.combine = nn.Linear(size, size)
        for map_ in (self.to_query, self.to_key, self.to_value, self.combine):
            nn.init.xavier_uniform_(map_.weight)
            nn.init.zeros_(map_.bias)

    def forward(self, query: Tensor, source: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """Each query's mixture of the source; valid (B, K)."""
        return self.read(query, self.prepare(source, valid=valid))

    def prepare(self, source: Tensor, *, valid: Tensor | None = None, at: Tensor | None = None) -> Prepared:
        """Keys and values of a source at positions `at` (K,), to be asked many times; None: it starts at position 0."""
        source = clean(source, valid)  # before the maps: their weights' gradient would meet 0 * NaN
        valid = None if valid is None else valid.unsqueeze(1)  # (B, 1, K): the same for all heads
        key = self.turn(self.split(mapped(self.to_key, "MultiHead", "source", source)), at)
        return self.attention.prepare(key, self.split(self.to_value(source)), valid=valid)

    def read(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """Ask prepared keys; positions as in `Attention.read`."""
        asked = self.turn(self.split(mapped(self.to_query, "MultiHead", "query", query)), query_at)
        context = self.attention.read(asked, prepared, query_at=query_at)
        merged: Tensor = self.combine(context.transpose(-3, -2).flatten(-2))
        return merged

    def share(
        self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None, heads: slice = slice(None)
    ) -> Tensor:
        """The weights (B, heads, Q, K) of the asked heads over prepared keys, by the formula."""
        asked = self.turn(self.split(mapped(self.to_query, "MultiHead", "query", query)), query_at)
        if any(getattr(part, "heads", 1) > 1 for part in self.attention.modules()):  # it knows its heads by their place
            return self.attention.share(asked, prepared, query_at=query_at)[:, heads]
        some = prepared._replace(key=prepared.key[:, heads], value=prepared.value[:, heads])
        return self.attention.share(asked[:, heads], some, query_at=query_at)

    def weights(
        self,
        query: Tensor,
        source: Tensor,
        *,
        valid: Tensor | None = None,
        rows: slice = slice(None),
        heads: slice = slice(None),
    ) -> Tensor:
        """The weights (B, heads, rows, K) of the asked heads and rows, recomputed beside the fast path."""
        key = self.turn(self.split(mapped(self.to_key, "MultiHead", "source", clean(source, valid))), None)
        prepared = self.attention.prepare(key, key, valid=None if valid is None else valid.unsqueeze(1))
        query_at = torch.arange(query.size(-2), device=query.device)[rows]
        return self.share(query[..., rows, :], prepared, query_at=query_at, heads=heads)

    def split(self, values: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, d)."""
        return values.view(*values.shape[:-1], self.heads, -1).transpose(-3, -2)

    def turn(self, values: Tensor, at: Tensor | None) -> Tensor:
        """Queries or keys (B, H, T, d) turned by their positions, where positions are rotary."""
        if self.rotary is None:
            return values
        at = torch.arange(values.size(-2), device=values.device) if at is None else at
        turned: Tensor = self.rotary(values, at)
        return turned

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> "MultiHead":
        """The same layer with the same weights."""
        extra = module.bias_k is not None or module.add_zero_attn
        if module.in_proj_weight is None or module.in_proj_bias is None or extra:
            raise InputError(
                "from_torch reads a MultiheadAttention with one width, with biases and with no added keys.",
                found=f"kdim={module.kdim}, vdim={module.vdim}, bias={module.in_proj_bias is not None}, "
                f"add_bias_kv={module.bias_k is not None}, add_zero_attn={module.add_zero_attn}",
                fix="make the layer with bias=True and kdim, vdim, add_bias_kv, add_zero_attn left out",
            )
        ours = cls(module.embed_dim, module.num_heads, Attention(ScaledDot(), Softmax(), Everything()))
        ours = ours.to(module.in_proj_weight)
        maps = (ours.to_query, ours.to_key, ours.to_value)
        with torch.no_grad():
            for map_, weight, bias in zip(
                maps, module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3), strict=True
            ):
                map_.weight.copy_(weight)
                map_.bias.copy_(bias)
            ours.combine.weight.copy_(module.out_proj.weight)
            ours.combine.bias.copy_(module.out_proj.bias)
        return ours

    def to_torch(self) -> nn.MultiheadAttention:
        """Torch's layer with the same weights; it knows scaled dot products and softmax only."""
        known = type(self.attention.score) is ScaledDot and type(self.attention.distribution) is Softmax
        if (
            type(self.attention) is not Attention
            or not known
            or self.to_key.in_features != self.size
            or self.rotary is not None
        ):
            raise InputError(
                "torch's MultiheadAttention has no such composition.",
                found=repr(self.attention),
                fix="only ScaledDot with Softmax and one width, not rotary, can be handed to torch",
            )
        theirs = nn.MultiheadAttention(self.size, self.heads, batch_first=True).to(self.combine.weight)
        maps = (self.to_query, self.to_key, self.to_value)
        with torch.no_grad():
            theirs.in_proj_weight.copy_(torch.cat([map_.weight for map_ in maps]))
            theirs.in_proj_bias.copy_(torch.cat([map_.bias for map_ in maps]))
            theirs.out_proj.weight.copy_(self.combine.weight)
            theirs.out_proj.bias.copy_(self.combine.bias)
        return theirs


def require_turnable(rotary: Rotary, attention: Attention, size: int) -> None:
    """Only products and distances of query and key see nothing of two turns but their difference."""
    score = attention.score
    if type(score) not in (Dot, ScaledDot) and getattr(score, "measure", None) not in (cosine, minus_euclidean):
        raise InputError(
            "rotary positions turn queries and keys: only a product or a distance reads how far apart they are.",
            found=f"score {type(score).__name__}",
            fix="use dot, scaled-dot or cosine, or other positions",
        )
    if rotary.size != size:
        raise InputError(
            "Rotary must be as wide as a head.", found=f"Rotary({rotary.size}), heads of {size}", fix=f"Rotary({size})"
        )
