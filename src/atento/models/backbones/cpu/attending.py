"""A recurrent decoder that attends before each step, over a whole known target on a CPU, forward and backward.

The score is additive, the distribution a softmax. v . tanh(W s + k) is computed by σ(2z) = 1 / (1 + e^(−2Ws) e^(−2k)):
the exponentials of the keys are taken once for all steps, and a constant under the softmax is left out. In rows where
the product of two exponentials could be no number, each pair takes its sigmoid. Scores of pairs are computed again in
the backward pass, and each weight has its gradient by one product over all steps.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Softmax
from atento.attention.extents.extents import Everything
from atento.attention.scores.learned import Additive
from atento.layers.activations import TANH
from atento.layers.masking import is_known
from atento.layers.products import is_watched, product, product_to_weight
from atento.layers.second_derivatives import by_formula
from atento.models.backbones.cpu.cells import WalkedCell, WalkedGRU, WalkedLSTM
from atento.recurrent.cells import Cell, GRUCell, HiddenState, LSTMCell, LSTMState
from atento.recurrent.cpu.steps import add_product
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import KERNELS

# Axes: T time, B batch, K keys, A width of the score, S width of the values, H hidden, G a cell's product.

SLICE = 1 << 18  # pairs times width that fit the cache
CELLS = {(LSTMCell, TANH), (GRUCell, TANH)}


class AttendingWeights(NamedTuple):
    """What a walk is differentiated by."""

    reads: Tensor  # (B, T, G) W x + b of the known inputs
    hidden: Tensor  # (B, H) the first state
    carry: Tensor  # (B, H) that of an LSTM; a GRU has none and ignores it
    keys: Tensor  # (B, K, A) as the score prepared them
    values: Tensor  # (B, K, S)
    query_weight: Tensor  # (A, H)
    score_weight: Tensor  # (A,)
    context_weight: Tensor  # (G, S)
    recur_weight: Tensor  # (G, H)
    recur_bias: Tensor  # (G,)


class AttendingWalk(torch.autograd.Function):
    """Weights and parts -> hidden states (B, T, H), contexts (B, T, S), the last carry (B, H)."""

    @staticmethod
    def forward(context: Any, is_lstm: bool, valid: Tensor | None, *parts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """c_t = Σ softmax(v . tanh(W s_{t−1} + k)) value; s_t = f(s_{t−1}, x_t, c_t)."""
        given = AttendingWeights(*parts)
        (batch, time, _), (width, hidden) = given.reads.shape, given.query_weight.shape
        products = given.reads.transpose(0, 1).clone(memory_format=torch.contiguous_format)  # a copy in any case
        cell: WalkedCell = WalkedLSTM(products, given.carry) if is_lstm else WalkedGRU(products, hidden)
        scores = AdditiveSteps(given, valid)
        states = products.new_empty(time + 1, batch, hidden)
        states[0] = given.hidden
        contexts = products.new_empty(time, batch, given.values.size(2))
        weights = products.new_empty(time, batch, given.keys.size(1))
        queries = products.new_empty(time, batch, width)  # −2 W s
        from_state = torch.cat([given.query_weight * -2, given.recur_weight])  # (A + G, H)
        outside = torch.cat([given.recur_bias.new_zeros(width), given.recur_bias])
        from_context = given.context_weight.t().contiguous()
        for step in range(time):
            moved = product(states[step], from_state, outside)  # (B, A + G)
            scores.weigh(queries[step].copy_(moved[:, :width]), out=weights[step])
            torch.bmm(weights[step].unsqueeze(1), given.values, out=contexts[step].unsqueeze(1))
            add_product(products[step], contexts[step], from_context)
            cell.forward(step, moved[:, width:], states[step], states[step + 1])
        context.is_lstm, context.valid = is_lstm, valid
        context.kept = cell, scores, states, contexts, weights, queries
        context.save_for_backward(*parts)
        carry = cell.carries[-1].clone() if isinstance(cell, WalkedLSTM) else given.carry.clone()
        return states[1:].transpose(0, 1), contexts.transpose(0, 1), carry

    @staticmethod
    def backward(context: Any, *upstream: Tensor) -> tuple[Any, ...]:
        """The gradients of all parts, from the last step to the first."""
        parts, is_lstm, valid = context.saved_tensors, context.is_lstm, context.valid
        if torch.is_grad_enabled():
            found = by_formula(lambda *some: attending_formula(is_lstm, valid, *some), parts, upstream)
            return None, None, *found
        given = AttendingWeights(*parts)
        cell, scores, states, contexts, weights, queries = context.kept
        time, batch, gates = cell.products.shape
        width, _ = given.query_weight.shape
        cell.start_backward(states)
        if isinstance(cell, WalkedLSTM):
            cell.d_carry += upstream[2]
        d_states = torch.zeros_like(states)
        d_states[1:] = upstream[0].transpose(0, 1)
        d_contexts = upstream[1].transpose(0, 1).clone(memory_format=torch.contiguous_format)
        d_from_state = states.new_empty(time, batch, width + gates)
        scores.start_backward()
        from_state = torch.cat([given.query_weight, given.recur_weight])  # (A + G, H)
        for step in range(time - 1, -1, -1):
            d_moved = d_from_state[step]
            d_sum = cell.backward(step, d_states[step + 1], d_states[step], d_moved[:, width:])
            add_product(d_contexts[step], d_sum, given.context_weight)
            d_weights = torch.bmm(given.values, d_contexts[step].unsqueeze(2)).squeeze(2)  # (B, K)
            d_moved[:, :width] = scores.backward(queries[step], weights[step], d_weights)
            add_product(d_states[step], d_moved, from_state)
        flat = d_from_state.flatten(0, 1)
        d_weight = product_to_weight(flat, states[:-1].flatten(0, 1))  # (A + G, H)
        d_context_weight = product_to_weight(cell.slopes.flatten(0, 1), contexts.flatten(0, 1))
        d_values = torch.bmm(weights.permute(1, 2, 0), d_contexts.transpose(0, 1))
        d_keys, d_score_weight = scores.finish_backward()
        d_carry = cell.d_carry if isinstance(cell, WalkedLSTM) else upstream[2]
        d_reads, d_bias = cell.slopes.transpose(0, 1), flat[:, width:].sum(dim=0)
        d_parts = AttendingWeights(
            d_reads, d_states[0], d_carry, d_keys, d_values,
            d_weight[:width], d_score_weight, d_context_weight, d_weight[width:], d_bias,
        )  # fmt: skip
        return None, None, *d_parts


class AdditiveSteps:
    """The weights of one query for each row over the same keys, step after step, and their gradients."""

    def __init__(self, given: AttendingWeights, valid: Tensor | None) -> None:
        keys = given.keys
        self.most = 0.9 * math.log(torch.finfo(keys.dtype).max)
        self.hidden_keys = None if valid is None or bool(valid.all()) else ~valid  # (B, K)
        self.is_blank = None  # (B, 1) rows without a visible key
        if self.hidden_keys is not None and bool(self.hidden_keys.all(dim=1).any()):
            self.is_blank = self.hidden_keys.all(dim=1, keepdim=True)
        self.weight, self.one = given.score_weight, keys.new_ones(())
        self.twice = -2 * keys
        real = keys if self.hidden_keys is None else keys.masked_fill(self.hidden_keys.unsqueeze(-1), 0.0)
        state = given.hidden.abs().amax(dim=1).clamp(min=1.0)  # a bound of |s_t|, as gates are between 0 and 1
        bound = 2 * (given.query_weight.abs().sum(dim=1).max() * state + real.abs().amax(dim=(1, 2)))
        far = (~(bound <= self.most)).nonzero().flatten()  # (F,) rows whose exponentials could be too large
        self.far = far if len(far) else None
        self.exponentials = self.twice.clamp(-self.most, self.most).exp_()
        self.rows = max(1, SLICE // max(1, keys.size(1) * keys.size(2)))
        self.buffer = keys.new_empty(min(self.rows, len(keys)), *keys.shape[1:])

    def slices(self, query: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """Slices of the batch with σ(2z) (b, K, A) of their pairs, in one buffer; queries −2 W s (B, A)."""
        exponentials = query.clamp(-self.most, self.most).exp_().unsqueeze(1)
        for first in range(0, len(query), self.rows):
            place = slice(first, min(first + self.rows, len(query)))
            squashed = self.buffer[: place.stop - first]
            torch.addcmul(self.one, exponentials[place], self.exponentials[place], out=squashed).reciprocal_()
            if self.far is not None:
                for row in [row for row in self.far.tolist() if first <= row < place.stop]:
                    torch.sigmoid(-(query[row] + self.twice[row]), out=squashed[row - first])
            yield place, squashed

    def weigh(self, query: Tensor, *, out: Tensor) -> None:
        """Write the weights (B, K) of queries −2 W s (B, A)."""
        for place, squashed in self.slices(query):
            torch.matmul(squashed.flatten(0, 1), 2 * self.weight, out=out[place].view(-1))
        if self.hidden_keys is not None:
            out.masked_fill_(self.hidden_keys, torch.finfo(out.dtype).min)
        torch.softmax(out, dim=-1, out=out)
        if self.is_blank is not None:
            out.masked_fill_(self.is_blank, 0.0)

    def start_backward(self) -> None:
        """Sums over all steps."""
        self.d_keys, self.d_weight = torch.zeros_like(self.twice), torch.zeros_like(self.weight)

    def backward(self, query: Tensor, weights: Tensor, d_weights: Tensor) -> Tensor:
        """The gradient (B, A) of W s, given that of the weights (B, K)."""
        d_scores = weights * (d_weights - (weights * d_weights).sum(dim=-1, keepdim=True))
        found = torch.empty_like(query)
        for place, squashed in self.slices(query):
            upstream = d_scores[place].unsqueeze(1)  # (b, 1, K)
            self.d_weight.addmv_(squashed.flatten(0, 1).t(), d_scores[place].reshape(-1), alpha=2)
            slope = squashed.addcmul_(squashed, squashed, value=-1)
            torch.bmm(upstream, slope, out=found[place].unsqueeze(1))
            self.d_keys[place].addcmul_(slope, upstream.mT)
        return found.mul_(4 * self.weight)

    def finish_backward(self) -> tuple[Tensor, Tensor]:
        """The gradients of keys (B, K, A) and weight (A,)."""
        return self.d_keys.mul_(4 * self.weight), self.d_weight


def attending_formula(is_lstm: bool, valid: Tensor | None, *parts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same by plain operations, step by step."""
    given = AttendingWeights(*parts)
    state, carry = given.hidden, given.carry
    states, contexts = [], []
    for read in given.reads.unbind(1):
        query = functional.linear(state, given.query_weight)
        scores = torch.tanh(query.unsqueeze(1) + given.keys) @ given.score_weight
        if valid is not None:
            scores = scores.masked_fill(~valid, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1) if valid is None else scores.softmax(dim=-1).masked_fill(~valid, 0.0)
        contexts.append((weights.unsqueeze(1) @ given.values).squeeze(1))
        total = read + functional.linear(contexts[-1], given.context_weight)
        recur = functional.linear(state, given.recur_weight, given.recur_bias)
        if is_lstm:
            write, keep, content, output = (total + recur).chunk(4, dim=-1)
            carry = torch.sigmoid(keep) * carry + torch.sigmoid(write) * torch.tanh(content)
            state = torch.sigmoid(output) * torch.tanh(carry)
        else:
            (read_r, read_z, read_n), (recur_r, recur_z, recur_n) = total.chunk(3, dim=-1), recur.chunk(3, dim=-1)
            candidate = torch.tanh(read_n + torch.sigmoid(read_r + recur_r) * recur_n)
            state = torch.lerp(candidate, state, torch.sigmoid(read_z + recur_z))
        states.append(state)
    return torch.stack(states, dim=1), torch.stack(contexts, dim=1), carry


