"""Stacked ridge regression over spans of time: ridge regressions of several strengths, each shrunk to each of several
priors, averaged by the shares that err least on spans that were held out (stacked regressions of Breiman, 1996).

All forecasts are linear in their inputs, and so is their mean: what is found is one matrix and a bias.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from atento.baselines.ridge import Numbers, RegressionSums

# Axes: P inputs, O outputs, K candidates, F folds.

SPANS = 10  # that the time is cut into, of equally many windows
FIRST_ORIGIN = 6  # rolling origins: this span and each after it, learned from those before
BLOCK = 2  # spans that are held out together, with all others to learn from
MOST_GAP = 4  # spans left out between what is learned and what is held out
NO_WEIGHT = 1e9  # the strength that leaves the prior as it is
RIDGES = (1e-11, 1e-8, 1e-5, 1e-3, 1e-2, 0.1, 1.0, 10.0, NO_WEIGHT)


class SpanSums(NamedTuple):
    """The sums over the rows of a span."""

    learned: RegressionSums  # where rows may be weighed
    judged: RegressionSums


def stacked_ridge(
    spans: Sequence[SpanSums],
    priors: Sequence[Numbers],
    penalties: Numbers,
    *,
    gap: int,
    centred: bool,
) -> tuple[Numbers, Numbers]:
    """Weights (P, O) and bias (O,) from the sums of spans in the order of time, by priors (P, O) and penalties (P,).

    The errors of a fold count in proportion to the smallest among them, so that no wild span decides alone. The first
    prior as it is, the simplest candidate, is left only for a gain of more than one standard error over the folds.
    """

    def candidates(sums: RegressionSums) -> list[tuple[Numbers, Numbers]]:
        return sums.solve(*RIDGES, centred=centred, priors=priors, penalties=penalties)

    simplest = np.eye(len(RIDGES) * len(priors))[RIDGES.index(NO_WEIGHT)]
    products = [relative(held.error_products(candidates(learned))) for learned, held in folds(spans, gap)]
    shares = stacking_shares(np.mean(products, axis=0)) if products else simplest
    gains = np.array([simplest @ found @ simplest - shares @ found @ shares for found in products])  # (F,)
    if len(gains) < 2 or gains.mean() <= gains.std(ddof=1) / np.sqrt(len(gains)):
        shares = simplest
    solved = candidates(merged([span.learned for span in spans]))
    weights = sum((share * one for share, (one, _) in zip(shares, solved, strict=True)), np.zeros_like(priors[0]))
    return weights, sum((share * bias for share, (_, bias) in zip(shares, solved, strict=True)), 0 * solved[0][1])


def folds(spans: Sequence[SpanSums], gap: int) -> Iterator[tuple[RegressionSums, RegressionSums]]:
    """(learned, held out): rolling origins, and blocks with both sides to learn from, a gap of spans between.

    An origin says what the past teaches of the future; of a short series it has little past. A block is told all other
    times (Racine, 2000: hv-block cross-validation).
    """
    gap = min(gap, MOST_GAP)
    ends = [(first, first + 1, len(spans)) for first in range(FIRST_ORIGIN, len(spans))]
    ends += [(first, first + BLOCK, first + BLOCK + gap) for first in range(0, len(spans), BLOCK)]
    for first, last, on in ends:
        learned = merged([span.learned for span in (*spans[: max(0, first - gap)], *spans[on:])])
        held = merged([span.judged for span in spans[first:last]])
        if learned.rows and held.rows:
            yield learned, held


def merged(parts: Sequence[RegressionSums]) -> RegressionSums:
    """The sums over all parts that have rows; of none, no rows."""
    found = RegressionSums.of_nothing()
    for sums in parts:
        if sums.rows:
            found = found.merged(sums) if found.rows else sums
    return found


def relative(products: Numbers) -> Numbers:
    """Products of errors (K, K) in units of the smallest mean squared error."""
    errors = products.diagonal()
    exact = np.finfo(np.float64)
    return products / max(float(errors.min()), exact.eps * float(errors.max()), exact.tiny)  # some fit all but rounding


def stacking_shares(products: Numbers) -> Numbers:
    """The shares s (K,) ≥ 0, Σ s = 1, of least error sᵀQs, Q (K, K) the mean products of the candidates' errors.

    s is proportional to the u ≥ 0 of least uᵀQu − 2 Σ u: a problem of non-negative least squares.
    """
    from scipy.optimize import nnls  # slow to load

    eigenvalues, directions = np.linalg.eigh(products)
    root = np.sqrt(eigenvalues.clip(min=0.0))[:, None] * directions.T  # Q = RᵀR
    found, _ = nnls(np.vstack([root, np.ones(len(root))]), np.append(np.zeros(len(root)), 1.0), maxiter=100 * len(root))
    return np.asarray(found / found.sum())
