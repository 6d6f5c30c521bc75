"""Nearest neighbour under dynamic time warping (DTW).

D(i, j) = |x_i − y_j|² + min(D(i−1, j), D(i, j−1), D(i−1, j−1)) over all channels together, in a band |i − j| ≤ r
(Sakoe & Chiba, 1978, eq. 19 with symmetric steps of equal weight). Distances to all candidates are computed at once,
one anti-diagonal i + j after the other; a lower bound leaves out those that cannot be nearest (Keogh, 2002, eq. 10).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.baselines.validation import require_fitted, require_pairs

# Axes: K candidates, T time of the query, U time of the candidates, C channels.

Numbers = NDArray[np.float64]
Read = Callable[[str], Any]  # a text -> its steps (T, C)

BANDS = (0.0, 0.03, 0.1, 0.2)  # of the longer length; chosen on the training part
VALIDATED = 60  # training sequences whose nearest neighbours are searched, to choose the band
VALIDATED_AMONG = 300  # training sequences that are searched
MAX_LENGTH = 256  # steps; longer sequences are downsampled by the mean of neighbours
MAX_CELLS = 2.5e6  # of the distance tables of one query; beyond, a stratified sample of the candidates is used
QUARTILES = (0.25, 0.5, 0.75, 1.0)
AT_ONCE = 256  # candidates compared before the bound is applied again


class Candidates(NamedTuple):
    """Padded sequences, zeros after the end of the shorter ones."""

    values: Numbers  # (U, C, K)
    lengths: NDArray[np.int64]  # (K,)

    @classmethod
    def of(cls, rows: Sequence[Numbers]) -> "Candidates":
        """Pad sequences (U, C)."""
        lengths = np.array([len(row) for row in rows])
        values = np.zeros((int(lengths.max()), rows[0].shape[1], len(rows)))
        for place, row in enumerate(rows):
            values[: len(row), :, place] = row
        return cls(values, lengths)

    def some(self, places: NDArray[np.int64]) -> "Candidates":
        """A selection, padded to the longest of it."""
        lengths = self.lengths[places]
        return Candidates(np.ascontiguousarray(self.values[: lengths.max(), :, places]), lengths)


class DTWNearest:
    """The target of the nearest training sequence under dynamic time warping."""

    name = "warping"
    summary = "target of the training sequence nearest under dynamic time warping"
    state_types: ClassVar[tuple[type, ...]] = (Candidates,)

    def __init__(self, read: Read) -> None:
        self.read = read
        self.summary = DTWNearest.summary
        self.known: Candidates | None = None
        self.targets: list[str] = []
        self.scale: tuple[Numbers, Numbers] = (np.zeros(1), np.ones(1))
        self.band, self.stride = 0.0, 1

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "DTWNearest":
        """Store all sequences, standardized, and choose the band by leave-one-out accuracy."""
        require_pairs(self.name, sources, targets)
        rows = [np.asarray(self.read(source), dtype=np.float64) for source in sources]
        steps = np.concatenate(rows)
        std = steps.std(axis=0)
        self.scale = steps.mean(axis=0), np.where(std > 0, std, 1.0)
        self.stride = -(-int(np.median([len(row) for row in rows])) // MAX_LENGTH)
        self.known, self.targets = Candidates.of([self.prepare(row) for row in rows]), list(targets)
        self.band = self.choose_band()
        length = float(np.mean(self.known.lengths))
        places = stratified_sample(targets, max(1, int(MAX_CELLS / (length * (1 + 2 * self.band * length)))))
        if len(places) < len(targets):
            self.known, self.targets = self.known.some(places), [targets[place] for place in places]
        self.summary = f"{DTWNearest.summary}, band {self.band:.0%}"
        self.summary += f", means of {self.stride} steps" * (self.stride > 1)
        self.summary += f", {len(places):,} of {len(targets):,} training sequences" * (len(places) < len(targets))
        return self

    def prepare(self, steps: Numbers) -> Numbers:
        """A sequence (T, C), standardized by the training part and downsampled."""
        scaled = (steps - self.scale[0]) / self.scale[1]
        if self.stride == 1:
            return scaled
        starts = np.arange(0, len(scaled), self.stride)
        counts = np.diff(np.append(starts, len(scaled)))
        return np.add.reduceat(scaled, starts, axis=0) / counts[:, None]

    def choose_band(self) -> float:
        """The band with the best leave-one-out accuracy on the training part; of equal ones the narrowest."""
        among = stratified_sample(self.targets, VALIDATED_AMONG)
        queries = among[:: -(-len(among) // VALIDATED)]
        if self.known is None or len(among) < 2:
            return 0.0
        some, right = self.known.some(among), Counter[float]()
        for band in BANDS:
            for place in np.flatnonzero(np.isin(among, queries)):
                query = some.values[: some.lengths[place], :, place]
                near = among[nearest(query, some, band, without=int(place))]
                right[band] += self.targets[near] == self.targets[among[place]]
        return max(BANDS, key=lambda band: (right[band], -band))

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The target of the nearest sequence; of equally near ones the first."""
        require_fitted(self.name, self.known)
        if self.known is None or not len(sources):
            return []
        rows = [self.prepare(np.asarray(self.read(source), dtype=np.float64)) for source in sources]
        return [self.targets[nearest(row, self.known, self.band)] for row in rows]


