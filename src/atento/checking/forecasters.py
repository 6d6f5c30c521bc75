"""Contracts of forecasters: of the module, and of a run of the task on its own test part."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from atento.bundle import Bundle
from atento.checking.finding import CLOSE, Checked, Finding, apart, judged, tried
from atento.checking.series_runs import check_series_run
from atento.checking.subject import ROWS, exact_copy
from atento.checking.translators import micro_batches
from atento.models.forecaster import Forecaster, SeriesBatch

# Axes: B windows, L past, H horizon, C channels, K covariates.


def check_forecaster(module: Forecaster) -> list[Finding]:
    """Windows do not know each other; a long forecast begins as a short one; losses add up."""
    laws: dict[str, Callable[[Forecaster], Finding]] = {
        "neighbours": neighbours,
        "order": order,
        "on its own output": on_its_own,
        "micro-batches": losses_of_rows,
    }
    return [tried(name, partial(law, exact_copy(module))) for name, law in laws.items()]


def some_windows(module: Forecaster, *, steps: int = 0) -> SeriesBatch:
    """Random windows, with so many steps to come."""
    ahead = steps or module.horizon
    channels, covariates, look_back, _ = module.sizes
    draw = partial(torch.randn, dtype=torch.float64)
    return SeriesBatch(
        draw(ROWS, look_back, channels), draw(ROWS, look_back + ahead, covariates), draw(ROWS, ahead, channels)
    )


@torch.no_grad()
def neighbours(module: Forecaster) -> Finding:
    """A window alone has the forecast it has in company."""
    batch = some_windows(module)
    alone = torch.cat([module(batch.past[row : row + 1], batch.known[row : row + 1]) for row in range(ROWS)])
    words = "a window alone has the forecast it has in a batch"
    return judged("neighbours", apart(alone, module(batch.past, batch.known)), CLOSE, words)


@torch.no_grad()
def order(module: Forecaster) -> Finding:
    """The order of windows changes nothing."""
    batch = some_windows(module)
    turned = module(batch.past.flip(0), batch.known.flip(0)).flip(0)
    return judged("order", apart(turned, module(batch.past, batch.known)), CLOSE, "another order, the same forecasts")


@torch.no_grad()
def on_its_own(module: Forecaster) -> Finding:
    """A longer forecast begins with the one pass, and goes on from it alone."""
    steps = 2 * module.horizon
    batch = some_windows(module, steps=steps)
    rows = module.look_back + module.horizon
    first = module(batch.past, batch.known[:, :rows])
    path = torch.cat([batch.past, module.point(first)], dim=1)[:, -module.look_back :]
    then = module(path, batch.known[:, module.horizon : module.horizon + rows])
    whole = module.extend(batch.past, batch.known, steps)
    gap = apart(torch.cat([first, then], dim=1), whole)
    return judged("on its own output", gap, CLOSE, "twice the horizon is two passes, the second on the first's output")


def losses_of_rows(module: Forecaster) -> Finding:
    """Row by row, totals add up."""
    return micro_batches(module, some_windows(module), lambda one, rows: one.loss(rows))  # type: ignore[operator]


def check_forecasts(bundle: Bundle) -> Checked:
    """The contracts of its module, then of its answers on its own test part."""
    found = check_forecaster(bundle.module) if isinstance(bundle.module, Forecaster) else []
    return check_series_run(bundle, found, partial(spreads_apart, bundle))


def spreads_apart(bundle: Bundle, one: Any, other: Any) -> float:
    """The largest difference of two forecasts (H, C, Q), in the largest spread of the channel."""
    spread = bundle.codec.scales.spread.max(axis=0)[:, None]
    if one.shape != other.shape:
        return float("inf")
    gaps = np.abs(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)) / spread
    return float(gaps.max(initial=0.0))
