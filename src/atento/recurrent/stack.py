"""Stacked recurrent layers of any cell, in one or both directions.

`Stack` is what the models are built of; `atento.recurrent.LSTM`, `GRU` and `RNN` are the same with torch's arguments.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.activations import RELU, TANH, Activation
from atento.layers.dropout import Dropout, drop
from atento.layers.regularization import LockedDropout, require_probability
from atento.recurrent.cells import Cell, ElmanCell, GRUCell, LSTMCell, require_size
from atento.recurrent.unroll import UnrollOutput, unroll

# Axes: B batch, T time, I input, O output of a cell, G its product.

CellMaker = Callable[[int, int], Cell[Any]]  # input size, hidden size -> cell

TORCH_MODULES: dict[tuple[Callable[..., Cell[Any]], Activation], tuple[Callable[..., nn.RNNBase], str]] = {
    (ElmanCell, TANH): (nn.RNN, "tanh"),
    (ElmanCell, RELU): (nn.RNN, "relu"),
    (LSTMCell, TANH): (nn.LSTM, "tanh"),
    (GRUCell, TANH): (nn.GRU, "tanh"),
}


class StackOutput(NamedTuple):
    """The outputs and the final states of a stack."""

    outputs: Tensor  # (B, T, directions·O) of the top layer, zero at padding
    last: tuple[Any, ...]  # a state for each layer and direction: layer 0 forward, layer 0 backward, layer 1 ...


class Stack(nn.Module):
    """Recurrent layers one above another, with dropout between them; each direction has its own cell.

    While training, `recurrent_dropout` drops recurrent weights of each cell, once for a whole sequence (`forward`), and
    `locked` keeps one mask of the dropout between layers for all its steps (Merity et al., 2018, sec. 2 and 4.2).

    inputs (B, T, I) -> outputs (B, T, directions·O)
    """

    def __init__(
        self,
        make_cell: CellMaker,
        input_size: int,
        hidden_size: int,
        *,
        layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        locked: bool = False,
        recurrent_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_size("layers", layers)
        if recurrent_dropout:
            require_probability(recurrent_dropout)
        self.directions = 2 if bidirectional else 1
        self.layers, self.hidden_size = layers, hidden_size
        self.cells = nn.ModuleList()
        self.output_size = input_size
        for _ in range(layers):
            cells = [make_cell(self.output_size, hidden_size) for _ in range(self.directions)]
            self.output_size = sum(cell.output_size for cell in cells)
            self.cells.extend(cells)
        self.dropout = LockedDropout(dropout) if locked else Dropout(dropout)
        self.recurrent_dropout = recurrent_dropout

    def forward(
        self, inputs: Tensor, start: tuple[Any, ...] | None = None, *, valid: Tensor | None = None
    ) -> StackOutput:
        """Run all layers over inputs (B, T, I); `start` has the form of `StackOutput.last`, None: initial states."""
        last: list[Any] = []
        for layer in range(self.layers):
            inputs = inputs if layer == 0 else self.dropout(inputs)
            unrolled: list[UnrollOutput[Any]] = []
            for direction in range(self.directions):
                index = layer * self.directions + direction
                state = None if start is None else start[index]
                cell = self.cell(index)
                with dropped_recurrence(cell, self.recurrent_dropout if self.training else 0.0):
                    unrolled.append(unroll(cell, inputs, state, valid=valid, backward=direction == 1))
            inputs = (
                torch.cat([one.outputs for one in unrolled], dim=-1) if self.directions > 1 else unrolled[0].outputs
            )
            last.extend(one.last for one in unrolled)
        return StackOutput(inputs, tuple(last))

    def start(self, like: Tensor) -> tuple[Any, ...]:
        """The initial states of all cells, one row for each row of `like`."""
        return tuple(self.cell(index).start(like) for index in range(len(self.cells)))

    def start_from(self, hidden: Tensor) -> tuple[Any, ...]:
        """The initial states of a stack of one direction, with hidden vectors (B, layers·O) side by side."""
        parts = hidden.chunk(self.layers, dim=-1)
        return tuple(self.cell(layer).start(part)._replace(hidden=part) for layer, part in enumerate(parts))

    def step(self, input: Tensor, state: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
        """One time step (B, I) of a stack of one direction, with the same result as in `forward`."""
        return self.advance(self.cell(0).read(input), state)

    def advance(self, read: Tensor, state: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
        """The same, given the product W x + b (B, G) of the lowest cell's input."""
        moved = [self.cell(0).advance(read, state[0])]
        for layer in range(1, self.layers):
            moved.append(self.cell(layer)(self.dropout(moved[-1].hidden), state[layer]))
        return moved[-1].hidden, tuple(moved)

    def cell(self, index: int) -> Cell[Any]:
        """The cell of a layer and direction, in the order of `StackOutput.last`."""
        cell = self.cells[index]
        if not isinstance(cell, Cell):
            raise TypeError(f"a stack holds cells, not {type(cell).__name__}")
        return cell

    @classmethod
    def from_torch(cls, module: nn.RNNBase) -> "Stack":
        """A stack with the weights of torch's RNN, LSTM or GRU."""
        form = (type(module), getattr(module, "nonlinearity", "tanh"))
        maker = next((ours for ours, theirs in TORCH_MODULES.items() if theirs == form), None)
        if maker is None or not module.bias or module.proj_size:
            raise InputError(
                "from_torch reads torch's RNN, LSTM and GRU with biases and no projection.",
                found=repr(module),
                fix="make the module with bias=True and proj_size=0",
            )
        kind, activation = maker
        ours = cls(
            partial(kind, activation=activation),
            module.input_size,
            module.hidden_size,
            layers=module.num_layers,
            bidirectional=module.bidirectional,
            dropout=module.dropout,
        ).to(next(module.parameters()))
        ours.copy_weights(module, into_torch=False)
        return ours.train(module.training)

    def to_torch(self) -> nn.RNNBase:
        """Torch's module (batch first) with the weights of this stack."""
        cell = self.cell(0)
        form = TORCH_MODULES.get((type(cell), cell.activation))
        if form is None:
            raise InputError(
                f"torch has no module for {type(cell).__name__} with {cell.activation.formula}.",
                fix="use ElmanCell with tanh or relu, LSTMCell or GRUCell with tanh",
            )
        kind, nonlinearity = form
        theirs: nn.RNNBase = kind(
            cell.input_size,
            self.hidden_size,
            num_layers=self.layers,
            bidirectional=self.directions == 2,
            dropout=self.dropout.p if self.layers > 1 else 0.0,
            batch_first=True,
            **({"nonlinearity": nonlinearity} if kind is nn.RNN else {}),
        ).to(cell.read.weight)
        self.copy_weights(theirs, into_torch=True)
        return theirs.train(self.training)

    @torch.no_grad()
    def copy_weights(self, module: nn.RNNBase, *, into_torch: bool) -> None:
        """Copy all weights from torch's module, or into it."""
        for index in range(len(self.cells)):
            layer, direction = divmod(index, self.directions)
            suffix = f"_l{layer}" + ("_reverse" if direction else "")
            cell = self.cell(index)
            for ours, name in (
                (cell.read.weight, "weight_ih"),
                (cell.recur.weight, "weight_hh"),
                (cell.read.bias, "bias_ih"),
                (cell.recur.bias, "bias_hh"),
            ):
                theirs: Tensor = getattr(module, name + suffix)
                if into_torch:
                    theirs.copy_(ours)
                else:
                    ours.copy_(theirs)


@contextmanager
def dropped_recurrence(cell: Cell[Any], probability: float) -> Iterator[None]:
    """Within it a share of a cell's recurrent weights U is zero and the others are scaled by 1/(1 − p).

    (DropConnect, Wan et al., 2013.) The mask is drawn once, on the weight, so that every kernel for whole sequences
    runs as before.
    """
    if not probability:
        yield
        return
    weights = cell.recur._parameters
    whole = weights["weight"]
    weights["weight"] = drop(cell.recur.weight, probability)  # type: ignore[assignment]  # no parameter
    try:
        yield
    finally:
        weights["weight"] = whole
