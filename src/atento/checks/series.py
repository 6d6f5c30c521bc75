"""Contracts of forecasters and autoencoders: windows are independent, rollouts and latents are what they should be."""

from functools import partial

import torch
from torch import Tensor, nn

from atento.checks.finding import CLOSE, Finding, difference, judged
from atento.checks.subject import ROWS, Law, check_laws
from atento.checks.translators import micro_batches
from atento.layers.losses import Loss
from atento.models.autoencoder import Autoencoder, AutoencoderBatch
from atento.models.forecaster import ForecastModel, SeriesBatch

# Axes: B windows, L look-back, H horizon, C channels, K covariates.


def check_forecaster(module: ForecastModel) -> list[Finding]:
    """Every contract of a forecaster: independent windows, a rollout of single passes, losses that add up."""
    batch = some_windows(module)
    laws: dict[str, Law] = {
        "neighbours": partial(neighbours, windows=[batch.past, batch.known], output="forecast"),
        "batch order": partial(batch_order, windows=[batch.past, batch.known], output="forecast"),
        "rollout": rollout,
        "micro-batches": partial(micro_batches, batch=batch, loss=loss_of),
    }
    return check_laws(module, laws)


def check_autoencoder(module: Autoencoder) -> list[Finding]:
    """Every contract of an autoencoder: independent windows, the latent as bottleneck, losses that add up."""
    windows = torch.randn(ROWS, module.sizes.look_back, module.sizes.channels, dtype=torch.float64)
    laws: dict[str, Law] = {
        "neighbours": partial(neighbours, windows=[windows], output="reconstruction"),
        "batch order": partial(batch_order, windows=[windows], output="reconstruction"),
        "latent": partial(from_the_latent, windows=windows),
        "micro-batches": partial(micro_batches, batch=AutoencoderBatch(windows), loss=loss_of),
    }
    return check_laws(module, laws)


def some_windows(module: ForecastModel, *, steps: int = 0) -> SeriesBatch:
    """Random windows, with so many steps to forecast."""
    ahead = steps or module.horizon
    channels, covariates, look_back, _ = module.sizes
    draw = partial(torch.randn, dtype=torch.float64)
    return SeriesBatch(
        draw(ROWS, look_back, channels), draw(ROWS, look_back + ahead, covariates), draw(ROWS, ahead, channels)
    )


@torch.no_grad()
def neighbours(module: nn.Module, windows: list[Tensor], output: str) -> Finding:
    """A window has the same output alone as in a batch."""
    alone = torch.cat([module(*(part[row : row + 1] for part in windows)) for row in range(ROWS)])
    words = f"a window has the same {output} alone as in a batch"
    return judged("neighbours", difference(alone, module(*windows)), CLOSE, words)


@torch.no_grad()
def batch_order(module: nn.Module, windows: list[Tensor], output: str) -> Finding:
    """Windows in another order have the same outputs."""
    turned = module(*(part.flip(0) for part in windows)).flip(0)
    words = f"windows in another order have the same {output}s"
    return judged("batch order", difference(turned, module(*windows)), CLOSE, words)


@torch.no_grad()
def rollout(module: ForecastModel) -> Finding:
    """A forecast of twice the horizon is two forward passes, the second on the output of the first."""
    steps = 2 * module.horizon
    batch = some_windows(module, steps=steps)
    rows = module.look_back + module.horizon
    first = module(batch.past, batch.known[:, :rows])
    path = torch.cat([batch.past, module.point_forecast(first)], dim=1)[:, -module.look_back :]
    then = module(path, batch.known[:, module.horizon : module.horizon + rows])
    whole = module.rollout(batch.past, batch.known, steps)
    gap = difference(torch.cat([first, then], dim=1), whole)
    return judged("rollout", gap, CLOSE, "twice the horizon is two passes, the second on the output of the first")


@torch.no_grad()
def from_the_latent(module: Autoencoder, windows: Tensor) -> Finding:
    """The reconstruction depends on the latent alone."""
    gap = difference(module.decode(module.encode(windows)), module(windows))
    return judged("latent", gap, CLOSE, "the reconstruction depends on the latent alone")


def loss_of(module: nn.Module, batch: SeriesBatch | AutoencoderBatch) -> Loss:
    """The module's own loss."""
    return module.loss(batch)  # type: ignore[operator]
