"""Networks of a `Forecaster`: linear, recurrent with or without attention, and Transformers over steps or patches.

Recurrent networks and Transformers read the window in patches (`PatchEmbedding`), and write the horizon in patches
(`HorizonQueries`, `PatchHead`) or by one linear map.
"""

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.blocks.transformer_stack import TransformerStack
from atento.layers.dropout import Dropout
from atento.layers.positions import Positions
from atento.layers.products import Linear
from atento.models.forecaster import ForecastNetwork, SeriesSizes, zero_initialized
from atento.models.summaries import Summary
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import map_state

# Axes: N rows, L past, H horizon, C channels, K covariates, Q quantiles, S patches of the past, J patches of the
# horizon, P steps of a patch, D size, E encoder size.


class LinearNetwork(ForecastNetwork):
    """ŷ_h = W_h x + b_h of the anchored window (NLinear of Zeng et al., 2023, sec. 4), over all channels of a row."""

    def __init__(self, sizes: SeriesSizes, *, quantiles: int = 1) -> None:
        super().__init__()
        outputs = sizes.horizon * sizes.channels * quantiles
        self.linear = zero_initialized(Linear(sizes.look_back * sizes.channels, outputs))
        self.shape = (sizes.horizon, sizes.channels, quantiles)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One matrix product."""
        return self.linear(past.flatten(1)).unflatten(1, self.shape)


class LinearSkip(ForecastNetwork):
    """A network plus a linear skip connection from the window to the horizon (Lai et al., 2018, sec. 3.6)."""

    def __init__(self, network: ForecastNetwork, linear: LinearNetwork) -> None:
        super().__init__()
        self.network, self.linear = network, linear

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, L, C), (N, L + H, K) -> (N, H, C, Q)."""
        return self.network(past, known) + self.linear(past, known)

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """Those of the network."""
        return self.network.weights(past, known)


