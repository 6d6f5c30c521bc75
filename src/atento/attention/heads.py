"""Multi-head attention with any score, distribution and extent, and its exchange with torch.nn.MultiheadAttention."""

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Softmax
from atento.attention.extents.extents import Everything, PreparedKeys
from atento.attention.scores.product import Dot, ScaledDot
from atento.attention.scores.similarity import SquaredDistance, cosine, minus_euclidean
from atento.errors import InputError
from atento.layers.masking import checked_linear, clean, require_items
from atento.layers.positions import Rotary
from atento.layers.products import Linear
from atento.layers.torch_arguments import refuse_arguments
from atento.reprs import repr_html

# Axes: B batch, H heads, Q queries, K keys, D size, d = D / H.


class MultiHead(nn.Module):
    """Multi-head attention: projections of query, key and value, H heads, and an output projection.

    query (B, Q, D), source (B, K, source_size) -> (B, Q, D)  (Vaswani et al., 2017, sec. 3.2.2); without a source it is
    self-attention. All heads use the one `attention`, which gets tensors (B, H, Q, d). `rotary` turns queries and keys
    by their positions; both must be positions of one sequence, as in self-attention.
    """

    def __init__(
        self, size: int, heads: int, attention: Attention, *, source_size: int = 0, rotary: Rotary | None = None
    ) -> None:
        super().__init__()
        if heads < 1 or size % heads:
            fitting = [str(number) for number in range(1, min(size, 16) + 1) if size % number == 0]
            raise InputError(
                "MultiHead: heads must divide size.",
                found=f"heads={heads}, size={size}",
                fix=f"heads that fit: {', '.join(fitting)}",
            )
        if rotary is not None:
            require_rotary(rotary, attention, size // heads)
        self.size, self.heads, self.attention, self.rotary = size, heads, attention, rotary
        source_size = source_size or size
        self.to_query = Linear(size, size)
        self.to_key = Linear(source_size, size)
        self.to_value = Linear(source_size, size)
        self.combine = Linear(size, size)
        for projection in (self.to_query, self.to_key, self.to_value, self.combine):
            nn.init.xavier_uniform_(projection.weight)
            nn.init.zeros_(projection.bias)

    def forward(
        self, query: Tensor, source: Tensor | None = None, *more: Tensor, valid: Tensor | None = None, **unknown: object
    ) -> Tensor:
        """The output (B, Q, D) of queries over a source (B, K, source_size), by default themselves; valid (B, K)."""
        refuse_arguments("MultiHead", unknown)
        if more:
            raise InputError(
                "MultiHead makes keys and values of one source.",
                found=f"{2 + len(more)} tensors",
                fix="layer(query, source), or layer(query) for self-attention",
            )
        return self.read(query, self.prepare(query if source is None else source, valid=valid))

    def prepare(self, source: Tensor, *, valid: Tensor | None = None, at: Tensor | None = None) -> PreparedKeys:
        """Keys and values of a source at positions `at` (K,), for many queries; None: it starts at position 0."""
        require_items("source", source, valid, width=self.to_key.in_features)
        source = clean(source, valid)  # before the projections, whose gradient would meet 0 * NaN
        valid = None if valid is None else valid.unsqueeze(1)  # (B, 1, K): the same for all heads
        key = self.turn(self.split(checked_linear(self.to_key, "MultiHead", "source", source)), at)
        return self.attention.prepare(key, self.split(self.to_value(source)), valid=valid)

    def read(self, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None) -> Tensor:
        """The output (B, Q, D) of queries over prepared keys; positions as in `Attention.read`."""
        queries = self.project_query(query, query_at)
        context = self.attention.read(queries, prepared, query_at=query_at)
        return self.combine(context.transpose(-3, -2).flatten(-2))

    def weights_from(
        self, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None, heads: slice = slice(None)
    ) -> Tensor:
        """The weights (B, heads, Q, K) of the chosen heads over prepared keys, by the formula."""
        queries = self.project_query(query, query_at)
        if any(getattr(part, "heads", 1) > 1 for part in self.attention.modules()):  # a parameter per head
            return self.attention.weights_from(queries, prepared, query_at=query_at)[:, heads]
        some = prepared._replace(key=prepared.key[:, heads], value=prepared.value[:, heads])
        return self.attention.weights_from(queries[:, heads], some, query_at=query_at)

    def weights(
        self,
        query: Tensor,
        source: Tensor,
        *,
        valid: Tensor | None = None,
        rows: slice = slice(None),
        heads: slice = slice(None),
    ) -> Tensor:
        """The weights (B, heads, rows, K) of the chosen heads and rows of queries only."""
        key = self.turn(self.split(checked_linear(self.to_key, "MultiHead", "source", clean(source, valid))), None)
        prepared = self.attention.prepare(key, key, valid=None if valid is None else valid.unsqueeze(1))
        query_at = torch.arange(query.size(-2), device=query.device)[rows]
        return self.weights_from(query[..., rows, :], prepared, query_at=query_at, heads=heads)

    def project_query(self, query: Tensor, query_at: Tensor | None) -> Tensor:
        """Queries (B, Q, D) -> (B, H, Q, d), as the heads see them."""
        return self.turn(self.split(checked_linear(self.to_query, "MultiHead", "query", query)), query_at)

    def split(self, values: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, d)."""
        return values.view(*values.shape[:-1], self.heads, -1).transpose(-3, -2)

    def turn(self, values: Tensor, at: Tensor | None) -> Tensor:
        """Queries or keys (B, H, T, d), turned by their positions if those are rotary."""
        if self.rotary is None:
            return values
        at = torch.arange(values.size(-2), device=values.device) if at is None else at
        return self.rotary(values, at)

    _repr_html_ = repr_html

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> "MultiHead":
        """This layer with the weights of torch's."""
        extra = module.bias_k is not None or module.add_zero_attn
        if module.in_proj_weight is None or module.in_proj_bias is None or extra:
            raise InputError(
                "from_torch needs a MultiheadAttention with one width, with biases and without added keys.",
                found=f"kdim={module.kdim}, vdim={module.vdim}, bias={module.in_proj_bias is not None}, "
                f"add_bias_kv={module.bias_k is not None}, add_zero_attn={module.add_zero_attn}",
                fix="make the layer with bias=True and kdim, vdim, add_bias_kv, add_zero_attn left out",
            )
        ours = cls(module.embed_dim, module.num_heads, Attention(ScaledDot(), Softmax(), Everything()))
        ours = ours.to(module.in_proj_weight)
        projections = (ours.to_query, ours.to_key, ours.to_value)
        weights, biases = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
        with torch.no_grad():
            for projection, weight, bias in zip(projections, weights, biases, strict=True):
                projection.weight.copy_(weight)
                projection.bias.copy_(bias)
            ours.combine.weight.copy_(module.out_proj.weight)
            ours.combine.bias.copy_(module.out_proj.bias)
        return ours

    def to_torch(self) -> nn.MultiheadAttention:
        """Torch's layer with the weights of this one, which must be of scaled dot products and softmax."""
        plain = type(self.attention) is Attention and self.to_key.in_features == self.size and self.rotary is None
        if not plain or (type(self.attention.score), type(self.attention.distribution)) != (ScaledDot, Softmax):
            raise InputError(
                "torch's MultiheadAttention cannot compute this composition.",
                found=repr(self.attention),
                fix="use ScaledDot with Softmax, source_size equal to size, and no rotary",
            )
        theirs = nn.MultiheadAttention(self.size, self.heads, batch_first=True).to(self.combine.weight)
        projections = (self.to_query, self.to_key, self.to_value)
        with torch.no_grad():
            theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
            theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
            theirs.out_proj.weight.copy_(self.combine.weight)
            theirs.out_proj.bias.copy_(self.combine.bias)
        return theirs


def require_rotary(rotary: Rotary, attention: Attention, size: int) -> None:
    """Rotary positions need a score that depends only on the angle between queries and keys."""
    score = attention.score
    measure = getattr(score, "measure", None)
    if type(score) not in (Dot, ScaledDot, SquaredDistance) and measure not in (cosine, minus_euclidean):
        raise InputError(
            "MultiHead: rotary needs a score that is a product or a Euclidean distance of query and key.",
            found=f"score {type(score).__name__}",
            fix="use Dot, ScaledDot or Similarity(cosine), or leave rotary out",
        )
    if rotary.size != size:
        raise InputError(
            "MultiHead: rotary must be as wide as a head.",
            found=f"Rotary({rotary.size}), heads of {size}",
            fix=f"Rotary({size})",
        )
