"""Metrics and baselines of autoencoders: the reconstruction error, how predictable the latent path is, and PCA.

An output is one row of numbers: the reconstructed window (L, C), row by row, then its latent (Z,).
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atento.baselines.validation import require_fitted, require_pairs
from atento.data.series import Past, Series
from atento.data.series.series import Numbers
from atento.metrics.forecasts import block_starts, require_sources
from atento.metrics.latents import predict_steps, split_path
from atento.metrics.metric import Metric, Sums
from atento.models.builders.autoencoder import LATENT
from atento.spec import TokensRecipe
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.forecast.windows import WindowSpec

# Axes: N windows, L rows of a window, C channels, F = L·C numbers of a window, Z latent.

NEIGHBOURS = 10
SHORTEST = 4 * NEIGHBOURS  # consecutive windows whose next steps can be predicted
BLOCK = 20  # rows that are drawn together for an interval, at least
MOST = 20_000  # windows from which principal components are computed

Outputs = Sequence[ArrayLike]
References = Sequence[Sequence[ArrayLike]]
Judge = Callable[[Sequence[Past], Outputs, References], Sums]  # -> (N, S)
Formula = Callable[[Sums], Sums]


def pack(window: Numbers, latent: Numbers) -> NDArray[np.float32]:
    """A recreated window (L, C) and its latent (Z,) as one output."""
    return np.concatenate([np.ravel(window), latent]).astype(np.float32)


def latent_of(output: ArrayLike, reference: ArrayLike) -> Numbers:
    """The latent (Z,) in an output, by the window that was to be recreated."""
    return np.asarray(output, dtype=np.float64)[np.size(reference) :]


def metrics(codec: WindowCodec) -> tuple[Metric, ...]:
    """The metrics of a run; the mean squared error, in standard deviations of the training part, is the first."""

    def made(name: str, summary: str, judge: Judge, formula: Formula, *, smaller: bool = False) -> Metric:
        statistics = partial(in_blocks, judge, max(BLOCK, codec.frame.look_back))
        return Metric(name, summary, require_sources, formula, smaller_is_better=smaller, source_statistics=statistics)

    windows = partial(window_statistics, codec)
    flow = f"share of the variance of the latent's next step that {NEIGHBOURS} neighbours in earlier time foretell"
    return (
        made("mse", "mean squared error in standard deviations; smaller is better", windows, mean_error, smaller=True),
        made("r2", "share of the windows' variance that is recreated; always the mean: 0", windows, r_squared),
        made("next_step", flow, step_statistics, r_squared),
    )


def in_blocks(judge: Judge, length: int, sources: Sequence[Past], outputs: Outputs, references: References) -> Sums:
    """(blocks, S): windows a step apart are nearly the same, so they are summed in blocks of so many rows; several
    runs over the same sources come one after the other.
    """
    starts, count, sums = block_starts(sources, length), len(sources), []
    for first in range(0, len(outputs), max(1, count)):
        found = judge(sources, outputs[first : first + count], references[first : first + count])
        sums.append(np.add.reduceat(found, starts))
    return np.concatenate(sums) if sums else np.zeros((0, 3))


def window_statistics(codec: WindowCodec, sources: Sequence[Past], outputs: Outputs, references: References) -> Sums:
    """(N, 3): squared errors, squares of the window around the training mean, both on scale, and how many numbers."""
    rows = []
    for output, (window,) in zip(outputs, references, strict=True):
        truth = codec.to_scale(np.asarray(window))
        predicted = codec.to_scale(np.asarray(output, dtype=np.float64)[: truth.size].reshape(truth.shape))
        rows.append((np.square(truth - predicted).sum(), np.square(truth).sum(), truth.size))
    return np.asarray(rows, dtype=np.float64)


def mean_error(sums: Sums) -> Sums:
    """Σ (x − x̂)² / n."""
    return np.asarray(sums[:, 0] / sums[:, 2])


def r_squared(sums: Sums) -> Sums:
    """1 − Σ squared errors / Σ squared deviations, the first two sums; 0 where nothing changes."""
    deviations = np.where(sums[:, 1] > 0, sums[:, 1], 1.0)
    return np.asarray(np.where(sums[:, 1] > 0, 1 - sums[:, 0] / deviations, 0.0))


def step_statistics(sources: Sequence[Past], outputs: Outputs, references: References) -> Sums:
    """(N, 2): squared errors and squared deviations of held-out steps; zeros elsewhere and for paths that are short."""
    sums = np.zeros((len(sources), 2))
    groups = [list(rows) for _, rows in groupby(range(len(sources)), key=lambda row: sources[row].series)]
    groups = [rows for rows in groups if len(rows) >= SHORTEST]
    if not groups or not len(latent_of(outputs[0], references[0][0])):
        return sums
    paths = [np.stack([latent_of(outputs[row], references[row][0]) for row in rows]) for rows in groups]
    before, after = zip(*map(split_path, paths), strict=True)
    steps = predict_steps(before, after, neighbours=NEIGHBOURS)
    held = [rows[-len(path) : -1] for rows, path in zip(groups, after, strict=True)]
    places = np.concatenate([np.asarray(rows) for rows in held])  # the windows that these steps leave
    sums[places, 0], sums[places, 1] = steps.squared_errors, steps.squared_deviations
    return sums


class PrincipalComponents:
    """x̂ = x̄ + VᵀV (x − x̄), V the first Z right singular vectors of the training windows, which are on scale.

    No linear autoencoder of the same width recreates them better (Baldi & Hornik, 1989).
    """

    state_types: ClassVar[tuple[type, ...]] = (WindowCodec,)

    def __init__(self, latent: int = LATENT) -> None:
        self.latent = latent
        self.name = f"pca-{latent}" if latent else "mean"
        self.summary = f"the first {latent} principal components" if latent else "always the mean window"
        self.codec: WindowCodec | None = None
        self.mean: Numbers = np.zeros(0)  # (F,)
        self.components: Numbers = np.zeros((0, 0))  # (Z, F)

    def fit(self, sources: Sequence[Series], targets: Sequence[WindowSpec]) -> "PrincipalComponents":
        """The mean and the components of the training windows; of very many, of some evenly."""
        require_pairs(self.name, sources, targets)
        codec = WindowCodec.learn(TokensRecipe(), list(zip(sources, targets, strict=True)))
        look_back = targets[0].look_back
        cut = [
            np.lib.stride_tricks.sliding_window_view(codec.to_scale(series.values), look_back, axis=0).swapaxes(1, 2)
            for series in sources
        ]  # (T − L + 1, L, C) each, views
        stride = -(-sum(map(len, cut)) // MOST)
        windows = np.concatenate([some[::stride] for some in cut]).reshape(-1, look_back * len(targets[0].channels))
        self.mean = windows.mean(axis=0)
        centred = windows - self.mean
        self.components = np.linalg.eigh(centred.T @ centred)[1].T[::-1][: self.latent]  # the largest come last
        self.codec = codec
        return self

    def predict(self, sources: Sequence[Past]) -> list[NDArray[np.float32]]:
        """The reconstruction of each window, and its latent."""
        codec = require_fitted(self.name, self.codec)
        outputs = []
        for past in sources:
            window = codec.to_scale(codec.require_window(past))
            latent = self.components @ (window.ravel() - self.mean)
            predicted = (self.mean + latent @ self.components).reshape(window.shape)
            outputs.append(pack(codec.from_scale(predicted), latent))
        return outputs


mean_window = partial(PrincipalComponents, 0)
