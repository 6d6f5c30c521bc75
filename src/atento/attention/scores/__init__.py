"""Alignment scores: how well a key answers a query."""
