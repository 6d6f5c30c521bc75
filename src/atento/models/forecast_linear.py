"""Forecasts as weighted sums of the past, alone and beside a network."""

from torch import Tensor, nn

from atento.models.forecaster import Network, SeriesSizes, silent

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
