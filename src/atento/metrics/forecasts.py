"""Errors of numbers: how far forecasts are from what came."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atento.errors import InputError


def mean_squared_error(outputs: ArrayLike, truth: ArrayLike) -> float:
    """The mean of (y − ŷ)² over all numbers; arrays of one shape."""
    return float(np.square(differences(outputs, truth)).mean())


def mean_absolute_error(outputs: ArrayLike, truth: ArrayLike) -> float:
    """The mean of |y − ŷ| over all numbers; arrays of one shape."""
    return float(np.abs(differences(outputs, truth)).mean())


def differences(outputs: ArrayLike, truth: ArrayLike) -> NDArray[np.float64]:
    """y − ŷ; nothing is broadcast."""
    said, came = np.asarray(outputs, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if said.shape != came.shape or not said.size:
        raise InputError(
            "forecasts and truth must have the same shape, and a number at least.",
            found=f"outputs {said.shape}, truth {came.shape}",
            fix=f"give outputs of shape {came.shape}" if came.size else "give a number",
        )
    return came - said
