"""Contracts of autoencoders: of the module, and of a run of the task on its own test part."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from atento.bundle import Bundle
from atento.checking.finding import CLOSE, Checked, Finding, apart, judged, tried
from atento.checking.series_runs import check_series_run
from atento.checking.subject import ROWS, exact_copy
from atento.checking.translators import micro_batches
from atento.models.autoencoder import Autoencoder, WindowBatch

# Axes: B windows, L rows of a window, C channels.


def check_autoencoder(module: Autoencoder) -> list[Finding]:
    """Windows do not know each other; what is written comes through the latent; losses add up."""
    laws: dict[str, Callable[[Autoencoder], Finding]] = {
        "neighbours": neighbours,
        "order": order,
        "through the latent": through_the_latent,
        "micro-batches": losses_of_rows,
    }
    return [tried(name, partial(law, exact_copy(module))) for name, law in laws.items()]


def some_windows(module: Autoencoder) -> Tensor:
    """Random windows (B, L, C)."""
    return torch.randn(ROWS, module.sizes.look_back, module.sizes.channels, dtype=torch.float64)


@torch.no_grad()
def neighbours(module: Autoencoder) -> Finding:
    """A window alone is written again as it is in company."""
    windows = some_windows(module)
    alone = torch.cat([module(window[None]) for window in windows])
    return judged("neighbours", apart(alone, module(windows)), CLOSE, "a window alone is recreated as in a batch")


@torch.no_grad()
def order(module: Autoencoder) -> Finding:
    """The order of windows changes nothing."""
    windows = some_windows(module)
    turned = module(windows.flip(0)).flip(0)
    return judged("order", apart(turned, module(windows)), CLOSE, "another order, the same windows")


@torch.no_grad()
def through_the_latent(module: Autoencoder) -> Finding:
    """Whoever has the latent alone writes the same."""
    windows = some_windows(module)
    gap = apart(module.decode(module.encode(windows)), module(windows))
    return judged("through the latent", gap, CLOSE, "what is written comes from the latent alone")


def losses_of_rows(module: Autoencoder) -> Finding:
    """Row by row, totals add up."""
    batch = WindowBatch(some_windows(module))
    return micro_batches(module, batch, lambda one, rows: one.loss(rows))  # type: ignore[operator]


def check_recreations(bundle: Bundle) -> Checked:
    """The contracts of its module, then of its answers on its own test part."""
    found = check_autoencoder(bundle.module) if isinstance(bundle.module, Autoencoder) else []
    return check_series_run(bundle, found, share_apart)


def share_apart(one: Any, other: Any) -> float:
    """The largest difference of two answers, as a share of their largest number."""
    if one.shape != other.shape:
        return float("inf")
    gap = np.abs(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)).max(initial=0.0)
    return float(gap / max(float(np.abs(other).max(initial=0.0)), 1e-12))