def stratified_sample(targets: Sequence[str], most: int) -> NDArray[np.int64]:
    """The indices of at most so many examples, each label in its proportion."""
    if len(targets) <= most:
        return np.arange(len(targets))
    seen: Counter[str] = Counter()
    turns = []
    for target in targets:
        turns.append(seen[target])
        seen[target] += 1
    share = [turn / seen[target] for turn, target in zip(turns, targets, strict=True)]
    return np.sort(np.argsort(share, kind="stable")[:most])


def nearest(query: Numbers, known: Candidates, band: float, *, without: int = -1) -> int:
    """The index of the candidate nearest to a query (T, C); of equally near ones the first."""
    bounds = lower_bounds(query, known, band)
    if without >= 0:
        bounds[without] = np.inf
    order = np.argsort(bounds, kind="stable")
    best, place = np.inf, int(order[0])
    for first in range(0, len(order), AT_ONCE):
        some = order[first : first + AT_ONCE]
        some = np.sort(some[bounds[some] <= best])
        some = some[bounds[some] < np.inf]
        if not len(some):
            break
        distances = dtw_distances(query, known.some(some), band)
        found = int(distances.argmin())
        if (distances[found], some[found]) < (best, place) or best == np.inf:
            best, place = float(distances[found]), int(some[found])
    return place


def band_radius(time: int, lengths: NDArray[np.int64], band: float) -> NDArray[np.int64]:
    """The largest |i − j| (K,): a share of the longer length, at least the difference of the lengths."""
    longer = np.maximum(time, lengths)
    return np.maximum(np.ceil(band * longer).astype(np.int64), np.abs(time - lengths))


def dtw_distances(query: Numbers, known: Candidates, band: float) -> Numbers:
    """D(T, U) between a query (T, C) and each candidate: (K,)."""
    time, radius = len(query), band_radius(len(query), known.lengths, band)
    longest, widest = len(known.values), int(radius.max())
    equal_radius = bool((radius == widest).all())
    reversed_values = known.values[::-1]  # so that j falls while i rises
    ends: dict[int, list[int]] = {}
    for place, last_cell in enumerate((time - 1 + known.lengths - 1).tolist()):
        ends.setdefault(last_cell, []).append(place)
    found = np.full(len(radius), np.inf)
    before, last, now = (np.full((time + 2, len(radius)), np.inf) for _ in range(3))  # diagonals, i at row i + 1
    for diagonal in range(time + longest - 1):
        low = max(0, diagonal - longest + 1, -(-(diagonal - widest) // 2))
        high = min(time - 1, diagonal, (diagonal + widest) // 2)
        costs = now[low + 1 : high + 2]  # (i, K)
        now[low] = now[high + 2] = np.inf  # values of an older diagonal
        first = longest - 1 - diagonal + low
        squared_gaps(query[low : high + 1], reversed_values[first : first + high + 1 - low], costs)
        if diagonal:
            ways = np.minimum(last[low : high + 1], last[low + 1 : high + 2])  # from i − 1, and from j − 1
            costs += np.minimum(ways, before[low : high + 1], out=ways)
        if not equal_radius:
            costs[np.abs(2 * np.arange(low, high + 1) - diagonal)[:, None] > radius] = np.inf
        for place in ends.get(diagonal, ()):
            found[place] = now[time, place]
        before, last, now = last, now, before
    return found


def squared_gaps(query: Numbers, steps: Numbers, out: Numbers) -> None:
    """|x_i − y_i|² between steps (i, C) and those of every candidate (i, C, K), written to `out` (i, K)."""
    np.subtract(query[:, :1], steps[:, 0], out=out)
    out *= out
    for channel in range(1, query.shape[1]):
        gaps = query[:, channel, None] - steps[:, channel]
        gaps *= gaps
        out += gaps


def lower_bounds(query: Numbers, known: Candidates, band: float) -> Numbers:
    """Lower bounds (K,) of the distances: each step of a candidate is matched with one of the query within the band."""
    radius = band_radius(len(query), known.lengths, band)
    longest = len(known.values)
    real = np.arange(longest)[:, None] < known.lengths
    bounds = np.zeros(len(radius))
    # one envelope for all candidates of similar radius
    for widest in np.unique(np.quantile(radius, QUARTILES, method="higher")):
        places = np.flatnonzero((radius <= widest) & (bounds == 0))
        lowest, highest = envelope(query, longest, int(widest))
        values = known.values[:, :, places]
        apart = np.maximum(np.maximum(values - highest, lowest - values), 0.0)  # (U, C, K)
        bounds[places] = np.where(real[:, places], np.einsum("uck,uck->uk", apart, apart), 0.0).sum(axis=0)
    return bounds


def envelope(query: Numbers, longest: int, radius: int) -> tuple[Numbers, Numbers]:
    """The minimum and maximum (U, C, 1) of the query's steps that step u of a candidate can be matched with."""
    lowest, highest = (np.full((longest, query.shape[1]), fill) for fill in (np.inf, -np.inf))
    for shift in range(-radius, radius + 1):  # step u of a candidate with step u + shift of the query
        first, last = max(0, -shift), min(longest, len(query) - shift)
        if first < last:
            matched = query[first + shift : last + shift]
            np.minimum(lowest[first:last], matched, out=lowest[first:last])
            np.maximum(highest[first:last], matched, out=highest[first:last])
    return lowest[:, :, None], highest[:, :, None]
