"""The next state as a polynomial of the last ones, in closed form."""

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from atento.baselines.free_running import FreeRunning, Numbers, ridge
from atento.errors import InputError

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
