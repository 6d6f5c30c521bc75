"""Dynamical systems: equations, their trajectories, and how fast two of these part."""

from atento.data.dynamics.embedding import embed, likely_lag
from atento.data.dynamics.flows import Lorenz, Rossler, lorenz, rossler
from atento.data.dynamics.lyapunov import lyapunov_exponent
from atento.data.dynamics.trajectories import trajectory

__all__ = ["Lorenz", "Rossler", "embed", "likely_lag", "lorenz", "lyapunov_exponent", "rossler", "trajectory"]
