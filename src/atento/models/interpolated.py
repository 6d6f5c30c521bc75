"""A language model and an n-gram model of the same tokens, interpolated: p = λ p_network + (1 − λ) p_n-gram.

(Jelinek & Mercer, 1980; of neural models Mikolov et al., 2011.) The counts know what followed the last few tokens, the
network everything else. λ depends on how long a history the counts know, and is learned by expectation maximization on
validation text alone, so that the mixture starts at the counts and leaves them as far as the network is better.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.kneser_ney import Floats, KneserNey, NGramTable, Numbers
from atento.layers.losses import at_least_float32
from atento.models.language_model import LanguageModel
from atento.models.protocols import Decoder, DecoderStep, Encoded

# Axes: B rows, V vocabulary, N tokens of a text, L lengths of a history.

ROUNDS = 50  # of expectation maximization
PRIOR = 4  # tokens of the share of all that each length starts with
BOUNDARY = -1  # in the past of a row, before its first token
FIELDS = NGramTable._fields


class CountTables(nn.Module):
    """The tables of a Kneser–Ney model as buffers, saved with the weights; their sizes are known when it has counted.

    They stay on the CPU, and as precise as they are, wherever the network is.
    """

    def __init__(self, order: int, vocabulary: int) -> None:
        super().__init__()
        self.order, self.vocabulary = order, vocabulary
        for length in range(order):
            self.set_table(length, NGramTable(*(np.zeros(1, dtype) for dtype in (np.int64, np.int64, float, float))))

    def set_table(self, length: int, table: NGramTable) -> None:
        """Put the table of a length of history in its place."""
        for name, values in zip(FIELDS, table, strict=True):
            self.register_buffer(f"{name}_{length}", torch.from_numpy(np.ascontiguousarray(values)))

    def count(self, rows: Sequence[Numbers], *, skipped: int) -> None:
        """Count rows of tokens, of which the first `skipped` are not predicted."""
        for length, table in enumerate(KneserNey(self.order, self.vocabulary).fit(rows, skipped=skipped).tables):
            self.set_table(length, table)

    def model(self) -> KneserNey:
        """The n-gram model, which shares the memory of the buffers."""
        tables = [
            NGramTable(*(getattr(self, f"{name}_{length}").numpy() for name in FIELDS)) for length in range(self.order)
        ]
        return KneserNey(self.order, self.vocabulary, tables)

    def adopt_sizes(self, weights: Mapping[str, Tensor]) -> None:
        """Take the sizes of saved tables, by their names here; tables that cannot be counts are refused."""
        for length in range(self.order):
            found = [weights.get(f"{name}_{length}") for name in FIELDS]
            parts = [part for part in found if part is not None and part.dim() == 1 and len(part)]
            wrong = len(parts) < len(FIELDS) or len(parts[0]) != len(parts[3]) or len(parts[1]) != len(parts[2])
            if wrong or not (bool((parts[2] >= 0).all()) and bool((parts[3] > 0).all())):
                raise InputError(
                    "the saved n-gram counts are not those of any text.",
                    found=f"histories of {length} tokens: {[list(one.shape) for one in parts]}",
                    fix="restore the file from a copy, or train again with another --out",
                )
            for name, part in zip(FIELDS, parts, strict=True):
                self.register_buffer(f"{name}_{length}", torch.zeros_like(part))

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        return self


class InterpolationState(NamedTuple):
    """What a search carries from token to token."""

    past: Tensor  # (B, order − 1) the last tokens; −1 before the first
    inner: Any  # the state of the network


class InterpolatedLanguageModel(LanguageModel):
    """A network that learns as ever, and counts beside it; `shares` (L,) is λ by the length of the known history."""

    shares: Tensor

    def __init__(self, decoder: Decoder[Any], vocabulary: int, *, order: int, samples: int = 0) -> None:
        super().__init__(decoder, samples=samples)
        self.ngram = CountTables(order, vocabulary)
        self.register_buffer("shares", torch.full((order,), 0.5, dtype=torch.float64))

    def mixed(self, log_probabilities: Tensor, row: Tensor, *, skipped: int) -> Tensor:
        """The network's log-probabilities (N,) of a row's tokens after the first `skipped` ones, with the counts'."""
        counted = self.ngram.model().score(row.cpu().numpy(), skipped=skipped)
        share = self.shares.cpu()[torch.from_numpy(counted.matched)]
        return interpolate(log_probabilities.cpu().double(), torch.from_numpy(counted.probabilities).log(), share)

    @torch.no_grad()
    def calibrate(self, scored: Sequence[tuple[Tensor, Tensor]], *, skipped: int) -> None:
        """Learn λ from held-out rows, each with the network's log-probabilities of its tokens."""
        model = self.ngram.model()
        counted = [model.score(row.cpu().numpy(), skipped=skipped) for row, _ in scored]
        network = torch.cat([log_probabilities for _, log_probabilities in scored]).cpu().double().exp().numpy()
        probabilities = np.concatenate([one.probabilities for one in counted])
        matched = np.concatenate([one.matched for one in counted])
        self.shares.copy_(torch.from_numpy(best_shares(network, probabilities, matched, lengths=self.ngram.order)))

    def following(self, logits: Tensor, past: Tensor) -> Tensor:
        """Log-probabilities (B, V) of the next token by the network's logits (B, V) and the last tokens of each row."""
        model, rows = self.ngram.model(), past.tolist()
        counted = [model.following(row) for row in rows]
        probabilities = torch.from_numpy(np.stack([found for found, _ in counted]))
        share = self.shares.cpu()[torch.tensor([matched for _, matched in counted])].unsqueeze(-1)  # (B, 1)
        network = at_least_float32(logits).log_softmax(dim=-1)
        return interpolate(network.cpu().double(), probabilities.log(), share).to(network)

    def last_tokens(self, tokens: Tensor) -> Tensor:
        """The end of tokens (B, N) that the counts look at: (B, order − 1), boundaries where there are fewer."""
        length = self.ngram.order - 1
        before = tokens.new_full((len(tokens), length), BOUNDARY)
        return torch.cat([before, tokens], dim=1)[:, tokens.size(1) :]


