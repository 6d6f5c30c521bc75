"""Recurrence: cells take one step, `unroll` walks, a `Stack` layers walks in one or both directions."""

from atento.recurrent.cells import GRU, LSTM, Cell, Elman, Hidden, Memory
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import Walk, unroll

__all__ = ["GRU", "LSTM", "Cell", "Elman", "Hidden", "Memory", "Stack", "Walk", "unroll"]
