"""Decoder that generates or copies: a pointer-generator network (See, Liu & Manning, 2017, eqs. 8 and 9).

With a_t the attention of a recurrent decoder at step t, c_t its context, s_t its state and x_t its input,

    p_gen = σ(w_c·c_t + w_s·s_t + w_x·x_t + b),    P(w) = p_gen P_vocab(w) + (1 − p_gen) Σ_{i: x_i = w} a_t(i).

Source tokens that are no target tokens, such as features, cannot be copied: what attention gives them, and what it
withholds from all, is left to P_vocab, so that P sums to 1. Where all can be copied this is the formula above.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from atento.attention.linformer import Linformer
from atento.attention.weights import AttentionCall
from atento.errors import InputError
from atento.layers.losses import at_least_float32
from atento.layers.products import Linear
from atento.models.backbones.recurrent import RecurrentState
from atento.models.backbones.recurrent_decoders import BahdanauDecoder, LuongDecoder
from atento.models.protocols import NOT_COPIED, Decoder, DecoderStep, Encoded

# Axes: B batch, N source time, T target time, M real target tokens, V vocabulary, D size.


class CopyState(NamedTuple):
    """The state between two tokens."""

    generator: RecurrentState
    copied: Tensor  # (B, N) the target token that each source token is copied as, or NOT_COPIED


class Mixture(NamedTuple):
    """What the probabilities of some steps are made of, for (B, T) or (M,) steps."""

    features: Tensor  # (..., D) of which P_vocab is made
    gate: Tensor  # (...) p_gen before σ
    weights: Tensor  # (..., N) of attention
    copied: Tensor  # (..., N) as in the state


class CopyDecoder(Decoder[CopyState]):
    """A recurrent decoder with attention, the generator, and a gate between what it predicts and what it attends to.

    Its logits are log-probabilities. They depend on the tokens of each source, so that `features` gives them already.
    """

    attends = True
    is_recurrent = True

    def __init__(self, generator: LuongDecoder | BahdanauDecoder, *, source_size: int) -> None:
        super().__init__()
        distribution = generator.attention.distribution
        if isinstance(generator.attention, Linformer):
            raise InputError(
                "CopyDecoder: a decoder copies the tokens that it attends to.",
                found="Linformer, which attends to mixtures of tokens",
                fix="take an Attention without it",
            )
        if not (distribution.sums_to_one and distribution.differentiable):
            raise InputError(
                "CopyDecoder: the weights must be probabilities, of which none is drawn.",
                found=type(distribution).__name__,
                fix="take Softmax(), Sparsemax() or Entmax()",
            )
        self.generator = generator
        self.gate = Linear(source_size + generator.stack.output_size + generator.embedding.size, 1)

    def start(self, encoded: Encoded) -> CopyState:
        """The generator's first state; a source that does not say what its tokens are copied as is not copied."""
        copied = encoded.copied
        if copied is None:
            copied = torch.full_like(encoded.valid, NOT_COPIED, dtype=torch.long)
        return CopyState(self.generator.start(encoded), copied)

    def step(self, token: Tensor, state: CopyState) -> DecoderStep[CopyState]:
        """One step after a token (B,)."""
        log_probs, state = self.resume(token.unsqueeze(1), state)
        return DecoderStep(log_probs.squeeze(1), state)

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """Log-probabilities (B, T, V) of all steps of a known target."""
        return self.resume(previous, self.start(encoded))[0]

    def real_features(self, previous: Tensor, valid: Tensor, encoded: Encoded) -> Tensor:
        """Log-probabilities (M, V) of the real steps alone."""
        mixture, _ = self.read(previous, self.start(encoded))
        return self.log_probabilities(Mixture(*(part[valid] for part in mixture)))

    def resume(self, previous: Tensor, state: CopyState) -> tuple[Tensor, CopyState]:
        """Log-probabilities (B, T, V) of more known tokens (B, T) from a given state, and the state after them."""
        mixture, state = self.read(previous, state)
        return self.log_probabilities(mixture), state

    def to_logits(self, features: Tensor) -> Tensor:
        """The log-probabilities themselves."""
        return features

    def read(self, previous: Tensor, state: CopyState) -> tuple[Mixture, CopyState]:
        """The mixtures of known tokens (B, T), and the state after them."""
        before = state.generator
        at = before.at[:1] + torch.arange(previous.size(1), device=previous.device)
        embedded = self.generator.embedding(previous)
        steps = self.generator.unroll(self.generator.feed(embedded, before.summary), before, at=at)
        weights = self.generator.attention.weights_from(steps.queries, before.source, query_at=at)  # (B, T, N)
        context = weights @ before.source.value
        gate = self.gate(torch.cat([context, steps.hidden, embedded], dim=-1)).squeeze(-1)
        copied = state.copied.unsqueeze(1).expand_as(weights)
        return Mixture(steps.features, gate, weights, copied), CopyState(steps.state, state.copied)

    def log_probabilities(self, mixture: Mixture) -> Tensor:
        """ln P (..., V)."""
        generated = at_least_float32(self.generator.to_logits(mixture.features)).log_softmax(dim=-1)
        gate, weights = mixture.gate.unsqueeze(-1).to(generated), mixture.weights.to(generated)
        weights = weights.masked_fill(mixture.copied == NOT_COPIED, 0.0)
        left = (1.0 - weights.sum(dim=-1, keepdim=True)).clamp(min=0.0)  # to P_vocab, of 1 − p_gen
        copying = torch.sigmoid(-gate)
        generating = add_to_log(functional.logsigmoid(gate), copying * left)  # (..., 1)
        places = mixture.copied.clamp(min=0)
        shares = torch.zeros_like(generated).scatter_add(-1, places, copying * weights)  # (..., V) equal tokens add up
        return add_to_log(generated + generating, shares)

    def attention_calls(
        self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)
    ) -> Iterator[AttentionCall]:
        """The generator's attention."""
        return self.generator.attention_calls(previous, encoded, layers=layers)


def add_to_log(log: Tensor, share: Tensor) -> Tensor:
    """ln(exp(log) + share) of a share of 0 or more; where it is 0, the logarithm of 0 is neither taken nor derived."""
    added = torch.logaddexp(log, share.clamp(min=torch.finfo(share.dtype).tiny).log())
    return torch.where(share > 0, added, log)