def is_walked(stack: Stack, attention: Attention, inputs: Tensor, state: Any) -> bool:
    """Whether a walk takes several known steps (B, T, I): one layer of a plain cell, additive scores over all keys."""
    cell, score = stack.cell(0), attention.score
    return (
        inputs.device.type == "cpu"
        and is_known(inputs.size(1))
        and inputs.size(1) > 1
        and stack.layers == 1
        and (type(cell), cell.activation) in CELLS
        and bool(KERNELS)  # not within step_by_step
        and "advance" not in cell.__dict__  # nobody records the steps,
        and "read" not in attention.__dict__  # nor what they attend to
        and type(attention) is Attention
        and type(score) is Additive
        and score.activation in (torch.tanh, TANH)
        and type(attention.distribution) is Softmax
        and type(attention.extent) is Everything
        and not is_watched()
        and not torch.is_autocast_enabled("cpu")
        and inputs.dtype == state.source.key.dtype == state.cells[0].hidden.dtype
    )


def walk_decoder(
    cell: Cell[Any], attention: Attention, reads: Tensor, from_context: Tensor, state: Any
) -> tuple[Tensor, Tensor, Any]:
    """Hidden states (B, T, H), contexts (B, T, S) and the cell's last state, from the products of the inputs."""
    score, before, source = attention.score, state.cells[0], state.source
    if not isinstance(score, Additive):
        raise TypeError(f"the walk takes additive scores, not {type(score).__name__}")
    is_lstm = isinstance(before, LSTMState)
    parts = AttendingWeights(
        reads, before.hidden, before.carry if is_lstm else before.hidden.detach(), source.key, source.value,
        score.project_query.weight, score.collapse.weight.squeeze(0), from_context, cell.recur.weight, cell.recur.bias,
    )  # fmt: skip
    states, contexts, carry = AttendingWalk.apply(is_lstm, source.valid, *parts)  # type: ignore[no-untyped-call]
    return states, contexts, LSTMState(states[:, -1], carry) if is_lstm else HiddenState(states[:, -1])
