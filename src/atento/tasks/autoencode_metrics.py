"""How much of a window is recreated, and whether the latents of one window after the other flow.

An output is one row of numbers: the recreated window (L, C), row by row, then its latent (Z,).
"""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.metrics.latents import foretell_steps
from atento.metrics.metric import Metric, Sums
from atento.tasks.autoencode_codec import WindowCodec

# Axes: N windows, L rows of a window, C channels, Z latent.

NEIGHBOURS = 10
SHORTEST = 4 * NEIGHBOURS  # windows in a row whose steps can be foretold


def pack(window: Numbers, latent: Numbers) -> Numbers:
    """A recreated window (L, C) and its latent (Z,) as one output."""
    return np.concatenate([np.ravel(window), latent]).astype(np.float32)


def latent_of(output: Any, reference: Any) -> Numbers:
    """The latent (Z,) in an output, by the window that was to be recreated."""
    return np.asarray(output, dtype=np.float64)[np.size(reference) :]


def metrics(codec: WindowCodec) -> tuple[Metric, ...]:
    """The error first, in spreads of the training part."""
    counted = partial(window_statistics, codec)
    return (
        Metric("mse", "mean squared error in spreads; smaller is better", counted, mean_error, smaller_is_better=True),
        Metric("r2", "share of the windows' variance that is recreated; always the mean: 0", counted, recreated),
        Metric(
            "next_step",
            f"share of the variance of the latent's next step foretold from {NEIGHBOURS} neighbours in earlier time",
            no_statistics,
            foretold,
            by_source=step_statistics,
        ),
    )


def window_statistics(codec: WindowCodec, outputs: Sequence[Any], references: Sequence[Sequence[Any]]) -> Sums:
    """(N, 3): squared errors, squares of the window around the training mean, both on scale, and how many numbers."""
    rows = []
    for output, (window,) in zip(outputs, references, strict=True):
        truth = codec.to_scale(np.asarray(window))
        said = codec.to_scale(np.asarray(output, dtype=np.float64)[: truth.size].reshape(truth.shape))
        rows.append((np.square(truth - said).sum(), np.square(truth).sum(), truth.size))
    return np.asarray(rows, dtype=np.float64).reshape(-1, 3)


def mean_error(sums: Sums) -> Sums:
    """Σ (x − x̂)² / n."""
    return np.asarray(sums[:, 0] / sums[:, 2])


def recreated(sums: Sums) -> Sums:
    """1 − Σ (x − x̂)² / Σ (x − x̄)², x̄ the mean of the training part."""
    return foretold(sums[:, :2])


def foretold(sums: Sums) -> Sums:
    """1 − Σ errors / Σ spreads; of what never changes nothing is foretold."""
    spreads = np.where(sums[:, 1] > 0, sums[:, 1], 1.0)
    return np.asarray(np.where(sums[:, 1] > 0, 1 - sums[:, 0] / spreads, 0.0))


def no_statistics(outputs: Sequence[Any], references: Sequence[Sequence[Any]]) -> Sums:
    """(N, 2) of nothing: without sources nobody knows which window follows which."""
    return np.zeros((len(outputs), 2))


def step_statistics(sources: Sequence[Past], outputs: Sequence[Any], references: Sequence[Sequence[Any]]) -> Sums:
    """(N, 2): squared errors and spreads of the held-out steps, zeros elsewhere; runs of the same sources in a row."""
    sums = np.zeros((len(outputs), 2))
    for first in range(0, len(outputs), max(1, len(sources))):
        groups = [list(rows) for _, rows in groupby(range(len(sources)), key=lambda row: sources[row].series)]
        groups = [rows for rows in groups if len(rows) >= SHORTEST]
        if not groups:
            return sums
        paths = [
            np.stack([latent_of(outputs[first + row], references[first + row][0]) for row in rows]) for rows in groups
        ]
        steps = foretell_steps(paths, neighbours=NEIGHBOURS)
        held = [rows[-1 - count : -1] for rows, count in zip(groups, steps.counts, strict=True)]
        places = first + np.concatenate([np.asarray(rows) for rows in held])  # the windows that these steps leave
        sums[places, 0], sums[places, 1] = steps.errors, steps.spreads
    return sums
