"""Several attentions side by side, each on its own slice of the features."""

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions import Softmax
from atento.attention.extents import Everything
from atento.attention.prepared import Prepared
from atento.attention.scores import ScaledDot
from atento.errors import InputError
from atento.layers.padding import clean

# Axes: B batch, H heads, Q queries, K keys, D size, d = D / H.


class MultiHead(nn.Module):
    """Learned maps of query, key and value, one attention over H heads, a map back (Vaswani et al., 2017, sec. 3.2.2).

    query (B, Q, D), source (B, K, source_size) -> (B, Q, D). The attention object is shared by the heads;
    it sees tensors (B, H, Q, d).
    """

    def __init__(self, size: int, heads: int, attention: Attention, *, source_size: int = 0) -> None:
        super().__init__()
        if heads < 1 or size % heads:
            fitting = [str(number) for number in range(1, size + 1) if size % number == 0 and number <= 16]
            raise InputError(
                "model.heads must divide model.hidden.",
                found=f"model.heads={heads}, model.hidden={size}",
                fix=f"heads that fit: {', '.join(fitting)}",
            )
        self.size, self.heads, self.attention = size, heads, attention
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

    def prepare(self, source: Tensor, *, valid: Tensor | None = None) -> Prepared:
        """Keys and values of a source, to be asked many times."""
        source = clean(source, valid)  # before the maps: their weights' gradient would meet 0 * NaN
        valid = None if valid is None else valid.unsqueeze(1)  # (B, 1, K): the same for all heads
        return self.attention.prepare(self.split(self.to_key(source)), self.split(self.to_value(source)), valid=valid)

    def read(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """Ask prepared keys; positions as in `Attention.read`."""
        context = self.attention.read(self.split(self.to_query(query)), prepared, query_at=query_at)
        merged: Tensor = self.combine(context.transpose(-3, -2).flatten(-2))
        return merged

    def share(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """The weights (B, H, Q, K) over prepared keys, by the formula."""
        return self.attention.share(self.split(self.to_query(query)), prepared, query_at=query_at)

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
        source = clean(source, valid)
        valid = None if valid is None else valid.unsqueeze(1)
        split_query = self.split(self.to_query(query))[:, heads]
        return self.attention.weights(split_query, self.split(self.to_key(source))[:, heads], valid=valid, rows=rows)

    def split(self, values: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, d)."""
        return values.view(*values.shape[:-1], self.heads, -1).transpose(-3, -2)

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
        if not known or self.to_key.in_features != self.size:
            raise InputError(
                "torch's MultiheadAttention has no such composition.",
                found=repr(self.attention),
                fix="only ScaledDot with Softmax and one width can be handed to torch",
            )
        theirs = nn.MultiheadAttention(self.size, self.heads, batch_first=True).to(self.combine.weight)
        maps = (self.to_query, self.to_key, self.to_value)
        with torch.no_grad():
            theirs.in_proj_weight.copy_(torch.cat([map_.weight for map_ in maps]))
            theirs.in_proj_bias.copy_(torch.cat([map_.bias for map_ in maps]))
            theirs.out_proj.weight.copy_(self.combine.weight)
            theirs.out_proj.bias.copy_(self.combine.bias)
        return theirs
