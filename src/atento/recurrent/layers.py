"""Recurrent layers with torch's arguments: `RNN`, `LSTM`, `GRU`, and `OneToMany`, which writes a sequence of a vector.

They are batch first, and take ragged batches with a mask instead of packed sequences: padding may stand anywhere in a
row, never changes the result, and gives outputs of zero.
"""

from functools import partial
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError, unknown_name
from atento.layers.activations import RELU, TANH, Activation
from atento.layers.torch_arguments import refuse_arguments, require_tensor
from atento.recurrent.cells import Cell, ElmanCell, GRUCell, HiddenState, LSTMCell
from atento.recurrent.stack import Stack

# Axes: B batch, T time, I input, H hidden, D = directions·H, N = num_layers·directions, O output.

NONLINEARITIES: dict[str, Activation] = {"tanh": TANH, "relu": RELU}

Given = Literal["start", "always"]
GIVEN: tuple[Given, ...] = ("start", "always")


class RecurrentLayer(nn.Module):
    """Base of the layers: values (B, T, I) -> outputs (B, T, D) and the final state, built on a `Stack`.

    `activation` is that of the cell, which torch does not let choose; `to_torch` takes torch's alone.
    """

    torch_module: ClassVar[type[nn.RNNBase]]
    cell: ClassVar[type[Cell[Any]]]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *,
        bidirectional: bool = False,
        dropout: float = 0.0,
        activation: Activation = TANH,
        **unknown: object,
    ) -> None:
        super().__init__()
        refuse_arguments(type(self).__name__, unknown)
        cell = partial(self.cell, activation=activation)
        self.stack = Stack(
            cell, input_size, hidden_size, layers=num_layers, bidirectional=bidirectional, dropout=dropout
        )

    def forward(
        self,
        values: Tensor,
        valid: Tensor | None = None,
        state: Tensor | tuple[Tensor, Tensor] | None = None,
        **unknown: object,
    ) -> tuple[Tensor, Any]:
        """Outputs (B, T, D) of values (B, T, I), and the state after each row's own last valid step.

        valid (B, T): True for real steps; None: all are. `state` None: zeros.
        """
        refuse_arguments(type(self).__name__, unknown)
        if isinstance(valid, tuple) or (valid is not None and valid.dim() == 3):
            raise InputError(
                f"{type(self).__name__}: the second argument is valid (B, T); torch's is the state.",
                found="a state" if isinstance(valid, tuple) else f"a tensor {tuple(valid.shape)}",
                fix="give the state by name: layer(values, state=state)",
            )
        first = None if state is None else self.cell_states(state, values)
        outputs, last = self.stack(values, first, valid=valid)
        final = self.cell.state_type(*(torch.stack(parts) for parts in zip(*last, strict=True)))
        return outputs, final.hidden if isinstance(final, HiddenState) else final

    def cell_states(self, state: Tensor | tuple[Tensor, Tensor], values: Tensor) -> tuple[Any, ...]:
        """A state in torch's form, tensors (N, B, H), as one state for each of the N cells."""
        require_tensor("values", values)
        parts = (state,) if isinstance(state, Tensor) else tuple(state)
        names, shape = self.cell.state_type._fields, (len(self.stack.cells), self.stack.hidden_size)
        if len(parts) != len(names) or any(part.dim() != 3 or part.shape[::2] != shape for part in parts):
            raise InputError(
                f"{type(self).__name__}: state must be {' and '.join(names)} (num_layers·directions, B, hidden_size).",
                found=f"state {', '.join(str(tuple(part.shape)) for part in parts)}",
                fix=f"give {len(names)} of shape ({shape[0]}, B, {shape[1]}), as an earlier call returned",
            )
        if parts[0].size(1) != values.size(0):
            is_time_first = values.dim() == 3 and parts[0].size(1) == values.size(1)
            raise InputError(
                f"{type(self).__name__}: state must have a row for each row of values (B, T, D).",
                found=f"values {tuple(values.shape)}, state {tuple(parts[0].shape)}",
                fix="give values batch first: values.transpose(0, 1)" if is_time_first else "give as many rows to both",
            )
        return tuple(self.cell.state_type(*some) for some in zip(*parts, strict=True))

    @classmethod
    def from_torch(cls, module: nn.RNNBase) -> Self:
        """A layer with the weights of torch's module of the same name."""
        if not isinstance(module, cls.torch_module):
            raise InputError(
                f"{cls.__name__}.from_torch reads torch.nn.{cls.torch_module.__name__}.",
                found=type(module).__name__,
                fix=f"call {type(module).__name__}.from_torch, or Stack.from_torch for any of them",
            )
        layer = cls.__new__(cls)
        nn.Module.__init__(layer)
        layer.stack = Stack.from_torch(module)
        return layer.train(module.training)

    def to_torch(self) -> nn.RNNBase:
        """Torch's module (batch first) with the weights of this layer."""
        return self.stack.to_torch()


class RNN(RecurrentLayer):
    """Elman layers, as torch.nn.RNN: `nonlinearity` is tanh or relu. The state is h (N, B, H)."""

    torch_module, cell = nn.RNN, ElmanCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *,
        nonlinearity: str = "tanh",
        bidirectional: bool = False,
        dropout: float = 0.0,
        **unknown: object,
    ) -> None:
        if nonlinearity not in NONLINEARITIES:
            raise unknown_name("nonlinearity", nonlinearity, NONLINEARITIES, where="RNN")
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            bidirectional=bidirectional,
            dropout=dropout,
            activation=NONLINEARITIES[nonlinearity],
            **unknown,
        )


class GRU(RecurrentLayer):
    """Gated recurrent units, as torch.nn.GRU. The state is h (N, B, H)."""

    torch_module, cell = nn.GRU, GRUCell


class LSTM(RecurrentLayer):
    """Long short-term memory, as torch.nn.LSTM. The state is the pair h, c, each (N, B, H)."""

    torch_module, cell = nn.LSTM, LSTMCell


class OneToMany(nn.Module):
    """A recurrent decoder of one vector: vector (B, I) -> outputs (B, T, O).

    The vector is the input of the first step (`given="start"`, later inputs are zeros) or of every step ("always").
    """

    def __init__(self, stack: Stack, output: nn.Module, *, given: Given = "start") -> None:
        super().__init__()
        if given not in GIVEN:
            raise unknown_name("value of given", given, GIVEN, where="OneToMany")
        if stack.directions == 2:
            raise InputError(
                "OneToMany: the stack must have one direction, so that no step depends on later ones.",
                found="a bidirectional stack",
                fix="make the stack with bidirectional=False",
            )
        self.stack, self.output, self.given = stack, output, given

    def forward(self, vector: Tensor, steps: int) -> Tensor:
        """The first `steps` outputs (B, T, O) of each vector."""
        size = self.stack.cell(0).input_size
        if vector.dim() != 2 or vector.size(1) != size or steps < 1:
            raise InputError(
                "OneToMany: vector must have one row for each sequence, and steps must be at least 1.",
                found=f"vector {tuple(vector.shape)}, steps={steps}",
                fix=f"give vectors (B, {size}) and steps of 1 or more",
            )
        inputs = vector.unsqueeze(1)
        inputs = (
            inputs.expand(-1, steps, -1) if self.given == "always" else functional.pad(inputs, (0, 0, 0, steps - 1))
        )
        return self.output(self.stack(inputs).outputs)
