"""Contracts a user can run on any model or module: padding, batch, future, cache, gradients, weights."""

from atento.checking.check import check
from atento.checking.finding import Checked, Finding

__all__ = ["Checked", "Finding", "check"]
