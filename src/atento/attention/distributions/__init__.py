"""Distributions: how scores become weights."""
