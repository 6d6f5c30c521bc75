"""Simple models of a state: one step ahead is learned, and its outcome is read again, as often as steps are asked.

A source to learn from has `values` (T, C); one to go on from has `values` (L, C) and `known` (L + H, K), which says how
far. Plain arrays do as well: `Reservoir().learn_from([array]).extend(pasts, steps)`.

The next state as a polynomial of the last ones, in closed form.
A reservoir: a random recurrent net that is never trained, and a read-out in closed form.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_pairs
from atento.errors import InputError

# Axes: R runs, T time, L past, H horizon, C channels.

Numbers = NDArray[np.float64]


class FreeRunning(ABC):
    """Owns the scale, which is the training part's; leaves learn and run on it."""

    name: str
    summary: str
    shortest: int  # steps of the past that a run needs

    def __init__(self) -> None:
        self.fitted: bool | None = None
        self.mean: Numbers = np.zeros(1)  # (C,)
        self.spread: Numbers = np.ones(1)  # (C,)

    def fit(self, sources: Sequence[Any], targets: Sequence[Any]) -> Any:
        """Learn from series."""
        require_pairs(self.name, sources, targets)
        return self.learn_from([source.values for source in sources])

    def learn_from(self, series: Sequence[Numbers]) -> Any:
        """Learn from trajectories (T, C)."""
        if not any(len(values) > self.shortest + 1 for values in series):
            raise InputError(
                f"{self.name} learns from series of more than {self.shortest + 1} rows.",
                found=f"the longest has {max(map(len, series), default=0)}",
                fix="give longer ones",
            )
        together = np.concatenate(list(series))
        self.mean, self.spread = together.mean(axis=0), together.std(axis=0)
        self.spread = np.where(self.spread > 0, self.spread, 1.0)
        self.fitted = True
        self.learn([(values - self.mean) / self.spread for values in series if len(values) > self.shortest + 1])
        return self

    def predict(self, sources: Sequence[Any]) -> list[Numbers]:
        """What comes after each past, (H, C) each."""
        require_fitted(self.name, self.fitted)
        found: list[Numbers] = [np.zeros(0)] * len(sources)
        shapes: dict[tuple[int, int], list[int]] = {}
        for place, source in enumerate(sources):
            shapes.setdefault((len(source.values), len(source.known) - len(source.values)), []).append(place)
        for (_, steps), places in shapes.items():
            runs = self.extend(np.stack([sources[place].values for place in places]), steps)
            for place, run in zip(places, runs, strict=True):
                found[place] = run
        return found

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """The next steps (R, H, C) of pasts (R, L, C), each from what was said before."""
        require_fitted(self.name, self.fitted)
        if pasts.ndim != 3 or pasts.shape[1] < self.shortest or pasts.shape[2:] != self.spread.shape:
            raise InputError(
                f"{self.name} goes on from {self.shortest} rows at least, of {len(self.spread)} channels each.",
                found=f"pasts of shape {pasts.shape}",
                fix="give (runs, rows, channels)",
            )
        with np.errstate(over="ignore", invalid="ignore"):  # a run that goes to infinity says so itself
            return self.run((pasts - self.mean) / self.spread, steps) * self.spread + self.mean

    @abstractmethod
    def learn(self, series: Sequence[Numbers]) -> None:
        """Learn from trajectories (T, C) on scale."""

    @abstractmethod
    def run(self, pasts: Numbers, steps: int) -> Numbers:
        """The next steps (R, H, C) of pasts (R, L, C) on scale."""


def ridge(features: Numbers, wanted: Numbers, penalty: float) -> Numbers:
    """W = (XᵀX + α n I)⁻¹ Xᵀ Y, with X (n, F), Y (n, C) -> (F, C)."""
    gram = features.T @ features
    gram[np.diag_indices_from(gram)] += penalty * len(features)
    return np.asarray(np.linalg.solve(gram, features.T @ wanted))


# Axes: R rows or runs, P delays, C channels, F monomials.

NAMES = {1: "linear", 2: "quadratic", 3: "cubic"}


class Polynomial(FreeRunning):
    """y_{t+1} = y_t + W φ(y_t, …, y_{t−P+1}); φ are all monomials up to a degree (Gauthier et al., 2021, eq. 5).

    By ridge regression; the rows are one after the other, with no gap.
    """

    def __init__(self, *, degree: int = 2, delays: int = 2, penalty: float = 1e-10) -> None:
        super().__init__()
        if degree < 1 or delays < 1 or not penalty >= 0:
            raise InputError(
                "degree and delays are 1 at least, penalty 0.",
                found=f"degree={degree}, delays={delays}, penalty={penalty}",
                fix="degree=2, delays=2",
            )
        self.degree, self.shortest, self.penalty = degree, delays, penalty
        self.name = f"{NAMES.get(degree, f'degree-{degree}')}-on-{delays}-delay{'s' * (delays > 1)}"
        self.summary = f"the change as a polynomial of degree {degree} of the last {delays} states"
        self.weights: Numbers = np.zeros((0, 0))  # (F, C)

    def learn(self, series: Sequence[Numbers]) -> None:
        """The weights of all monomials, from every row that has enough before it."""
        pasts = [self.monomials(delayed(values[:-1], self.shortest)) for values in series]
        changes = [np.diff(values, axis=0)[self.shortest - 1 :] for values in series]
        self.weights = ridge(np.concatenate(pasts), np.concatenate(changes), self.penalty)

    def run(self, pasts: Numbers, steps: int) -> Numbers:
        """Step by step."""
        states = [pasts[:, place] for place in range(-self.shortest, 0)]  # (R, C) each, the last state last
        for _ in range(steps):
            features = self.monomials(np.concatenate(states[: -self.shortest - 1 : -1], axis=1))
            states.append(states[-1] + features @ self.weights)
        return np.stack(states[self.shortest :], axis=1)

    def monomials(self, states: Numbers) -> Numbers:
        """(R, P C) -> (R, F): 1, each number, each product of two, …"""
        columns = [np.ones(len(states))]
        for degree in range(1, self.degree + 1):
            for chosen in combinations_with_replacement(range(states.shape[1]), degree):
                columns.append(states[:, chosen].prod(axis=1))
        return np.stack(columns, axis=1)


