"""Alignment scores: how a query and a key are compared."""
