"""A recurrent forecaster of the very next step, to be run on its own output."""

import torch
from torch import Tensor, nn

from atento.models.forecaster import Network, SeriesSizes
from atento.recurrent.stack import Stack

# Axes: N rows, L past, C channels, K covariates, Q quantiles, D size.


class NextStep(Network):
    """ŷ_{t+1} = W h_t + b, h_t = cell(x_t, h_{t−1}): nothing between the numbers and the cell (Elman, 1990).

    What is known of a step beforehand is read with the step before it.
    """

    def __init__(self, stack: Stack, sizes: SeriesSizes, *, quantiles: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        self.stack, self.shape = stack, (1, sizes.channels, quantiles)
        self.write = nn.Linear(stack.output_size, sizes.channels * quantiles)
        self.dropout = nn.Dropout(dropout)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, L, C), (N, L + 1, K) -> (N, 1, C, Q)."""
        states = self.stack(torch.cat([past, known[:, 1:]], dim=-1)).outputs  # (N, L, D)
        outputs: Tensor = self.write(self.dropout(states[:, -1])).unflatten(1, self.shape)
        return outputs