class PatchEmbedding(nn.Module):
    """Patches of the past and its covariates, each mapped to a vector: (N, L, C), (N, L, K) -> (N, S, D).

    The last patch ends with the window; the first one is filled up with zeros, which stand for the anchor.
    """

    def __init__(self, sizes: SeriesSizes, patch: int, size: int) -> None:
        super().__init__()
        self.patch = patch
        self.map = Linear(patch * (sizes.channels + sizes.covariates), size)
        self.patches = -(-sizes.look_back // patch)
        self.missing = self.patches * patch - sizes.look_back

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One matrix product for all patches."""
        numbers = nn.functional.pad(torch.cat([past, known], dim=-1), (0, 0, self.missing, 0))
        patches = numbers.unfold(1, self.patch, self.patch)  # (N, S, C + K, P)
        return self.map(patches.flatten(2))


class HorizonQueries(nn.Module):
    """A vector for each patch of the horizon: a learned position plus its covariates. (N, H, K) -> (N, J, D)."""

    def __init__(self, sizes: SeriesSizes, patch: int, size: int) -> None:
        super().__init__()
        self.patch = patch
        self.patches = -(-sizes.horizon // patch)
        self.missing = self.patches * patch - sizes.horizon
        self.places = nn.Parameter(torch.randn(self.patches, size) * size**-0.5)
        self.map = Linear(patch * sizes.covariates, size, bias=False) if sizes.covariates else None

    def forward(self, known: Tensor) -> Tensor:
        """Covariates beyond the horizon are zero."""
        if self.map is None:
            return self.places.expand(known.size(0), -1, -1)
        patches = nn.functional.pad(known, (0, 0, 0, self.missing)).reshape(
            known.size(0), self.patches, -1
        )  # (N, J, P·K)
        return self.places + self.map(patches)


class PatchHead(nn.Module):
    """A linear map from the vector of each patch to its steps: (N, J, D) -> (N, H, C, Q)."""

    def __init__(self, sizes: SeriesSizes, patch: int, size: int, *, quantiles: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.horizon, self.shape = sizes.horizon, (patch, sizes.channels, quantiles)
        self.map = zero_initialized(Linear(size, patch * sizes.channels * quantiles))
        self.dropout = Dropout(dropout)

    def forward(self, features: Tensor) -> Tensor:
        """Steps beyond the horizon are cut off."""
        steps: Tensor = self.map(self.dropout(features)).unflatten(2, self.shape).flatten(1, 2)
        return steps[:, : self.horizon]


class LastStateNetwork(ForecastNetwork):
    """ŷ = W h_L + b, h_t = cell(x_t, h_{t−1}), with the numbers as the cell's inputs (Elman, 1990).

    The known covariates of a step are read with the step before it.
    """

    def __init__(self, stack: Stack, sizes: SeriesSizes, *, quantiles: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        self.stack, self.shape = stack, (sizes.horizon, sizes.channels, quantiles)
        self.write = zero_initialized(Linear(stack.output_size, sizes.horizon * sizes.channels * quantiles))
        self.dropout = Dropout(dropout)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One pass of the stack, one matrix product."""
        read = torch.cat([past, known[:, 1 : past.size(1) + 1]], dim=-1)
        last = self.stack(read).outputs[:, -1]
        return self.write(self.dropout(last)).unflatten(1, self.shape)


class ParallelRecurrentNetwork(ForecastNetwork):
    """A stack over the patches of the window; from its last state, one step to every patch of the horizon in parallel
    (Lin et al., 2023, sec. 3.3), so that errors do not accumulate.
    """

    def __init__(self, embedding: PatchEmbedding, stack: Stack, queries: HorizonQueries, head: PatchHead) -> None:
        super().__init__()
        self.embedding, self.stack, self.queries, self.head = embedding, stack, queries, head

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One pass over the window, then one step for all patches of the horizon."""
        time = past.size(1)
        state = self.stack(self.embedding(past, known[:, :time]).relu()).last
        queries = self.queries(known[:, time:])  # (N, J, D)
        patches = queries.size(1)
        repeated = map_state(lambda part: part.repeat_interleave(patches, dim=0), state)
        hidden, _ = self.stack.step(queries.flatten(0, 1), repeated)
        return self.head(hidden.view(-1, patches, hidden.size(-1)))


class AttentiveRecurrentNetwork(ForecastNetwork):
    """s_j = f(s_{j−1}, query of patch j), a context c_j by attention with s_j as query over the states of the window,
    and tanh(W [c_j; s_j]) predicts the patch (Luong et al., 2015, sec. 3). Its outputs are not fed back.
    """

    def __init__(
        self,
        embedding: PatchEmbedding,
        encoder: Stack,
        summarize: Summary,
        queries: HorizonQueries,
        decoder: Stack,
        attention: Attention,
        head: PatchHead,
    ) -> None:
        super().__init__()
        self.embedding, self.encoder, self.summarize = embedding, encoder, summarize
        self.queries, self.decoder, self.attention, self.head = queries, decoder, attention, head
        self.first = Linear(encoder.output_size, decoder.output_size * decoder.layers)
        self.join = Linear(encoder.output_size + decoder.output_size, decoder.output_size)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One pass of encoder and decoder, one attention for all patches."""
        states, hidden = self.run_stacks(past, known)
        context = self.attention(hidden, states, states)
        return self.head(torch.tanh(self.join(torch.cat([context, hidden], dim=-1))))

    def run_stacks(self, past: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """The states of the window (N, S, E) and of the horizon (N, J, D)."""
        time = past.size(1)
        states = self.encoder(self.embedding(past, known[:, :time]).relu()).outputs
        valid = torch.ones(states.shape[:2], dtype=torch.bool, device=states.device)
        start = self.decoder.start_from(torch.tanh(self.first(self.summarize(states, valid))))
        return states, self.decoder(self.queries(known[:, time:]), start).outputs

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, 1, 1, J, S)."""
        states, hidden = self.run_stacks(past, known)
        return self.attention.weights(hidden, states)[:, None, None]


class StepTransformer(ForecastNetwork):
    """Self-attention over the steps of the window followed by the queries of the horizon, whose states predict it."""

    def __init__(
        self,
        embedding: PatchEmbedding,
        queries: HorizonQueries,
        positions: Positions,
        stack: TransformerStack,
        head: PatchHead,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding, self.queries, self.positions = embedding, queries, positions
        self.stack, self.head, self.dropout = stack, head, Dropout(dropout)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """All steps in parallel."""
        states = self.stack(self.place(past, known))
        return self.head(states[:, self.embedding.patches :])

    def place(self, past: Tensor, known: Tensor) -> Tensor:
        """Vectors with positions (N, S + J, D)."""
        time = past.size(1)
        vectors = torch.cat([self.embedding(past, known[:, :time]), self.queries(known[:, time:])], dim=1)
        return self.dropout(vectors + self.positions.along(vectors))

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, layers, heads, J, S + J): of the steps of the horizon."""
        return self.stack.weights(self.place(past, known), rows=slice(self.embedding.patches, None))


class PatchTransformer(ForecastNetwork):
    """Self-attention over the patches of the window; one linear map of all their states predicts the horizon
    (Nie et al., 2023, sec. 3.1).
    """

    def __init__(
        self,
        embedding: PatchEmbedding,
        positions: Positions,
        stack: TransformerStack,
        sizes: SeriesSizes,
        *,
        quantiles: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding, self.positions, self.stack = embedding, positions, stack
        self.shape = (sizes.horizon, sizes.channels, quantiles)
        outputs = sizes.horizon * sizes.channels * quantiles
        self.write = zero_initialized(Linear(embedding.patches * stack.size, outputs))
        self.dropout = Dropout(dropout)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """All patches in parallel."""
        states = self.stack(self.place(past, known))
        return self.write(self.dropout(states).flatten(1)).unflatten(1, self.shape)

    def place(self, past: Tensor, known: Tensor) -> Tensor:
        """Vectors with positions (N, S, D)."""
        vectors = self.embedding(past, known[:, : past.size(1)])
        return self.dropout(vectors + self.positions.along(vectors))

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, layers, heads, S, S)."""
        return self.stack.weights(self.place(past, known))
