"""Recurrent forecasters that write the whole horizon at once."""

from typing import Any

import torch
from torch import Tensor, nn

from atento.models.forecast_pieces import Asking, Reading, Writing
from atento.models.forecaster import Network, SeriesSizes, silent
from atento.recurrent.stack import Stack

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
