"""Recurrence: cells take one step, `unroll` walks, a `Stack` layers walks in one or both directions."""

from atento.recurrent.cells import GRU, LSTM, Cell, Elman, GRUBefore, Hidden, Jordan, Memory, Output
from atento.recurrent.output_recurrence import OneToMany, teach
from atento.recurrent.stack import Stack
from atento.recurrent.truncated import unroll_truncated
from atento.recurrent.unroll import Walk, unroll

__all__ = [
    "GRU",
    "LSTM",
    "Cell",
    "Elman",
    "GRUBefore",
    "Hidden",
    "Jordan",
    "Memory",
    "OneToMany",
    "Output",
    "Stack",
    "Walk",
    "teach",
    "unroll",
    "unroll_truncated",
]
