"""Extents: which keys each query may attend to."""
