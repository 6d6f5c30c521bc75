"""Baselines of dynamical systems: one step ahead is learned, and a forecast is the rollout on its own output.

`Reservoir().fit([trajectory]).rollout(pasts, steps)`
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Self

import numpy as np
from numpy.typing import NDArray

from atento.baselines.ridge import ridge_regression
from atento.baselines.validation import require_fitted
from atento.errors import InputError

# Axes: R runs or rows, T time, L past, H horizon, C channels, P delays, F monomials, N units.

Numbers = NDArray[np.float64]

DEGREE_NAMES = {1: "linear", 2: "quadratic", 3: "cubic"}


class RolloutBaseline(ABC):
    """Standardizes by the training trajectories; leaves fit and roll out on that scale."""

    name: str
    summary: str
    min_past: int  # steps of the past that a rollout needs

    def __init__(self) -> None:
        self.fitted: bool | None = None
        self.mean: Numbers = np.zeros(1)  # (C,)
        self.std: Numbers = np.ones(1)  # (C,)

    def fit(self, trajectories: Sequence[Numbers]) -> Self:
        """Learn from trajectories (T, C)."""
        if not any(len(values) > self.min_past + 1 for values in trajectories):
            raise InputError(
                f"{self.name} learns from trajectories of more than {self.min_past + 1} rows.",
                found=f"the longest has {max(map(len, trajectories), default=0)}",
                fix="give longer ones",
            )
        together = np.concatenate(list(trajectories))
        self.mean, std = together.mean(axis=0), together.std(axis=0)
        self.std = np.where(std > 0, std, 1.0)
        self.fitted = True
        self.fit_scaled([(values - self.mean) / self.std for values in trajectories if len(values) > self.min_past + 1])
        return self

    def rollout(self, pasts: Numbers, steps: int) -> Numbers:
        """The next steps (R, H, C) of pasts (R, L, C), each from those before it."""
        require_fitted(self.name, self.fitted)
        if pasts.ndim != 3 or pasts.shape[1] < self.min_past or pasts.shape[2:] != self.std.shape:
            raise InputError(
                f"{self.name} needs a past of at least {self.min_past} rows of {len(self.std)} channels.",
                found=f"pasts of shape {pasts.shape}",
                fix="give (runs, rows, channels)",
            )
        with np.errstate(over="ignore", invalid="ignore"):  # a run may diverge to infinity
            return self.rollout_scaled((pasts - self.mean) / self.std, steps) * self.std + self.mean

    @abstractmethod
    def fit_scaled(self, trajectories: Sequence[Numbers]) -> None:
        """Learn from standardized trajectories (T, C)."""

    @abstractmethod
    def rollout_scaled(self, pasts: Numbers, steps: int) -> Numbers:
        """The next steps (R, H, C) of standardized pasts (R, L, C)."""


class Polynomial(RolloutBaseline):
    """y_{t+1} = y_t + W φ(y_t, …, y_{t−P+1}); φ are all monomials up to a degree (Gauthier et al., 2021, eq. 5).

    W by ridge regression; the rows of a trajectory are evenly spaced in time.
    """

    def __init__(self, *, degree: int = 2, delays: int = 2, penalty: float = 1e-10) -> None:
        super().__init__()
        if degree < 1 or delays < 1 or not penalty >= 0:
            raise InputError(
                "degree and delays must be at least 1, and penalty at least 0.",
                found=f"degree={degree}, delays={delays}, penalty={penalty}",
                fix="degree=2, delays=2",
            )
        self.degree, self.min_past, self.penalty = degree, delays, penalty
        self.name = f"{DEGREE_NAMES.get(degree, f'degree-{degree}')}-on-{delays}-delay{'s' * (delays > 1)}"
        self.summary = f"the change as a polynomial of degree {degree} of the last {delays} states"
        self.weights: Numbers = np.zeros((0, 0))  # (F, C)

    def fit_scaled(self, trajectories: Sequence[Numbers]) -> None:
        """Solve for the weights of all monomials, from every row with a long enough past."""
        pasts = [self.monomials(delayed_rows(values[:-1], self.min_past)) for values in trajectories]
        changes = [np.diff(values, axis=0)[self.min_past - 1 :] for values in trajectories]
        self.weights = ridge_regression(np.concatenate(pasts), np.concatenate(changes), self.penalty)

    def rollout_scaled(self, pasts: Numbers, steps: int) -> Numbers:
        """Step by step."""
        states = [pasts[:, place] for place in range(-self.min_past, 0)]  # (R, C) each, the last state last
        for _ in range(steps):
            features = self.monomials(np.concatenate(states[: -self.min_past - 1 : -1], axis=1))
            states.append(states[-1] + features @ self.weights)
        return np.stack(states[self.min_past :], axis=1)

    def monomials(self, states: Numbers) -> Numbers:
        """(R, P C) -> (R, F): 1, each number, each product of two, …"""
        columns = [np.ones(len(states))]
        for degree in range(1, self.degree + 1):
            for chosen in combinations_with_replacement(range(states.shape[1]), degree):
                columns.append(states[:, chosen].prod(axis=1))
        return np.stack(columns, axis=1)


def delayed_rows(values: Numbers, delays: int) -> Numbers:
    """(T, C) -> (T − P + 1, P C): each row followed by the rows before it, the latest first."""
    rows = len(values) - delays + 1
    return np.concatenate([values[delays - 1 - lag :][:rows] for lag in range(delays)], axis=1)


class Reservoir(RolloutBaseline):
    """h_t = (1 − α) h_{t−1} + α tanh(A h_{t−1} + W_in y_t + b), ŷ_{t+1} = y_t + W_out (h_t, h_t², 1).

    An echo state network (Jaeger, 2001; Pathak et al., 2018, eqs. 1–3, where half of the units are squared). A is
    sparse, with some connections per unit, and has the given spectral radius. Only W_out is learned, by ridge
    regression.
    """

    name = "reservoir"
    summary = "a random recurrent network with a linear read-out"

    def __init__(
        self,
        *,
        units: int = 300,
        spectral_radius: float = 0.4,
        connections: int = 6,
        input_scale: float = 0.5,
        bias_scale: float = 0.5,
        leak: float = 1.0,
        penalty: float = 1e-11,
        washout: int = 50,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if units < 1 or not 1 <= connections <= units or not 0 < leak <= 1 or washout < 1 or not penalty >= 0:
            raise InputError(
                "a reservoir needs units, from 1 connection per unit to all, a leak in (0, 1] and a washout.",
                found=f"units={units}, connections={connections}, leak={leak}, washout={washout}, penalty={penalty}",
                fix="Reservoir(units=300, connections=6, leak=1.0, washout=50)",
            )
        self.units, self.spectral_radius, self.connections = units, spectral_radius, connections
        self.input_scale, self.bias_scale = input_scale, bias_scale
        self.leak, self.penalty, self.seed = leak, penalty, seed
        self.min_past = washout  # steps after which the zero start no longer matters
        self.recurrent_weights: Numbers = np.zeros((0, 0))  # Aᵀ (N, N)
        self.input_weights: Numbers = np.zeros((0, 0))  # W_inᵀ (C, N)
        self.bias: Numbers = np.zeros(0)  # b (N,)
        self.output_weights: Numbers = np.zeros((0, 0))  # W_outᵀ (2 N + 1, C)

    def fit_scaled(self, trajectories: Sequence[Numbers]) -> None:
        """Draw the network, run it along the trajectories, and solve for the read-out."""
        self.draw_weights(trajectories[0].shape[1])
        features, changes = [], []
        for values in trajectories:
            states = self.run(values[None, :-1])[0]  # (T − 1, N)
            features.append(readout_features(states[self.min_past - 1 :]))
            changes.append(np.diff(values, axis=0)[self.min_past - 1 :])
        self.output_weights = ridge_regression(np.concatenate(features), np.concatenate(changes), self.penalty)

    def draw_weights(self, channels: int) -> None:
        """Draw the weights that are not trained."""
        random = np.random.default_rng(self.seed)
        weights = np.zeros((self.units, self.units))
        for unit in range(self.units):
            values = random.uniform(-1.0, 1.0, self.connections)
            weights[random.choice(self.units, self.connections, replace=False), unit] = values
        self.recurrent_weights = weights * (self.spectral_radius / np.abs(np.linalg.eigvals(weights)).max())
        self.input_weights = random.uniform(-self.input_scale, self.input_scale, (channels, self.units))
        self.bias = random.uniform(-self.bias_scale, self.bias_scale, self.units)

    def run(self, values: Numbers) -> Numbers:
        """The states (R, L, N) after each of the values (R, L, C), from zero on."""
        state = np.zeros((len(values), self.units))
        states = np.empty((*values.shape[:2], self.units))
        for place in range(values.shape[1]):
            state = states[:, place] = self.step(state, values[:, place])
        return states

    def step(self, state: Numbers, value: Numbers) -> Numbers:
        """State (R, N) and value (R, C) -> the next state."""
        content = np.tanh(state @ self.recurrent_weights + value @ self.input_weights + self.bias)
        return np.asarray((1 - self.leak) * state + self.leak * content)

    def rollout_scaled(self, pasts: Numbers, steps: int) -> Numbers:
        """Run along the pasts, then on its own output."""
        state, value = self.run(pasts)[:, -1], pasts[:, -1]
        found = np.empty((len(pasts), steps, pasts.shape[2]))
        for place in range(steps):
            value = found[:, place] = value + readout_features(state) @ self.output_weights
            state = self.step(state, value)
        return found


def readout_features(states: Numbers) -> Numbers:
    """(R, N) -> (R, 2 N + 1): the states, their squares and 1."""
    return np.concatenate([states, np.square(states), np.ones((len(states), 1))], axis=1)
