"""A recurrent decoder that knows the source by its summary alone.

A recurrent decoder that looks at the source after each step.
A recurrent decoder that looks at the source before each step.
"""

from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.models.backbones.recurrent import Handover, RecurrentDecoder, RecurrentState, Walked
from atento.recurrent.stack import Stack

# Axes: B batch, T target time, I input, D size.


class FixedVectorDecoder(RecurrentDecoder):
    """s_t = f(s_{t−1}, y_{t−1}), where the one vector of the source is the first state (Sutskever et al., 2014), part
    of every input, or both (Cho et al., 2014, eq. 7). s_t predicts.
    """

    equation = "s_t = f(s_{t−1}, y_{t−1}, c)"

    def __init__(self, embedding: TokenEmbedding, stack: Stack, handover: Handover, *, dropout: float = 0.0) -> None:
        super().__init__(embedding, stack, handover, None, dropout=dropout)

    def move(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One cell step."""
        said, cells = self.stack.step(input, state.cells)
        return self.dropout(said), state._replace(cells=cells, at=state.at + 1)

    def walk(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> Walked:
        """One walk of the stack."""
        said, cells = self.stack(inputs, state.cells)
        return Walked(self.dropout(said), said, state._replace(cells=cells, at=state.at + inputs.size(1)))


# Axes: B batch, T target time, I input, D size, S source size.


class LuongDecoder(RecurrentDecoder):
    """s_t = f(s_{t−1}, y_{t−1}), then a context c_t by attention with s_t as query; tanh(W [c_t; s_t]) predicts
    (Luong et al., 2015, sec. 3). Nothing of c_t enters the recurrence, so a known target needs one pass of each part.
    """

    attention: Attention
    equation = "s_t = f(s_{t−1}, y_{t−1})"
    looks_carry = False

    def __init__(
        self,
        embedding: TokenEmbedding,
        stack: Stack,
        handover: Handover,
        attention: Attention,
        *,
        source_size: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(embedding, stack, handover, attention, dropout=dropout)
        self.join = nn.Linear(source_size + stack.output_size, stack.output_size)

    def move(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One cell step, one look at the source."""
        said, cells = self.stack.step(input, state.cells)
        features = self.attend(said.unsqueeze(1), state, at=state.at[:1]).squeeze(1)
        return features, state._replace(cells=cells, at=state.at + 1)

    def walk(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> Walked:
        """One walk of the stack, one attention for all its steps."""
        said, cells = self.stack(inputs, state.cells)
        features = self.attend(said, state, at=at)
        return Walked(features, said, state._replace(cells=cells, at=state.at + inputs.size(1)))

    def attend(self, said: Tensor, state: RecurrentState, *, at: Tensor | None) -> Tensor:
        """Join each step (B, T, D) with its context (B, T, S)."""
        context = self.attention.read(said, state.source, query_at=at)
        joined: Tensor = self.dropout(torch.tanh(self.join(torch.cat([context, said], dim=-1))))
        return joined


# Axes: B batch, T target time, I input, D size, S source size, G what a cell reads.


class BahdanauDecoder(RecurrentDecoder):
    """A context c_t by attention with s_{t−1} as query, then s_t = f(s_{t−1}, y_{t−1}, c_t) (Bahdanau et al., 2015,
    sec. 3.1): the lowest cell reads [y_{t−1}; c_t], the query is what the highest one said. As c_t enters the
    recurrence, a known target is walked step by step too; only the products of its tokens are taken at once.

    tanh(W [c_t; s_t]) predicts, where the paper (app. A.2.2) has a maxout of s_{t−1}, y_{t−1} and c_t: so this form
    and `LuongDecoder` differ in when they look and in nothing else.
    """

    attention: Attention
    equation = "s_{t−1}, before s_t = f(s_{t−1}, y_{t−1}, c_t)"

    def __init__(
        self,
        embedding: TokenEmbedding,
        stack: Stack,
        handover: Handover,
        attention: Attention,
        *,
        source_size: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(embedding, stack, handover, attention, dropout=dropout)
        widths = [embedding.size + handover.feed.added, source_size]
        if stack.cell(0).input_size != sum(widths):
            raise InputError(
                "BahdanauDecoder: the stack must read an input beside a context.",
                found=f"a stack that reads {stack.cell(0).input_size} features",
                fix=f"make it read {widths[0]} of the input and {widths[1]} of the context",
            )
        self.widths = widths
        self.join = nn.Linear(source_size + stack.output_size, stack.output_size)

    def move(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One look, one step."""
        walked = self.walk(input.unsqueeze(1), state)
        return walked.features.squeeze(1), walked.state

    def walk(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> Walked:
        """Look, step, look, step; the state knows where it stands."""
        lowest = self.stack.cell(0).read
        from_input, from_context = torch.split(lowest.weight, self.widths, dim=1)
        reads = nn.functional.linear(inputs, from_input, lowest.bias)  # (B, T, G), all at once
        asked, contexts, said = [], [], []
        for time in range(inputs.size(1)):
            asked.append(state.cells[-1].hidden)
            context = self.attention.read(asked[-1].unsqueeze(1), state.source, query_at=state.at[:1]).squeeze(1)
            cells = self.climb(reads[:, time] + nn.functional.linear(context, from_context), state.cells)
            state = state._replace(cells=cells, at=state.at + 1)
            contexts.append(context)
            said.append(cells[-1].hidden)
        joined = torch.cat([torch.stack(contexts, dim=1), torch.stack(said, dim=1)], dim=-1)  # (B, T, S + D)
        return Walked(self.dropout(torch.tanh(self.join(joined))), torch.stack(asked, dim=1), state)

    def climb(self, read: Tensor, cells: tuple[Any, ...]) -> tuple[Any, ...]:
        """One step of all layers, given what the lowest one reads (B, G)."""
        moved = [self.stack.cell(0).advance(read, cells[0])]
        for layer in range(1, self.stack.layers):
            moved.append(self.stack.cell(layer)(self.stack.dropout(moved[-1].hidden), cells[layer]))
        return tuple(moved)
