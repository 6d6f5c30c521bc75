"""Contracts of forecasters and autoencoders: windows are independent, rollouts and latents are what they should be."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from atento.checks.finding import CLOSE, Finding, difference, judged, tried
from atento.checks.subject import ROWS, exact_copy
from atento.checks.translators import micro_batches
from atento.models.autoencoder import Autoencoder, AutoencoderBatch
from atento.models.forecaster import Forecaster, SeriesBatch

# Axes: B windows, L look-back, H horizon, C channels, K covariates.


def check_forecaster(module: Forecaster) -> list[Finding]:
    """Every contract of a forecaster: independent windows, a rollout of single passes, losses that add up."""
    laws: dict[str, Callable[[Forecaster], Finding]] = {
        "neighbours": neighbours,
        "batch order": batch_order,
        "rollout": rollout,
        "micro-batches": losses_of_rows,
    }
    return [tried(name, partial(law, exact_copy(module))) for name, law in laws.items()]


def some_windows(module: Forecaster, *, steps: int = 0) -> SeriesBatch:
    """Random windows, with so many steps to forecast."""
    ahead = steps or module.horizon
    channels, covariates, look_back, _ = module.sizes
    draw = partial(torch.randn, dtype=torch.float64)
    return SeriesBatch(
        draw(ROWS, look_back, channels), draw(ROWS, look_back + ahead, covariates), draw(ROWS, ahead, channels)
    )


@torch.no_grad()
def neighbours(module: Forecaster) -> Finding:
    """A window has the same forecast alone as in a batch."""
    batch = some_windows(module)
    alone = torch.cat([module(batch.past[row : row + 1], batch.known[row : row + 1]) for row in range(ROWS)])
    words = "a window has the same forecast alone as in a batch"
    return judged("neighbours", difference(alone, module(batch.past, batch.known)), CLOSE, words)


@torch.no_grad()
def batch_order(module: Forecaster) -> Finding:
    """Windows in another order have the same forecasts."""
    batch = some_windows(module)
    turned = module(batch.past.flip(0), batch.known.flip(0)).flip(0)
    words = "windows in another order have the same forecasts"
    return judged("batch order", difference(turned, module(batch.past, batch.known)), CLOSE, words)


@torch.no_grad()
def rollout(module: Forecaster) -> Finding:
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


def losses_of_rows(module: Forecaster) -> Finding:
    """The losses of single rows add up to that of the batch."""
    return micro_batches(module, some_windows(module), lambda one, rows: one.loss(rows))  # type: ignore[operator]


def check_autoencoder(module: Autoencoder) -> list[Finding]:
    """Every contract of an autoencoder: independent windows, the latent as bottleneck, losses that add up."""
    laws: dict[str, Callable[[Autoencoder], Finding]] = {
        "neighbours": autoencoder_neighbours,
        "batch order": autoencoder_order,
        "latent": from_the_latent,
        "micro-batches": autoencoder_losses_of_rows,
    }
    return [tried(name, partial(law, exact_copy(module))) for name, law in laws.items()]


def autoencoder_windows(module: Autoencoder) -> Tensor:
    """Random windows (B, L, C)."""
    return torch.randn(ROWS, module.sizes.look_back, module.sizes.channels, dtype=torch.float64)


@torch.no_grad()
def autoencoder_neighbours(module: Autoencoder) -> Finding:
    """A window has the same reconstruction alone as in a batch."""
    windows = autoencoder_windows(module)
    alone = torch.cat([module(window[None]) for window in windows])
    return judged(
        "neighbours",
        difference(alone, module(windows)),
        CLOSE,
        "a window has the same reconstruction alone as in a batch",
    )


@torch.no_grad()
def autoencoder_order(module: Autoencoder) -> Finding:
    """Windows in another order have the same reconstructions."""
    windows = autoencoder_windows(module)
    turned = module(windows.flip(0)).flip(0)
    return judged(
        "batch order",
        difference(turned, module(windows)),
        CLOSE,
        "windows in another order have the same reconstructions",
    )


@torch.no_grad()
def from_the_latent(module: Autoencoder) -> Finding:
    """The reconstruction depends on the latent alone."""
    windows = autoencoder_windows(module)
    gap = difference(module.decode(module.encode(windows)), module(windows))
    return judged("latent", gap, CLOSE, "the reconstruction depends on the latent alone")


def autoencoder_losses_of_rows(module: Autoencoder) -> Finding:
    """The losses of single rows add up to that of the batch."""
    batch = AutoencoderBatch(autoencoder_windows(module))
    return micro_batches(module, batch, lambda one, rows: one.loss(rows))  # type: ignore[operator]
