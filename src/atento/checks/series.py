"""Contracts of forecasters: of the module, and of a run of the task on its own test part.

Contracts of autoencoders: of the module, and of a run of the task on its own test part.
Contracts of a run whose answers are arrays of numbers, on its own test part.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load
from torch import Tensor

from atento.bundle import OUTPUTS, Bundle
from atento.checks.finding import CLOSE, SHORT, Checked, Finding, apart, aside, judged, tried
from atento.checks.subject import ROWS, exact_copy
from atento.checks.translators import micro_batches
from atento.errors import InputError
from atento.models.autoencoder import Autoencoder, WindowBatch
from atento.models.forecaster import Forecaster, SeriesBatch
from atento.spec import DecodeRecipe

EXAMPLES = 6
NO_EXAMPLES = "the run has no test part, or its data is gone"

Gap = Callable[[Any, Any], float]  # how far two answers lie apart
Asked = list[tuple[int, Any]]  # sources of the test part with their numbers


def check_series_run(bundle: Bundle, of_its_module: Sequence[Finding], gap: Gap) -> Checked:
    """What was found of its module, then the contracts of its answers."""
    asked = some_questions(bundle)
    laws = {"answers": answers_alone, "as tested": as_tested}
    own = [
        tried(name, partial(law, bundle, asked, gap)) if asked else aside(name, NO_EXAMPLES)
        for name, law in laws.items()
    ]
    return Checked(f"{bundle.recipe.model.name} ({bundle.task.name})", [*of_its_module, *own])


def some_questions(bundle: Bundle) -> Asked:
    """A few of the test part, spread over it."""
    try:
        test = bundle.read().test
    except InputError:
        return []
    return [(at, test[at].source) for at in range(0, len(test), max(1, -(-len(test) // EXAMPLES)))]


def answers_alone(bundle: Bundle, asked: Asked, gap: Gap) -> Finding:
    """What else is asked in the same call changes no answer."""
    sources, decode = [source for _, source in asked], DecodeRecipe()
    together = bundle.task.answer(bundle.module, bundle.codec, sources, decode)
    alone = [bundle.task.answer(bundle.module, bundle.codec, [source], decode)[0] for source in sources]
    worst = max(gap(one.value, other.value) for one, other in zip(together, alone, strict=True))
    return judged("answers", worst, SHORT, "a window asked alone gets the answer it gets in company")


def as_tested(bundle: Bundle, asked: Asked, gap: Gap) -> Finding:
    """The loaded model answers as the trained one did when it was tested."""
    path = bundle.folder / OUTPUTS
    if not path.exists():
        return aside("as tested", NO_EXAMPLES)
    then = load(path.read_bytes())["outputs"]
    now = bundle.task.answer(bundle.module, bundle.codec, [source for _, source in asked], bundle.recipe.decode)
    worst = max(gap(one.value, then[at]) for one, (at, _) in zip(now, asked, strict=True))
    return judged("as tested", worst, SHORT, "the loaded model answers as the trained one did when it was tested")


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


# Axes: B windows, L rows of a window, C channels.


def check_autoencoder(module: Autoencoder) -> list[Finding]:
    """Windows do not know each other; what is written comes through the latent; losses add up."""
    laws: dict[str, Callable[[Autoencoder], Finding]] = {
        "neighbours": autoencoder_neighbours,
        "order": autoencoder_order,
        "through the latent": through_the_latent,
        "micro-batches": autoencoder_losses_of_rows,
    }
    return [tried(name, partial(law, exact_copy(module))) for name, law in laws.items()]


def autoencoder_windows(module: Autoencoder) -> Tensor:
    """Random windows (B, L, C)."""
    return torch.randn(ROWS, module.sizes.look_back, module.sizes.channels, dtype=torch.float64)


@torch.no_grad()
def autoencoder_neighbours(module: Autoencoder) -> Finding:
    """A window alone is written again as it is in company."""
    windows = autoencoder_windows(module)
    alone = torch.cat([module(window[None]) for window in windows])
    return judged("neighbours", apart(alone, module(windows)), CLOSE, "a window alone is recreated as in a batch")


@torch.no_grad()
def autoencoder_order(module: Autoencoder) -> Finding:
    """The order of windows changes nothing."""
    windows = autoencoder_windows(module)
    turned = module(windows.flip(0)).flip(0)
    return judged("order", apart(turned, module(windows)), CLOSE, "another order, the same windows")


@torch.no_grad()
def through_the_latent(module: Autoencoder) -> Finding:
    """Whoever has the latent alone writes the same."""
    windows = autoencoder_windows(module)
    gap = apart(module.decode(module.encode(windows)), module(windows))
    return judged("through the latent", gap, CLOSE, "what is written comes from the latent alone")


def autoencoder_losses_of_rows(module: Autoencoder) -> Finding:
    """Row by row, totals add up."""
    batch = WindowBatch(autoencoder_windows(module))
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
