"""Forecasts as weighted sums of the past, alone and beside a network.

Recurrent forecasters that write the whole horizon at once.
A recurrent forecaster that walks the horizon and looks back at the window from each of its steps.
Transformers that forecast: step by step, or over pieces of the window.
Pieces of series: several steps of a window read as one vector, several steps of a horizon written from one.
"""

from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.blocks.transformer import TransformerStack
from atento.layers.positions import Positions
from atento.models.forecaster import Network, SeriesSizes, silent
from atento.models.summaries import Summary
from atento.recurrent.stack import Stack

# Axes: N rows, L past, H horizon, C channels, K covariates, Q quantiles.


class WeightedSums(Network):
    """ŷ_h = W_h x + b_h from the anchored window (NLinear of Zeng et al., 2023, sec. 4); of several channels read
    together, from all of them.
    """

    def __init__(self, sizes: SeriesSizes, *, quantiles: int = 1) -> None:
        super().__init__()
        self.sums = silent(nn.Linear(sizes.look_back * sizes.channels, sizes.horizon * sizes.channels * quantiles))
        self.shape = (sizes.horizon, sizes.channels, quantiles)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One product."""
        outputs: Tensor = self.sums(past.flatten(1)).unflatten(1, self.shape)
        return outputs


class Beside(Network):
    """A network that only learns what weighted sums leave over: both are added (Lai et al., 2018, sec. 3.6)."""

    def __init__(self, network: Network, sums: WeightedSums) -> None:
        super().__init__()
        self.network, self.sums = network, sums

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, L, C), (N, L + H, K) -> (N, H, C, Q)."""
        outputs: Tensor = self.network(past, known) + self.sums(past, known)
        return outputs

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """The network's."""
        return self.network.weights(past, known)


# Axes: N rows, L past, H horizon, C channels, K covariates, Q quantiles, S pieces of the past, J pieces of the horizon,
# P steps of a piece, D size.


