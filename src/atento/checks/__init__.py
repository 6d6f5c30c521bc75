"""Contracts a user can run on any model or module: padding, batch, future, cache, gradients, weights."""

from atento.checks.check import check
from atento.checks.finding import Checked, Finding

__all__ = ["Checked", "Finding", "check"]
