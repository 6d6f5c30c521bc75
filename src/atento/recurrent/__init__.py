"""Recurrent networks, batch first, with ragged batches given by a mask.

- `layers`: RNN, LSTM and GRU with torch's arguments, and OneToMany, which writes a sequence from one vector.
- `stack`: Stack, layers of any cell in one or both directions.
- `cells`: one time step each: ElmanCell, JordanCell, LSTMCell, GRUCell, GRUResetBeforeCell, MGUCell, and
  OutputLayer; `parallel_cells`: MinGRUCell and MinLSTMCell, whose gates read the input alone.
- `unroll`: a cell over a whole sequence, on its own states or (teacher_forced_outputs) on true outputs; chunks of time
  and nested states; `cpu`: walks over whole sequences on a CPU; `scan`: linear recurrences in parallel.
- `gradient_flow`: norms of gradients against lag, singular values and gates; `suggestions`: what to change.
"""

from atento.recurrent.cells import (
    Cell,
    ElmanCell,
    GRUCell,
    GRUResetBeforeCell,
    HiddenState,
    JordanCell,
    LSTMCell,
    LSTMState,
    MGUCell,
    OutputLayer,
)
from atento.recurrent.layers import GRU, LSTM, RNN, OneToMany
from atento.recurrent.parallel_cells import MinGRUCell, MinLSTMCell, ParallelCell
from atento.recurrent.scan import linear_recurrence
from atento.recurrent.stack import Stack, StackOutput
from atento.recurrent.unroll import UnrollOutput, chunks, map_state, teacher_forced_outputs, unroll

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "Cell",
    "ElmanCell",
    "GRUCell",
    "GRUResetBeforeCell",
    "HiddenState",
    "JordanCell",
    "LSTMCell",
    "LSTMState",
    "MGUCell",
    "MinGRUCell",
    "MinLSTMCell",
    "OneToMany",
    "OutputLayer",
    "ParallelCell",
    "Stack",
    "StackOutput",
    "UnrollOutput",
    "chunks",
    "linear_recurrence",
    "map_state",
    "teacher_forced_outputs",
    "unroll",
]
