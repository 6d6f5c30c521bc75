"""Forecasters: a window of past values and known covariates -> the values of the horizon.

`Forecaster` subtracts an anchor (a level of the window) and the effect of covariates before a `ForecastNetwork`, and
adds them to its outputs again; the networks are in `forecast_networks`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.losses import Loss, median_weights, pinball_loss, sort_quantiles, squared_error
from atento.models.conformal import ConformalQuantiles, moved_by

# Axes: B windows, N windows or channels of them, L past, H horizon, C channels, K covariates, Q quantiles (else 1).


class SeriesSizes(NamedTuple):
    """The sizes that follow from the data."""

    channels: int
    covariates: int
    look_back: int
    horizon: int


class SeriesBatch(NamedTuple):
    """Windows, scaled by the training part."""

    past: Tensor  # (B, L, C)
    known: Tensor  # (B, L + H, K) covariates that are known in advance
    target: Tensor  # (B, H, C)


Anchor = Callable[[Tensor], Tensor]  # (B, L, C) -> (B, 1, C)


def last_value(past: Tensor) -> Tensor:
    """The last value of a window."""
    return past[:, -1:]


def mean_value(past: Tensor) -> Tensor:
    """The mean of a window."""
    return past.mean(dim=1, keepdim=True)


def no_anchor(past: Tensor) -> Tensor:
    """Zero: values stay as they are."""
    return torch.zeros_like(past[:, -1:])


class ForecastNetwork(nn.Module, ABC):
    """A window relative to its anchor -> the horizon, relative to the same anchor.

    past (N, L, C), known (N, L + H, K) -> (N, H, C, Q). All channels of a row are read together. At initialization the
    outputs are zero, so that the first forecast is the anchor.
    """

    @abstractmethod
    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """The whole horizon."""

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """Attention weights (N, layers, heads, outputs, sources); a network without attention has no layers."""
        return past.new_zeros(len(past), 0, 0, 0, 0)


def zero_initialized(linear: nn.Linear) -> nn.Linear:
    """The linear map with weight and bias set to zero."""
    nn.init.zeros_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


class ForecastModel(nn.Module, ABC):
    """A forecaster of windows. Subclasses define one pass over the horizon, a rollout joins passes to a forecast of any
    length.

    `quantiles` are levels between 0 and 1; without them a forecast is one number.
    """

    sizes: SeriesSizes
    quantiles: tuple[float, ...]

    @abstractmethod
    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """past (B, L, C), known (B, L + H, K) -> (B, H, C, Q), quantiles in increasing order."""

    @abstractmethod
    def loss(self, batch: SeriesBatch) -> Loss:
        """Squared error, or the pinball loss of the quantiles, over the steps of the target."""

    @abstractmethod
    def offsets(self) -> Tensor | None:
        """What is added to the quantiles of an answer (H, C, Q), found when training had ended; None: nothing."""

    @abstractmethod
    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """Attention weights (B, channels, layers, heads, outputs, sources); one channel where all are read together."""

    @property
    def look_back(self) -> int:
        """Steps of the past."""
        return self.sizes.look_back

    @property
    def horizon(self) -> int:
        """Steps of one forward pass."""
        return self.sizes.horizon

    def rollout(self, past: Tensor, known: Tensor, steps: int) -> Tensor:
        """past (B, L, C), known (B, ≥ L + steps, K) -> a forecast (B, steps, C, Q) of any length.

        Beyond one pass, the forecaster reads its own point forecasts as the past. The last pass ends at `steps`, so
        that no later covariates are needed.
        """
        look_back, horizon = self.look_back, self.horizon
        unread = max(0, look_back + horizon - known.size(1))  # of a pass longer than `steps`: its end is not used
        known = torch.cat([known, known[:, -1:].expand(-1, unread, -1)], dim=1) if unread else known
        path, found, done = past, list[Tensor](), 0  # the path ends at the last step that is done
        while done < steps:
            first = min(done, max(0, steps - horizon))
            last = path.size(1) - (done - first)
            outputs = self(path[:, last - look_back : last], known[:, first : first + look_back + horizon])
            found.append(outputs[:, done - first :])
            path = torch.cat([path[:, -look_back - horizon :], self.point_forecast(found[-1])], dim=1)
            done = first + horizon
        return torch.cat(found, dim=1)[:, :steps]

    def calibrated_rollout(self, past: Tensor, known: Tensor, steps: int) -> Tensor:
        """The rollout with its offsets, as answers have them; losses are those of the quantiles as learned."""
        return self.calibrated(self.rollout(past, known, steps))

    def calibrated(self, outputs: Tensor) -> Tensor:
        """Quantiles (B, T, C, Q) with their offsets."""
        offsets = self.offsets()
        return outputs if offsets is None else moved_by(offsets, outputs)

    def point_forecast(self, outputs: Tensor) -> Tensor:
        """(B, H, C, Q) -> (B, H, C): the forecast itself, or the median of the quantiles."""
        if not self.quantiles:
            return outputs.squeeze(-1)
        return outputs @ outputs.new_tensor(median_weights(self.quantiles))

    def require_shapes(self, past: Tensor, known: Tensor) -> None:
        """Windows must have the shapes that the sizes say."""
        channels, covariates, look_back, horizon = self.sizes
        wanted = (look_back, channels), (look_back + horizon, covariates)
        if (past.shape[1:], known.shape[1:]) != wanted:
            raise InputError(
                "Forecaster: the windows are of another shape than it was made for.",
                found=f"past {tuple(past.shape)}, known {tuple(known.shape)}",
                fix=f"give past (B, {look_back}, {channels}) and known (B, {look_back + horizon}, {covariates})",
            )


class Forecaster(ForecastModel):
    """anchor + effect(known) + network(past − effect(known) − anchor): a constant added to a series is added to its
    forecast, and the effect of covariates is removed before the past is read.

    `predicts_change`: the network reads values as they are, and its outputs, times `step_scale` for each channel, are
    changes from the anchor. `per_channel`: the network reads each channel alone. `quantiles` are levels between 0 and
    1; without them a forecast is one number, and `conformal` moves them after training. `noise` is added to the past
    in training.
    """

    def __init__(
        self,
        network: ForecastNetwork,
        sizes: SeriesSizes,
        *,
        anchor: Anchor = last_value,
        predicts_change: bool = False,
        step_scale: Sequence[float] = (),
        effect: nn.Module | None = None,
        per_channel: bool = False,
        quantiles: tuple[float, ...] = (),
        conformal: ConformalQuantiles | None = None,
        noise: float = 0.0,
    ) -> None:
        super().__init__()
        self.network, self.sizes, self.anchor, self.effect = network, sizes, anchor, effect
        self.predicts_change, self.per_channel = predicts_change, per_channel
        self.quantiles, self.conformal, self.noise = quantiles, conformal, noise
        self.step_scale = nn.Buffer(torch.tensor(step_scale or (1.0,) * sizes.channels))  # (C,)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """past (B, L, C), known (B, L + H, K) -> (B, H, C, Q), quantiles in increasing order."""
        self.require_shapes(past, known)
        before, ahead = torch.split(self.covariate_effect(known), [self.look_back, self.horizon], dim=1)
        past = past - before
        level = self.anchor(past)
        outputs = self.network(*self.split_channels(past if self.predicts_change else past - level, known))
        if self.per_channel:
            outputs = outputs.view(past.size(0), self.sizes.channels, self.horizon, -1).transpose(1, 2)
        return sort_quantiles(outputs * self.step_scale.unsqueeze(-1) + (level + ahead).unsqueeze(-1))

    def offsets(self) -> Tensor | None:
        """The conformal offsets."""
        return None if self.conformal is None else self.conformal.offsets

    def covariate_effect(self, known: Tensor) -> Tensor:
        """The effect (B, L + H, C) of covariates (B, L + H, K) on each channel; zero where there are none."""
        return known.new_zeros(*known.shape[:2], 1) if self.effect is None else self.effect(known)

    def split_channels(self, past: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """Where each channel is read alone, (B, L, C) -> (B·C, L, 1), each with all covariates; else unchanged."""
        if not self.per_channel:
            return past, known
        split = past.transpose(1, 2).reshape(-1, past.size(1), 1)
        return split, known.repeat_interleave(self.sizes.channels, dim=0)

    def loss(self, batch: SeriesBatch) -> Loss:
        """Squared error, or the pinball loss of the quantiles, over the steps of the target, by a rollout where they
        are more than one pass. In training, noise is added to the past.
        """
        past = batch.past
        if self.training and self.noise:
            past = past + self.noise * torch.randn_like(past)
        outputs, target = self.rollout(past, batch.known, batch.target.size(1)), batch.target
        if self.predicts_change:  # in units of a usual change, or gradients would be too small for an optimiser
            unit = self.step_scale.square().mean().sqrt()
            outputs, target = outputs / unit, target / unit
        if self.quantiles:
            return pinball_loss(outputs, target, self.quantiles)
        return squared_error(outputs.squeeze(-1), target)

    @torch.no_grad()
    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """Attention weights (B, channels, layers, heads, outputs, sources); one channel where all are read together."""
        past = past - self.covariate_effect(known)[:, : self.look_back]
        read = past if self.predicts_change else past - self.anchor(past)
        found = self.network.weights(*self.split_channels(read, known))
        return found.view(len(past), self.sizes.channels if self.per_channel else 1, *found.shape[1:])
