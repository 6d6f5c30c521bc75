"""Decoder with exact hard attention: each output comes from one source state, and the probability of an output is the
sum over all states that it may have come from.

P(y_t | y_<t) = Σ_i π_t(i) P(y_t | s_t, h_i). Where alignments are independent, π_t is the attention of s_t (Wu, Shapiro
& Cotterell, 2018, eq. 6). Where they are monotonic, a_t ≥ a_{t−1}, π_t follows from the forward algorithm of a hidden
Markov model (Wu & Cotterell, 2019, sec. 3): with p_t the attention of s_t, by any score, distribution and extent,

    π_t(i) = Σ_{j ≤ i} α_{t−1}(j) p_t(i) / Σ_{k ≥ j} p_t(k),    α_t(i) ∝ π_t(i) P(y_t | s_t, h_i).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.extents.extents import Everything
from atento.attention.weights import AttentionCall
from atento.errors import InputError
from atento.layers.dropout import Dropout
from atento.layers.embeddings import TokenEmbedding
from atento.layers.products import Linear, linear
from atento.models.backbones.recurrent import Handover
from atento.models.protocols import Decoder, DecoderStep, Encoded
from atento.recurrent.stack import Stack

# Axes: B batch, N source time, T target time, V vocabulary, D size, S source size.

HIDDEN = -1e4  # the log-probability of an alignment to padding; −inf would give NaN gradients


class MarginalState(NamedTuple):
    """The state between two tokens."""

    cells: tuple[Any, ...]  # one cell state for each layer
    source: Any  # the prepared keys of attention
    keys: Tensor  # (B, N, D) the part of the source in the features of each alignment
    summary: Tensor  # (B, S)
    log_prior: Tensor  # (B, N) ln π of the last step; at the start, all is at the first key
    emitted: Tensor  # (B, N, D) the features of the last step
    at: Tensor  # (B,) position of the next token


class MarginalDecoder(Decoder[MarginalState]):
    """s_t = f(s_{t−1}, y_{t−1}); tanh(W [h_i; s_t]) predicts for each alignment i, and the outputs are mixed by ln π_t.

    What `features` gives and `to_logits` reads has an axis of alignments, (B, T, N, D + 1): the last feature is ln π_t.
    """

    attends = True
    feeds_context = False
    is_recurrent = True
    equation = "s_t = f(s_{t−1}, y_{t−1})"

    def __init__(
        self,
        embedding: TokenEmbedding,
        stack: Stack,
        handover: Handover,
        attention: Attention,
        *,
        source_size: int,
        monotonic: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if not (attention.distribution.sums_to_one and attention.distribution.differentiable):
            raise InputError(
                "MarginalDecoder: the weights must be probabilities, of which none is drawn.",
                found=type(attention.distribution).__name__,
                fix="take Softmax(), Sparsemax() or Entmax(), or LuongDecoder",
            )
        if monotonic and not isinstance(attention.extent, Everything):
            raise InputError(
                "MarginalDecoder: monotonic alignments need to see every key.",
                found=type(attention.extent).__name__,
                fix="take the extent Everything(), or monotonic=False",
            )
        self.monotonic = monotonic
        self.embedding, self.stack, self.attention = embedding, stack, attention
        self.first_states, self.feed = handover
        self.dropout = Dropout(dropout)
        self.from_key = Linear(source_size, stack.output_size)
        self.from_state = Linear(stack.output_size, stack.output_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(embedding.table.num_embeddings))

    def start(self, encoded: Encoded) -> MarginalState:
        """The first hidden state of every layer is tanh of a map of the summary."""
        cells = self.stack.start_from(torch.tanh(self.first_states(encoded.summary)))
        source = self.attention.prepare(encoded.states, encoded.states, valid=encoded.valid)
        keys = self.from_key(source.value)
        first = torch.full_like(keys[..., 0], HIDDEN)
        first[:, :1] = 0.0
        at = torch.zeros(keys.size(0), dtype=torch.long, device=keys.device)
        return MarginalState(cells, source, keys, encoded.summary, first, torch.zeros_like(keys), at)

    def step(self, token: Tensor, state: MarginalState) -> DecoderStep[MarginalState]:
        """One step after a token (B,)."""
        features, state = self.resume(token.unsqueeze(1), state)
        return DecoderStep(self.to_logits(features).squeeze(1), state)

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """The features (B, T, N, D + 1) of all alignments at all steps of a known target."""
        return self.resume(previous, self.start(encoded))[0]

    def resume(self, previous: Tensor, state: MarginalState) -> tuple[Tensor, MarginalState]:
        """Features (B, T, N, D + 1) of more known tokens (B, T) from a given state, and the state after them."""
        hidden, cells = self.stack(self.feed(self.embedding(previous), state.summary), state.cells)
        at = state.at[:1] + torch.arange(previous.size(1), device=previous.device)
        emitted, attended = self.emissions(hidden, state, at=at)
        priors = self.priors(previous, emitted, attended, state)
        state = state._replace(
            cells=cells, log_prior=priors[:, -1], emitted=emitted[:, -1], at=state.at + previous.size(1)
        )
        return torch.cat([emitted, priors.unsqueeze(-1)], dim=-1), state

    def emissions(self, hidden: Tensor, state: MarginalState, *, at: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden vectors (B, T, D) -> the features (B, T, N, D) of each alignment, and ln p_t (B, T, N)."""
        joined = torch.tanh(state.keys.unsqueeze(1) + self.from_state(hidden).unsqueeze(2))
        weights = self.attention.weights_from(hidden, state.source, query_at=at)
        log_weights = weights.clamp(min=torch.finfo(weights.dtype).tiny).log()
        valid = state.source.valid
        return self.dropout(joined), log_weights if valid is None else log_weights.masked_fill(~valid[:, None], HIDDEN)

    def priors(self, previous: Tensor, emitted: Tensor, attended: Tensor, state: MarginalState) -> Tensor:
        """ln π_t (B, T, N) of known tokens."""
        if not self.monotonic:
            return attended
        before = torch.cat([state.emitted.unsqueeze(1), emitted[:, :-1]], dim=1)  # what each token was emitted by
        said = self.token_log_probability(before, previous.unsqueeze(-1).expand_as(attended))  # (B, T, N)
        begun = (state.at[:, None] + torch.arange(previous.size(1), device=previous.device)) > 0
        said = torch.where(begun.unsqueeze(-1), said, 0.0)  # nothing has emitted the start token
        prior, found = state.log_prior, []
        for time in range(previous.size(1)):
            prior = forward_only(prior + said[:, time], attended[:, time])
            found.append(prior)
        return torch.stack(found, dim=1)

    def token_log_probability(self, emitted: Tensor, tokens: Tensor) -> Tensor:
        """ln P(token | s_t, h_i) (..., N) of tokens (..., N), by features (..., N, D) of each alignment."""
        logits = linear(emitted, self.embedding.output_weight, self.bias)
        return logits.log_softmax(dim=-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)

    def to_logits(self, features: Tensor) -> Tensor:
        """ln Σ_i π(i) P(y | s, h_i) (..., V) of features (..., N, D + 1); log-probabilities are logits, too."""
        emitted, log_prior = features[..., :-1], features[..., -1:]
        logits = linear(emitted, self.embedding.output_weight, self.bias)
        return (logits.log_softmax(dim=-1) + log_prior).logsumexp(dim=-2)

    def attention_calls(
        self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)
    ) -> Iterator[AttentionCall]:
        """One layer of one head: the attention of each step, before alignments are kept from going back."""
        if range(1)[layers]:
            state = self.start(encoded)
            hidden, _ = self.stack(self.feed(self.embedding(previous), state.summary), state.cells)
            yield AttentionCall(self.attention, hidden, state.source)


def forward_only(before: Tensor, attended: Tensor) -> Tensor:
    """ln α_{t−1} up to a constant and ln p_t, both (B, N) -> ln π_t (B, N), where no alignment goes back."""
    ahead = log_cumulative(attended.flip(-1)).flip(-1)  # ln Σ_{k ≥ j} p_t(k)
    return (attended + log_cumulative(before.log_softmax(dim=-1) - ahead)).clamp(min=HIDDEN)


def log_cumulative(logs: Tensor) -> Tensor:
    """ln of the cumulative sum of exp. The largest is taken out first: an exported logcumsumexp would overflow."""
    largest = logs.amax(dim=-1, keepdim=True)
    return (logs - largest).exp().cumsum(dim=-1).clamp(min=torch.finfo(logs.dtype).tiny).log() + largest
