"""Readers of one file format each: bytes or text to rows and columns."""
