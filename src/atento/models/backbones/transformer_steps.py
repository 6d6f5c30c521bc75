"""A Transformer's decoder token by token, for searches: keys and values are written in place, into room made before.

Unlike `TransformerDecoder.step`, which returns a new cache and leaves the old one as it was, nothing is copied from
step to step. Queries, keys and values are one product; all partial outputs of a beam read the source's keys and values,
which are there once. On a GPU the steps after the first few are one CUDA graph: Python launches one thing a step."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.attention.heads import MultiHead
from atento.attention.scores.product import Dot
from atento.blocks.graphed import nothing_freed
from atento.blocks.packed_transformer import is_plain
from atento.blocks.residual_stream import compute_dtype
from atento.blocks.transformer import TransformerDecoderLayer, TransformerEncoderLayer
from atento.layers.embeddings import PositionedEmbedding
from atento.layers.masking import clean
from atento.layers.products import product
from atento.models.protocols import Encoded, SearchSteps

# Axes: B sources, W partial outputs of each, R = B W rows, L room for so many tokens, N source time, D size, H heads,
# d = D / H, V vocabulary.

EAGER_STEPS = 3  # before a CUDA graph is captured: kernels are chosen and memory is taken
FEW_KEYS = 16  # below which torch's own attention kernel is faster on a CPU
ROOM = 16  # room on a GPU is a multiple of this

StepLayer = TransformerEncoderLayer | TransformerDecoderLayer
Weights = tuple[Tensor, Tensor]


class LayerWeights(NamedTuple):
    """The weights of a layer as a step multiplies with them."""

    own: Weights  # of queries, keys and values together
    own_combine: Weights
    cross_query: Weights | None
    cross_combine: Weights | None
    widen: Weights
    narrow: Weights


def can_step(layers: Sequence[StepLayer]) -> bool:
    """Whether all layers are of products and softmax, and as they were made."""
    attentions = [part for layer in layers for part in layer.modules() if isinstance(part, MultiHead)]
    plain = all(one.attention.direct is not None and is_plain(one) for one in attentions)
    compiled = torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None
    return plain and not compiled and all(is_plain(part) for layer in layers for part in layer.modules())


class TransformerSteps(SearchSteps):
    """The steps of a stack of layers over embedded tokens, with or without a source."""

    def __init__(
        self,
        embedding: PositionedEmbedding,
        layers: Sequence[StepLayer],
        norm: nn.Module,
        output: Weights,
        encoded: Encoded,
        *,
        room: int,
        copies: int,
    ) -> None:
        self.embedding, self.layers, self.norm = embedding, layers, norm
        self.copies, self.rows, self.length = copies, len(encoded.valid) * copies, 0
        like = embedding.tokens.table.weight
        self.dtype, self.on_gpu = compute_dtype(like), like.is_cuda
        heads = layers[0].self_attention
        room = -(-room // ROOM) * ROOM if self.on_gpu else max(room, 1)
        shape = (len(layers), 2, self.rows, heads.heads, room, heads.size // heads.heads)
        self.cache = torch.zeros(shape, dtype=self.dtype, device=like.device)  # zeros: hidden, but 0 · NaN is NaN
        self.weights = [self.joined(layer) for layer in layers]
        self.output = output[0].to(self.dtype), output[1].to(self.dtype)
        self.sources = [self.source_keys(layer, encoded) for layer in layers]
        self.visible = None if bool(encoded.valid.all()) else encoded.valid[:, None, None, :].clone()  # (B, 1, 1, N)
        self.at = torch.zeros(1, dtype=torch.long, device=like.device)
        self.places = torch.arange(room, device=like.device)
        self.token = torch.zeros(self.rows, dtype=torch.long, device=like.device)
        self.logits = torch.zeros(0)
        self.graph: torch.cuda.CUDAGraph | None = None

    def joined(self, layer: StepLayer) -> LayerWeights:
        """The weights of a layer, in the type of the products."""
        heads, cross = layer.self_attention, getattr(layer, "cross_attention", None)
        own = [heads.to_query, heads.to_key, heads.to_value]
        whole = torch.cat([one.weight for one in own]), torch.cat([one.bias for one in own])
        return LayerWeights(
            (whole[0].to(self.dtype), whole[1].to(self.dtype)),
            self.weights_of(heads.combine),
            None if cross is None else self.weights_of(cross.to_query),
            None if cross is None else self.weights_of(cross.combine),
            self.weights_of(layer.feed_forward.widen),
            self.weights_of(layer.feed_forward.narrow),
        )

    def weights_of(self, layer: nn.Linear) -> Weights:
        """Weight and bias of a linear layer, in the type of the products."""
        return layer.weight.to(self.dtype), layer.bias.to(self.dtype)

    def source_keys(self, layer: StepLayer, encoded: Encoded) -> tuple[Tensor, Tensor] | None:
        """Keys and values (B, H, N, d) of the source, computed once."""
        if not isinstance(layer, TransformerDecoderLayer):
            return None
        cross = layer.cross_attention
        states = clean(encoded.states, encoded.valid)
        key, value = (
            self.times(states.flatten(0, 1), self.weights_of(part)).view(*states.shape[:2], -1)
            for part in (cross.to_key, cross.to_value)
        )
        return cross.split(key).contiguous(), cross.split(value).contiguous()

    def step(self, token: Tensor) -> Tensor:
        """Logits (R, V) of the next token, given the last one (R,)."""
        if not self.on_gpu:
            self.length += 1
            return self.compute(token)
        self.token[: self.rows] = token
        self.length += 1
        if self.graph is not None:
            self.graph.replay()
        elif self.length == EAGER_STEPS + 1:
            self.graph = self.captured()
            self.graph.replay()
        else:
            self.advance()
        return self.logits[: self.rows]

    def advance(self) -> None:
        """A step in which all that changes is on the GPU."""
        self.logits = self.compute(self.token)
        self.at += 1

    def captured(self) -> torch.cuda.CUDAGraph:
        """A step as a graph; it is not computed yet."""
        graph, aside = torch.cuda.CUDAGraph(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with nothing_freed(), torch.cuda.stream(aside):
            graph.capture_begin(capture_error_mode="thread_local")  # other threads may use the GPU meanwhile
            self.advance()
            graph.capture_end()
        torch.cuda.current_stream().wait_stream(aside)
        return graph

    def compute(self, token: Tensor) -> Tensor:
        """One position of all rows."""
        at = self.at if self.on_gpu else torch.tensor([self.length - 1])
        values = self.embedding(token.unsqueeze(1), at).squeeze(1)  # (R, D)
        for index, layer in enumerate(self.layers):
            values = self.pass_layer(index, layer, values, at)
        return self.times(self.norm(values), self.output)

    def pass_layer(self, index: int, layer: StepLayer, values: Tensor, at: Tensor) -> Tensor:
        """One position through a layer."""
        weights = self.weights[index]
        around = layer.around_self if isinstance(layer, TransformerDecoderLayer) else layer.around_attention
        context = self.own_context(index, layer.self_attention, self.times(around.enter(values), weights.own), at)
        values = around.leave(values, self.times(context, weights.own_combine))
        if isinstance(layer, TransformerDecoderLayer) and weights.cross_query and weights.cross_combine:
            around = layer.around_cross
            query = self.times(around.enter(values), weights.cross_query)
            context = self.source_context(index, layer.cross_attention, query)
            values = around.leave(values, self.times(context, weights.cross_combine))
        around = layer.around_feed_forward
        hidden = self.times(around.enter(values), weights.widen).clamp_min_(0.0)
        return around.leave(values, self.times(hidden, weights.narrow))

    def times(self, values: Tensor, weights: Weights) -> Tensor:
        """A linear layer."""
        return product(values.to(self.dtype), *weights)

    def own_context(self, index: int, heads: MultiHead, products: Tensor, at: Tensor) -> Tensor:
        """The context (R, D) over all positions so far, this one included."""
        query, key, value = products.view(len(products), 3, heads.heads, -1).unbind(1)  # (R, H, d)
        query, key = (heads.turn(part.unsqueeze(2), at) for part in (query, key))
        cache, visible = self.cache[index, :, : len(products)], None
        if self.on_gpu:
            cache[0].index_copy_(2, at, key.to(self.dtype))
            cache[1].index_copy_(2, at, value.unsqueeze(2))
            visible = (self.places <= at).view(1, 1, 1, -1)
        else:
            cache[0, :, :, self.length - 1] = key.squeeze(2)
            cache[1, :, :, self.length - 1] = value
            cache = cache[..., : self.length, :]
        return attend(heads, query.to(self.dtype), cache[0], cache[1], visible)

    def source_context(self, index: int, heads: MultiHead, query: Tensor) -> Tensor:
        """The context (R, D) over the source; the W rows of a source are queries of one attention."""
        source = self.sources[index]
        if source is None:
            return query
        queries = query.view(-1, self.copies, heads.heads, query.size(-1) // heads.heads).transpose(
            1, 2
        )  # (B, H, W, d)
        return attend(heads, queries, *source, self.visible)

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows (R',): those of a source together, sources in their order, each once."""
        sources = rows.view(-1, self.copies)[:, 0].div(self.copies, rounding_mode="floor")
        count, self.rows = self.rows, len(rows)
        if self.on_gpu:  # the graph reads where they are
            self.cache[:, :, : len(rows)] = self.cache.index_select(2, rows)
        else:
            moved = (rows != torch.arange(len(rows))).nonzero().squeeze(-1)  # most rows of a beam stay where they are
            for part in self.cache.flatten(0, 1)[:, :, :, : self.length]:  # rows first: torch copies those much faster
                part.index_copy_(0, moved, part.index_select(0, rows[moved]))
        if len(rows) == count and self.copies > 1:
            return  # the sources are the same
        self.keep_sources(sources)

    def keep_sources(self, rows: Tensor) -> None:
        """Go on with these sources (B',)."""
        if self.on_gpu:
            for pair in self.sources:
                for part in pair or ():
                    part[: len(rows)] = part.index_select(0, rows)
            if self.visible is not None:
                self.visible[: len(rows)] = self.visible.index_select(0, rows)
            return
        self.sources = [
            None if pair is None else (pair[0].index_select(0, rows), pair[1].index_select(0, rows))
            for pair in self.sources
        ]
        self.visible = None if self.visible is None else self.visible.index_select(0, rows)


def attend(heads: MultiHead, query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None) -> Tensor:
    """The context of queries (B, H, W, d) over keys (B, H, K, d), as rows (B W, D)."""
    scale = 1.0 if type(heads.attention.score) is Dot else 1 / math.sqrt(query.size(-1))
    if query.is_cpu and key.size(2) >= FEW_KEYS:  # torch's kernel on a CPU is made for many queries
        scores = (query * scale) @ key.mT
        found = (scores if visible is None else scores.masked_fill(~visible, -torch.inf)).softmax(dim=-1) @ value
    else:
        found = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible, scale=scale)
    return found.transpose(1, 2).reshape(-1, heads.size)
