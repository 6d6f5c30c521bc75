"""Extents: which keys a query may attend to."""
