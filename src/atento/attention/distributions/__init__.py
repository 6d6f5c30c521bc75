"""Distributions: functions that turn scores into attention weights."""
