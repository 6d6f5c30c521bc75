"""Bytes: opening, decoding and archives."""
