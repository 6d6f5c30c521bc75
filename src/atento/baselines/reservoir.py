"""A reservoir: a random recurrent net that is never trained, and a read-out in closed form."""

from collections.abc import Sequence

import numpy as np

from atento.baselines.free_running import FreeRunning, Numbers, ridge
from atento.errors import InputError

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