class Reading(nn.Module):
    """The past beside what is known of it, cut into pieces: (N, L, C), (N, L, K) -> (N, S, D).

    Pieces begin `stride` steps apart. The last one ends with the window; what the first one lacks is zeros, the anchor.
    """

    def __init__(self, sizes: SeriesSizes, patch: int, size: int, *, stride: int = 0) -> None:
        super().__init__()
        self.patch, self.stride = patch, stride or patch
        self.map = nn.Linear(patch * (sizes.channels + sizes.covariates), size)
        self.pieces = max(0, -(-(sizes.look_back - patch) // self.stride)) + 1
        self.missing = (self.pieces - 1) * self.stride + patch - sizes.look_back

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One product for all pieces."""
        numbers = nn.functional.pad(torch.cat([past, known], dim=-1), (0, 0, self.missing, 0))
        pieces = numbers.unfold(1, self.patch, self.stride)  # (N, S, C + K, P)
        vectors: Tensor = self.map(pieces.flatten(2))
        return vectors


class Asking(nn.Module):
    """What is asked of each piece of the horizon: its place, and what is known of it. (N, H, K) -> (N, J, D)."""

    def __init__(self, sizes: SeriesSizes, patch: int, size: int) -> None:
        super().__init__()
        self.patch = patch
        self.pieces = -(-sizes.horizon // patch)
        self.missing = self.pieces * patch - sizes.horizon
        self.places = nn.Parameter(torch.randn(self.pieces, size) * size**-0.5)
        self.map = nn.Linear(patch * sizes.covariates, size, bias=False) if sizes.covariates else None

    def forward(self, known: Tensor) -> Tensor:
        """A piece that reaches beyond the horizon knows nothing of it."""
        if self.map is None:
            return self.places.expand(len(known), -1, -1)
        pieces = nn.functional.pad(known, (0, 0, 0, self.missing)).reshape(len(known), self.pieces, -1)  # (N, J, P·K)
        asked: Tensor = self.places + self.map(pieces)
        return asked


class Writing(nn.Module):
    """A vector for each piece -> its steps: (N, J, D) -> (N, H, C, Q)."""

    def __init__(self, sizes: SeriesSizes, patch: int, size: int, *, quantiles: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.horizon, self.shape = sizes.horizon, (patch, sizes.channels, quantiles)
        self.map = silent(nn.Linear(size, patch * sizes.channels * quantiles))
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor) -> Tensor:
        """What reaches beyond the horizon is left out."""
        steps: Tensor = self.map(self.dropout(features)).unflatten(2, self.shape).flatten(1, 2)
        return steps[:, : self.horizon]


# Axes: N rows, L past, H horizon, C channels, K covariates, Q quantiles, J pieces of the horizon, D size.


class FromLastState(Network):
    """ŷ = W h_L + b, h_t = cell(x_t, h_{t−1}): nothing between the numbers and the cell (Elman, 1990).

    What is known of a step beforehand is read with the step before it.
    """

    def __init__(self, stack: Stack, sizes: SeriesSizes, *, quantiles: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        self.stack, self.shape = stack, (sizes.horizon, sizes.channels, quantiles)
        self.write = silent(nn.Linear(stack.output_size, sizes.horizon * sizes.channels * quantiles))
        self.dropout = nn.Dropout(dropout)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One walk, one product."""
        read = torch.cat([past, known[:, 1 : past.size(1) + 1]], dim=-1)
        said = self.stack(read).outputs[:, -1]
        outputs: Tensor = self.write(self.dropout(said)).unflatten(1, self.shape)
        return outputs


class AtOnce(Network):
    """A stack walks over the pieces of the window; from its last state it steps once to every piece of the horizon,
    each from the same state (Lin et al., 2023, sec. 3.3): no step rests on an error of the one before it.
    """

    def __init__(self, reading: Reading, stack: Stack, asking: Asking, writing: Writing) -> None:
        super().__init__()
        self.reading, self.stack, self.asking, self.writing = reading, stack, asking, writing

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One walk, then one step for all pieces."""
        time = past.size(1)
        state = self.stack(self.reading(past, known[:, :time]).relu()).last
        asked = self.asking(known[:, time:])  # (N, J, D)
        pieces = asked.size(1)
        said, _ = self.stack.step(asked.flatten(0, 1), tuple(repeated(part, pieces) for part in state))
        outputs: Tensor = self.writing(said.view(-1, pieces, said.size(-1)))
        return outputs


def repeated(state: Any, times: int) -> Any:
    """A state's rows, each as many times as it is asked."""
    return type(state)(*(part.repeat_interleave(times, dim=0) for part in state))


# Axes: N rows, L past, H horizon, C channels, K covariates, S pieces of the past, J of the horizon, D size, E states.


class LookingBack(Network):
    """s_j = f(s_{j−1}, what is known of piece j), a context c_j by attention with s_j as query over the states of the
    window, tanh(W [c_j; s_j]) writes the piece (Luong et al., 2015, sec. 3). It reads none of its own output.
    """

    def __init__(
        self,
        reading: Reading,
        encoder: Stack,
        summarise: Summary,
        asking: Asking,
        decoder: Stack,
        attention: Attention,
        writing: Writing,
    ) -> None:
        super().__init__()
        self.reading, self.encoder, self.summarise = reading, encoder, summarise
        self.asking, self.decoder, self.attention, self.writing = asking, decoder, attention, writing
        self.first = nn.Linear(encoder.output_size, decoder.output_size * decoder.layers)
        self.join = nn.Linear(encoder.output_size + decoder.output_size, decoder.output_size)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One walk of each part, one attention for all pieces."""
        states, said = self.walk(past, known)
        context = self.attention(said, states, states)
        outputs: Tensor = self.writing(torch.tanh(self.join(torch.cat([context, said], dim=-1))))
        return outputs

    def walk(self, past: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """The states of the window (N, S, E) and of the horizon (N, J, D)."""
        time = past.size(1)
        states = self.encoder(self.reading(past, known[:, :time]).relu()).outputs
        whole = torch.ones(states.shape[:2], dtype=torch.bool, device=states.device)
        said = torch.tanh(self.first(self.summarise(states, whole))).chunk(self.decoder.layers, dim=-1)
        start = self.decoder.start(states[:, 0])
        start = tuple(state._replace(hidden=hidden) for state, hidden in zip(start, said, strict=True))
        return states, self.decoder(self.asking(known[:, time:]), start).outputs

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, 1, 1, J, S)."""
        states, said = self.walk(past, known)
        return self.attention.weights(said, states)[:, None, None]


# Axes: N rows, L past, H horizon, C channels, K covariates, S pieces of the past, J pieces of the horizon, D size.


class StepByStep(Network):
    """The steps of the window, then those of the horizon, of which only the place and what is known are told; every
    step looks at all of them, and the horizon's own write it.
    """

    def __init__(
        self,
        reading: Reading,
        asking: Asking,
        positions: Positions,
        stack: TransformerStack,
        writing: Writing,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.reading, self.asking, self.positions = reading, asking, positions
        self.stack, self.writing, self.dropout = stack, writing, nn.Dropout(dropout)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """All steps at once."""
        states = self.stack(self.place(past, known))
        outputs: Tensor = self.writing(states[:, self.reading.pieces :])
        return outputs

    def place(self, past: Tensor, known: Tensor) -> Tensor:
        """Vectors (N, S + J, D) that know where they stand."""
        time = past.size(1)
        vectors = torch.cat([self.reading(past, known[:, :time]), self.asking(known[:, time:])], dim=1)
        places = self.positions(torch.arange(vectors.size(1), device=vectors.device))
        placed: Tensor = self.dropout(vectors + places.to(vectors.dtype))
        return placed

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, layers, heads, J, S + J): where the steps of the horizon looked."""
        return self.stack.weights(self.place(past, known), rows=slice(self.reading.pieces, None))


class Patches(Network):
    """Pieces of the window look at each other; all of them together write the horizon (Nie et al., 2023, sec. 3.1)."""

    def __init__(
        self,
        reading: Reading,
        positions: Positions,
        stack: TransformerStack,
        sizes: SeriesSizes,
        *,
        quantiles: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.reading, self.positions, self.stack = reading, positions, stack
        self.shape = (sizes.horizon, sizes.channels, quantiles)
        self.write = silent(nn.Linear(reading.pieces * stack.size, sizes.horizon * sizes.channels * quantiles))
        self.dropout = nn.Dropout(dropout)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """All pieces at once."""
        states = self.stack(self.place(past, known))
        outputs: Tensor = self.write(self.dropout(states).flatten(1)).unflatten(1, self.shape)
        return outputs

    def place(self, past: Tensor, known: Tensor) -> Tensor:
        """Vectors (N, S, D) that know where they stand."""
        vectors = self.reading(past, known[:, : past.size(1)])
        places = self.positions(torch.arange(vectors.size(1), device=vectors.device))
        placed: Tensor = self.dropout(vectors + places.to(vectors.dtype))
        return placed

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, layers, heads, S, S): where the pieces looked."""
        return self.stack.weights(self.place(past, known))
