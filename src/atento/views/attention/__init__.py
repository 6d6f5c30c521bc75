"""Attention weights in the terminal, as an image and as a page."""
