"""Whole walks in one call: the same numbers as stepping, in less time."""
