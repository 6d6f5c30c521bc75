"""Recurrence: cells take one step, `unroll` walks, a `Stack` layers walks in one or both directions."""

from atento.recurrent.cells import Cell, Hidden, Memory
from atento.recurrent.gated import GRU, LSTM, GRUBefore
from atento.recurrent.one_to_many import OneToMany
from atento.recurrent.simple import Elman, Jordan, Output
from atento.recurrent.stack import Stack
from atento.recurrent.teaching import teach
from atento.recurrent.truncate import unroll_truncated
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
