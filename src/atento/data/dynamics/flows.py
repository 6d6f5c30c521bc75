"""Two systems that never repeat themselves: Rössler's band and Lorenz's butterfly."""

from dataclasses import dataclass

import numpy as np

from atento.data.dynamics.trajectories import Numbers, trajectory

# Axes: T time; the three coordinates are x, y, z.

COORDINATES = ("x", "y", "z")


@dataclass(frozen=True)
class Rossler:
    """ẋ = −y − z, ẏ = x + a y, ż = b + z (x − c)  (Rössler, 1976, eq. 2)."""

    a: float = 0.2
    b: float = 0.2
    c: float = 5.7

    def __call__(self, time: float, state: Numbers) -> tuple[float, float, float]:
        """The rate of change of one state."""
        x, y, z = state
        return -y - z, x + self.a * y, self.b + z * (x - self.c)


@dataclass(frozen=True)
class Lorenz:
    """ẋ = σ (y − x), ẏ = x (ρ − z) − y, ż = x y − β z  (Lorenz, 1963, eqs. 25–27)."""

    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8 / 3

    def __call__(self, time: float, state: Numbers) -> tuple[float, float, float]:
        """The rate of change of one state."""
        x, y, z = state
        return self.sigma * (y - x), x * (self.rho - z) - y, x * y - self.beta * z


def rossler(steps: int = 10_000, *, step: float = 0.1, seed: int = 0, flow: Rossler | None = None) -> Numbers:
    """A stretch (T, 3) of Rössler's attractor; another seed, another stretch."""
    start = np.random.default_rng(seed).uniform((-5.0, -5.0, 0.0), (5.0, 5.0, 0.1))
    return trajectory(flow or Rossler(), start, step=step, steps=steps, settle=200.0)


def lorenz(steps: int = 10_000, *, step: float = 0.02, seed: int = 0, flow: Lorenz | None = None) -> Numbers:
    """A stretch (T, 3) of Lorenz's attractor; another seed, another stretch."""
    start = np.random.default_rng(seed).uniform((-10.0, -10.0, 15.0), (10.0, 10.0, 35.0))
    return trajectory(flow or Lorenz(), start, step=step, steps=steps, settle=50.0)