def delayed(values: Numbers, delays: int) -> Numbers:
    """(T, C) -> (T − P + 1, P C): each row with those before it, itself first."""
    rows = len(values) - delays + 1
    return np.concatenate([values[delays - 1 - lag :][:rows] for lag in range(delays)], axis=1)


# Axes: R runs, T time, L past, H horizon, C channels, N units.


class Reservoir(FreeRunning):
    """h_t = (1 − α) h_{t−1} + α tanh(A h_{t−1} + W_in y_t + b), ŷ_{t+1} = W_out (h_t, h_t²)  (Jaeger, 2001; Pathak et
    al., 2018, eqs. 1–3, where half of the units are squared; here both are read, and the change is).

    A is sparse, with `links` a unit, and has the spectral radius asked for. Only W_out is learned, by ridge regression.
    """

    name = "reservoir"
    summary = "a random recurrent net with a linear read-out"

    def __init__(
        self,
        *,
        units: int = 300,
        radius: float = 0.4,
        links: int = 6,
        reading: float = 0.5,
        bias: float = 0.5,
        leak: float = 1.0,
        penalty: float = 1e-11,
        settle: int = 50,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if units < 1 or not 1 <= links <= units or not 0 < leak <= 1 or settle < 1 or not penalty >= 0:
            raise InputError(
                "a reservoir has units, links among them, a leak of at most 1 and some steps to settle.",
                found=f"units={units}, links={links}, leak={leak}, settle={settle}, penalty={penalty}",
                fix="Reservoir(units=300, links=6, leak=1.0, settle=50)",
            )
        self.units, self.radius, self.links, self.reading = units, radius, links, reading
        self.bias, self.leak, self.penalty, self.seed = bias, leak, penalty, seed
        self.shortest = settle  # steps after which the net has forgotten that it began with zeros
        self.inner: Numbers = np.zeros((0, 0))  # Aᵀ (N, N)
        self.inward: Numbers = np.zeros((0, 0))  # W_inᵀ (C, N)
        self.offset: Numbers = np.zeros(0)  # b (N,)
        self.outward: Numbers = np.zeros((0, 0))  # W_outᵀ (2 N + 1, C)

    def learn(self, series: Sequence[Numbers]) -> None:
        """Draw the net, walk it along the truth, and solve for the read-out."""
        self.draw(series[0].shape[1])
        features, changes = [], []
        for values in series:
            states = self.walk(values[None, :-1])[0]  # (T − 1, N)
            features.append(read_out(states[self.shortest - 1 :]))
            changes.append(np.diff(values, axis=0)[self.shortest - 1 :])
        self.outward = ridge(np.concatenate(features), np.concatenate(changes), self.penalty)

    def draw(self, channels: int) -> None:
        """The weights that stay as they are."""
        generator = np.random.default_rng(self.seed)
        self.inner = np.zeros((self.units, self.units))
        for unit in range(self.units):
            self.inner[generator.choice(self.units, self.links, replace=False), unit] = generator.uniform(
                -1.0, 1.0, self.links
            )
        self.inner *= self.radius / np.abs(np.linalg.eigvals(self.inner)).max()
        self.inward = generator.uniform(-self.reading, self.reading, (channels, self.units))
        self.offset = generator.uniform(-self.bias, self.bias, self.units)

    def walk(self, values: Numbers) -> Numbers:
        """The states (R, L, N) after each of the values (R, L, C), from zero on."""
        state = np.zeros((len(values), self.units))
        states = np.empty((*values.shape[:2], self.units))
        for place in range(values.shape[1]):
            state = states[:, place] = self.step(state, values[:, place])
        return states

    def step(self, state: Numbers, value: Numbers) -> Numbers:
        """State (R, N) and value (R, C) -> the next state."""
        content = np.tanh(state @ self.inner + value @ self.inward + self.offset)
        return np.asarray((1 - self.leak) * state + self.leak * content)

    def run(self, pasts: Numbers, steps: int) -> Numbers:
        """Read the past, then what it says itself."""
        state, value = self.walk(pasts)[:, -1], pasts[:, -1]
        found = np.empty((len(pasts), steps, pasts.shape[2]))
        for place in range(steps):
            value = found[:, place] = value + read_out(state) @ self.outward
            state = self.step(state, value)
        return found


def read_out(states: Numbers) -> Numbers:
    """(R, N) -> (R, 2 N + 1): the states, their squares and 1."""
    return np.concatenate([states, np.square(states), np.ones((len(states), 1))], axis=1)
