"""Dynamical systems. systems: equations and their trajectories; analysis: delay embedding and Lyapunov exponents."""

from atento.data.dynamics.analysis import decorrelation_lag, delay_embedding, lyapunov_exponent
from atento.data.dynamics.systems import Lorenz, Rossler, lorenz, rossler, trajectory

__all__ = [
    "Lorenz",
    "Rossler",
    "decorrelation_lag",
    "delay_embedding",
    "lorenz",
    "lyapunov_exponent",
    "rossler",
    "trajectory",
]
