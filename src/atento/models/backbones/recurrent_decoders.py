"""Recurrent decoders without attention, with attention after each step (Luong), and before each step (Bahdanau)."""

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.layers.masking import checked_linear
from atento.layers.products import linear
from atento.models.backbones.cpu.attending import is_walked, walk_decoder
from atento.models.backbones.gpu.plan import DecoderPlan, decline_reason, plan_decoder
from atento.models.backbones.recurrent import DecodedSteps, Handover, RecurrentDecoder, RecurrentState
from atento.recurrent.stack import Stack

# Axes: B batch, T target time, I input, D size, S source size, G gate inputs of a cell.


class FixedVectorDecoder(RecurrentDecoder):
    """s_t = f(s_{t−1}, y_{t−1}), where the summary of the source is the first state (Sutskever et al., 2014), part
    of every input, or both (Cho et al., 2014, eq. 7). s_t predicts.
    """

    equation = "s_t = f(s_{t−1}, y_{t−1}, c)"

    def advance(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One step of the stack."""
        hidden, cells = self.stack.step(input, state.cells)
        return self.dropout(hidden), state._replace(cells=cells, at=state.at + 1)

    def unroll(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> DecodedSteps:
        """One pass of the stack over all steps."""
        hidden, cells = self.stack(inputs, state.cells)
        features = self.dropout(hidden)
        if self.activation_penalty is not None:
            self.activation_penalty(features, hidden)
        return DecodedSteps(features, hidden, hidden, state._replace(cells=cells, at=state.at + inputs.size(1)))


class LuongDecoder(RecurrentDecoder):
    """s_t = f(s_{t−1}, y_{t−1}), then a context c_t by attention with s_t as query; tanh(W [c_t; s_t]) predicts
    (Luong et al., 2015, sec. 3). c_t does not enter the recurrence, so a known target needs one pass of each part.
    """

    attention: Attention
    equation = "s_t = f(s_{t−1}, y_{t−1})"
    feeds_context = False

    def advance(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One step of the stack, then one attention over the source."""
        hidden, cells = self.stack.step(input, state.cells)
        features = self.attend(hidden.unsqueeze(1), state, at=state.at[:1]).squeeze(1)
        return features, state._replace(cells=cells, at=state.at + 1)

    def unroll(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> DecodedSteps:
        """One pass of the stack, then one attention for all its steps."""
        hidden, cells = self.stack(inputs, state.cells)
        features = self.attend(hidden, state, at=at)
        return DecodedSteps(features, hidden, hidden, state._replace(cells=cells, at=state.at + inputs.size(1)))

    def attend(self, hidden: Tensor, state: RecurrentState, *, at: Tensor | None) -> Tensor:
        """Join each hidden vector (B, T, D) with its context (B, T, S)."""
        context = self.attention.read(hidden, state.source, query_at=at)
        joined = checked_linear(self.join, "LuongDecoder", "context", torch.cat([context, hidden], dim=-1))
        return self.dropout(torch.tanh(joined))


class BahdanauDecoder(RecurrentDecoder):
    """A context c_t by attention with s_{t−1} as query, then s_t = f(s_{t−1}, y_{t−1}, c_t) (Bahdanau et al., 2015,
    sec. 3.1): the lowest cell reads [y_{t−1}; c_t], the query is the hidden vector of the highest one. As c_t enters
    the recurrence, a known target is unrolled step by step too; only the products with its tokens are taken at once.

    tanh(W [c_t; s_t]) predicts, where the paper (app. A.2.2) has a maxout of s_{t−1}, y_{t−1} and c_t: so this
    decoder and `LuongDecoder` differ in when they attend and in nothing else.
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
        super().__init__(embedding, stack, handover, attention, source_size=source_size, dropout=dropout)
        widths = [embedding.size + handover.feed.added, source_size]
        if stack.cell(0).input_size != sum(widths):
            raise InputError(
                "BahdanauDecoder: the stack must read the input concatenated with the context.",
                found=f"a stack of input_size={stack.cell(0).input_size}",
                fix=f"input_size={sum(widths)}: {widths[0]} of the input and {widths[1]} of the context",
            )
        self.widths = widths

    def advance(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One attention over the source, then one step of the stack."""
        steps = self.unroll(input.unsqueeze(1), state)
        return steps.features.squeeze(1), steps.state

    def unroll(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> DecodedSteps:
        """Attention and stack in turn, step by step; positions are those of the state."""
        if is_walked(self.stack, self.attention, inputs, state):
            return self.walk_on_cpu(inputs, state)
        lowest = self.stack.cell(0).read
        from_input, from_context = torch.split(lowest.weight, self.widths, dim=1)
        reads = linear(inputs, from_input, lowest.bias)  # (B, T, G), all at once
        if decline_reason(self.stack, self.attention, inputs, state.source) is None:
            return self.walk(reads, from_context, state)
        queries, contexts, hidden = [], [], []
        for time in range(inputs.size(1)):
            queries.append(state.cells[-1].hidden)
            context = self.attention.read(queries[-1].unsqueeze(1), state.source, query_at=state.at[:1]).squeeze(1)
            read = reads[:, time] + nn.functional.linear(context, from_context)
            output, cells = self.stack.advance(read, state.cells)
            state = state._replace(cells=cells, at=state.at + 1)
            contexts.append(context)
            hidden.append(output)
        states = torch.stack(hidden, dim=1)
        joined = torch.cat([torch.stack(contexts, dim=1), states], dim=-1)  # (B, T, S + D)
        return DecodedSteps(self.dropout(torch.tanh(self.join(joined))), states, torch.stack(queries, dim=1), state)

    def walk_on_cpu(self, inputs: Tensor, state: RecurrentState) -> DecodedSteps:
        """The same, by one function for all steps."""
        lowest, (before,) = self.stack.cell(0).read, state.cells
        from_input, from_context = torch.split(lowest.weight, self.widths, dim=1)
        reads = linear(inputs, from_input, lowest.bias)
        hidden, contexts, last = walk_decoder(self.stack.cell(0), self.attention, reads, from_context, state)
        queries = torch.cat([before.hidden.unsqueeze(1), hidden[:, :-1]], dim=1)
        joined = checked_linear(self.join, "BahdanauDecoder", "context", torch.cat([contexts, hidden], dim=-1))
        state = state._replace(cells=(last,), at=state.at + inputs.size(1))
        return DecodedSteps(self.dropout(torch.tanh(joined)), hidden, queries, state)

    def walk(self, reads: Tensor, from_context: Tensor, state: RecurrentState) -> DecodedSteps:
        """The same by the kernels of `backbones.gpu`, given the products with the inputs (B, T, G)."""
        from atento.models.backbones.gpu.walk import walk_decoder

        cell, before = self.stack.cell(0), state.cells[0]
        steps = walk_decoder(cell, self.attention, from_context, reads, before, state.source)
        queries = torch.cat([before.hidden.to(steps.hidden.dtype).unsqueeze(0), steps.hidden[:-1]])  # (T, B, D)
        features = torch.tanh(self.join(torch.cat([steps.contexts, steps.hidden], dim=-1))).transpose(0, 1)
        state = state._replace(cells=(steps.state,), at=state.at + reads.size(1))
        return DecodedSteps(self.dropout(features), steps.hidden.transpose(0, 1), queries.transpose(0, 1), state)

    def plan(self, inputs: Tensor, state: RecurrentState) -> DecoderPlan:
        """Which path goes over inputs (B, T, I), and why; `print` says it."""
        return plan_decoder(self.stack, self.attention, inputs, state.source)
