"""Forecasters: what is known at one time -> what comes after it. A network sees numbers from their anchor on."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.losses import Loss, in_order, median_shares, pinball, squared_error

# Axes: B windows, N windows or channels of them, L past, H horizon, C channels, K covariates, Q quantiles (else 1).


class SeriesSizes(NamedTuple):
    """What follows from the data."""

    channels: int
    covariates: int
    look_back: int
    horizon: int


class SeriesBatch(NamedTuple):
    """Windows on the scale of the training part."""

    past: Tensor  # (B, L, C)
    known: Tensor  # (B, L + H, K)
    target: Tensor  # (B, H, C)


Anchor = Callable[[Tensor], Tensor]  # (B, L, C) -> (B, 1, C)


def last_value(past: Tensor) -> Tensor:
    """Where a window ends."""
    return past[:, -1:]


def mean_value(past: Tensor) -> Tensor:
    """What a window has on average."""
    return past.mean(dim=1, keepdim=True)


def no_anchor(past: Tensor) -> Tensor:
    """Numbers as they are."""
    return torch.zeros_like(past[:, -1:])


class Network(nn.Module, ABC):
    """A window from its anchor on -> the horizon, from the same anchor on.

    past (N, L, C), known (N, L + H, K) -> (N, H, C, Q). All channels of a row are read together. Before it has learned
    it says nothing: the anchor is the first forecast.
    """

    @abstractmethod
    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """The whole horizon."""

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """Where it looked: (N, layers, heads, outputs, sources); a network without attention looked nowhere."""
        return past.new_zeros(len(past), 0, 0, 0, 0)


def silent(map_: nn.Linear) -> nn.Linear:
    """A map that begins with zeros."""
    nn.init.zeros_(map_.weight)
    nn.init.zeros_(map_.bias)
    return map_


class Forecaster(nn.Module):
    """anchor + effect(known) + network(past − effect(known) − anchor): what is added to a series is added to its
    forecast, and what is known beforehand is taken off before the past is read.
    """

    def __init__(
        self,
        network: Network,
        sizes: SeriesSizes,
        *,
        anchor: Anchor = last_value,
        whole: bool = False,
        pace: Sequence[float] = (),
        effect: nn.Module | None = None,
        each: bool = False,
        levels: tuple[float, ...] = (),
        noise: float = 0.0,
    ) -> None:
        super().__init__()
        self.network, self.sizes, self.anchor, self.effect = network, sizes, anchor, effect
        self.each, self.levels, self.noise = each, levels, noise
        self.whole = whole  # the network sees numbers as they are, and says how far from the anchor they go
        self.pace: Tensor
        self.register_buffer("pace", torch.tensor(pace or (1.0,) * sizes.channels))  # (C,) what an output of 1 means

    @property
    def look_back(self) -> int:
        """Steps that are read."""
        return self.sizes.look_back

    @property
    def horizon(self) -> int:
        """Steps of one pass."""
        return self.sizes.horizon

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """past (B, L, C), known (B, L + H, K) -> (B, H, C, Q), quantiles in their order."""
        self.require_shapes(past, known)
        before, ahead = torch.split(self.told(known), [self.look_back, self.horizon], dim=1)
        past = past - before
        level = self.anchor(past)
        outputs = self.network(*self.parted(past if self.whole else past - level, known))
        if self.each:
            outputs = outputs.view(len(past), self.sizes.channels, self.horizon, -1).transpose(1, 2)
        return in_order(outputs * self.pace.unsqueeze(-1) + (level + ahead).unsqueeze(-1))

    def told(self, known: Tensor) -> Tensor:
        """What covariates (B, L + H, K) do to each channel, (B, L + H, C); nothing where there are none."""
        effects: Tensor = known.new_zeros(*known.shape[:2], 1) if self.effect is None else self.effect(known)
        return effects

    def parted(self, past: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """Channel by channel, each with what is known: (B, L, C) -> (B·C, L, 1); or all together, as they are."""
        if not self.each:
            return past, known
        apart = past.transpose(1, 2).reshape(-1, past.size(1), 1)
        return apart, known.repeat_interleave(self.sizes.channels, dim=0)

    def extend(self, past: Tensor, known: Tensor, steps: int) -> Tensor:
        """(B, steps, C, Q); what lies beyond one pass is read from its own forecasts. known (B, L + steps, K).

        The last pass begins where it ends at `steps`, so that nothing need be known of later times.
        """
        found = self(past, known[:, : self.look_back + self.horizon])
        while found.size(1) < steps:
            first = min(found.size(1), steps - self.horizon)
            whole = torch.cat([past, self.point(found)], dim=1)
            window = whole[:, first : first + self.look_back]
            outputs = self(window, known[:, first : first + self.look_back + self.horizon])
            found = torch.cat([found, outputs[:, found.size(1) - first :]], dim=1)
        return found[:, :steps]

    def loss(self, batch: SeriesBatch) -> Loss:
        """Squared error, or the pinball loss of the quantiles, over the steps of the target: its own output is read
        where they are more than one pass. While training, noise falls on what is read.
        """
        past = batch.past
        if self.training and self.noise:
            past = past + self.noise * torch.randn_like(past)
        outputs, target = self.extend(past, batch.known, batch.target.size(1)), batch.target
        if self.whole:  # in usual changes: small ones would give gradients that an optimiser takes for none
            unit = self.pace.square().mean().sqrt()
            outputs, target = outputs / unit, target / unit
        if self.levels:
            return pinball(outputs, target, self.levels)
        return squared_error(outputs.squeeze(-1), target)

    def point(self, outputs: Tensor) -> Tensor:
        """(B, H, C, Q) -> (B, H, C): the number itself, or the median."""
        if not self.levels:
            return outputs.squeeze(-1)
        return outputs @ outputs.new_tensor(median_shares(self.levels))

    @torch.no_grad()
    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """Where it looked: (B, channels, layers, heads, outputs, sources), channels read together as one."""
        past = past - self.told(known)[:, : self.look_back]
        found = self.network.weights(*self.parted(past if self.whole else past - self.anchor(past), known))
        return found.view(len(past), self.sizes.channels if self.each else 1, *found.shape[1:])

    def require_shapes(self, past: Tensor, known: Tensor) -> None:
        """Windows as this forecaster was made for."""
        channels, covariates, look_back, horizon = self.sizes
        wanted = (look_back, channels), (look_back + horizon, covariates)
        if (past.shape[1:], known.shape[1:]) != wanted:
            raise InputError(
                "a forecaster reads windows of one shape.",
                found=f"past {tuple(past.shape)}, known {tuple(known.shape)}",
                fix=f"give past (B, {look_back}, {channels}) and known (B, {look_back + horizon}, {covariates})",
            )
