"""Dynamical systems: equations, their trajectories, and how fast two of these part."""

from atento.data.dynamics.analysis import embed, likely_lag, lyapunov_exponent
from atento.data.dynamics.systems import Lorenz, Rossler, lorenz, rossler, trajectory

__all__ = ["Lorenz", "Rossler", "embed", "likely_lag", "lorenz", "lyapunov_exponent", "rossler", "trajectory"]
