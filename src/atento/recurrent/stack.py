"""Walks on top of each other, in one or both directions."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.activations import RELU, TANH, Activation
from atento.recurrent.cells import GRU, LSTM, Cell, Elman, require_size
from atento.recurrent.unroll import Walk, unroll

# Axes: B batch, T time, I input, O output of a cell.

CellMaker = Callable[[int, int], Cell[Any]]  # input size, hidden size -> cell


class Stacked(NamedTuple):
    """What a stack leaves behind."""

    outputs: Tensor  # (B, T, directions·O) of the top layer
    last: tuple[Any, ...]  # one state a layer and direction: layer 0 forward, layer 0 backward, layer 1 ...


class Stack(nn.Module):
    """`layers` walks, each reading the one below, with dropout between. Both directions have weights of their own."""

    def __init__(
        self,
        make_cell: CellMaker,
        input_size: int,
        hidden_size: int,
        *,
        layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_size("layers", layers)
        self.directions = 2 if bidirectional else 1
        self.layers, self.hidden_size = layers, hidden_size
        self.cells = nn.ModuleList()
        self.output_size = input_size
        for _ in range(layers):
            cells = [make_cell(self.output_size, hidden_size) for _ in range(self.directions)]
            self.output_size = sum(cell.output_size for cell in cells)
            self.cells.extend(cells)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor, start: tuple[Any, ...] | None = None, *, valid: Tensor | None = None) -> Stacked:
        """Inputs (B, T, I) through all layers; `start` as `Stacked.last`; None: the cells' own starts."""
        last: list[Any] = []
        for layer in range(self.layers):
            inputs = inputs if layer == 0 else self.dropout(inputs)
            walks: list[Walk[Any]] = []
            for direction in range(self.directions):
                index = layer * self.directions + direction
                state = None if start is None else start[index]
                walks.append(unroll(self.cell(index), inputs, state, valid=valid, backward=direction == 1))
            inputs = torch.cat([walk.outputs for walk in walks], dim=-1)
            last.extend(walk.last for walk in walks)
        return Stacked(inputs, tuple(last))

    def start(self, like: Tensor) -> tuple[Any, ...]:
        """The cells' own starts, one row for each row of `like`."""
        return tuple(self.cell(index).start(like) for index in range(len(self.cells)))

    def step(self, input: Tensor, state: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
        """One step (B, I) of a one-directional stack: what `forward` does with a sequence of one."""
        moved = []
        for layer in range(self.layers):
            input = input if layer == 0 else self.dropout(input)
            moved.append(self.cell(layer)(input, state[layer]))
            input = moved[-1].hidden
        return input, tuple(moved)

    def cell(self, index: int) -> Cell[Any]:
        """The cell of a layer and direction."""
        cell = self.cells[index]
        if not isinstance(cell, Cell):
            raise TypeError(f"a stack holds cells, not {type(cell).__name__}")
        return cell

    @classmethod
    def from_torch(cls, module: nn.RNNBase) -> "Stack":
        """The same stack with the same weights as torch's RNN, LSTM or GRU."""
        form = (type(module), getattr(module, "nonlinearity", "tanh"))
        maker = next((ours for ours, theirs in TORCH.items() if theirs == form), None)
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
        ours.exchange(module, into_torch=False)
        return ours.train(module.training)

    def to_torch(self) -> nn.RNNBase:
        """Torch's module (batch first) with the same weights."""
        cell = self.cell(0)
        form = TORCH.get((type(cell), cell.activation))
        if form is None:
            raise InputError(
                f"torch has no module for the cell {type(cell).__name__} with {cell.activation.formula}.",
                fix="use Elman with tanh or relu, LSTM or GRU with tanh",
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
        self.exchange(theirs, into_torch=True)
        return theirs.train(self.training)

    @torch.no_grad()
    def exchange(self, module: nn.RNNBase, *, into_torch: bool) -> None:
        """Copy all weights one way or the other."""
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


TORCH: dict[tuple[Callable[..., Cell[Any]], Activation], tuple[Callable[..., nn.RNNBase], str]] = {
    (Elman, TANH): (nn.RNN, "tanh"),
    (Elman, RELU): (nn.RNN, "relu"),
    (LSTM, TANH): (nn.LSTM, "tanh"),
    (GRU, TANH): (nn.GRU, "tanh"),
}
