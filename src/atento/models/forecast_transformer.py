"""Transformers that forecast: step by step, or over pieces of the window."""

import torch
from torch import Tensor, nn

from atento.blocks.stack import TransformerStack
from atento.layers.positions import Positions
from atento.models.forecast_pieces import Asking, Reading, Writing
from atento.models.forecaster import Network, SeriesSizes, silent

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