class InterpolatedDecoder:
    """The mixture as any search sees it: the decoder of the network, and the counts of the tokens read so far."""

    def __init__(self, model: InterpolatedLanguageModel) -> None:
        self.model = model

    def start(self, encoded: Encoded) -> InterpolationState:
        """The state before the first token."""
        rows = torch.zeros(encoded.valid.size(0), 0, dtype=torch.long, device=encoded.valid.device)
        return InterpolationState(self.model.last_tokens(rows), self.model.decoder.start(encoded))

    def step(self, token: Tensor, state: InterpolationState) -> DecoderStep[InterpolationState]:
        """The mixed log-probabilities of what follows a token (B,), as logits."""
        logits, inner = self.model.decoder.step(token, state.inner)
        past = torch.cat([state.past, token.unsqueeze(1)], dim=1)[:, 1:]
        return DecoderStep(self.model.following(logits, past), InterpolationState(past, inner))


def interpolate(network: Tensor, counted: Tensor, share: Tensor) -> Tensor:
    """ln(λ p + (1 − λ) q) of log-probabilities ln p and ln q."""
    return torch.logaddexp(share.log() + network, (1 - share).log() + counted)


def best_shares(network: Floats, counted: Floats, matched: Numbers, *, lengths: int) -> Floats:
    """λ (L,) of each length of history that makes held-out tokens most probable (Dempster et al., 1977, sec. 4.3).

    network, counted, matched (N,). A length with few tokens stays near the λ of all of them.
    """
    overall = one_share(network, counted, np.zeros(0), 0.5)
    return np.array([
        one_share(network[matched == length], counted[matched == length], np.full(PRIOR, overall), overall)
        for length in range(lengths)
    ])  # fmt: skip


def one_share(network: Floats, counted: Floats, prior: Floats, start: float) -> float:
    """The λ that expectation maximization finds: the mean probability that the network, not the counts, gave a token;
    the tokens of the prior count as given by the network with that probability.
    """
    share = start
    for _ in range(ROUNDS):
        own = share * network
        given = own / np.maximum(own + (1 - share) * counted, np.finfo(float).tiny)
        share = (given.sum() + prior.sum()) / max(1, len(given) + len(prior)) if len(given) + len(prior) else start
    return float(np.clip(share, 0.0, 1.0))
