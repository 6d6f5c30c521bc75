"""Many-to-one models: a whole sequence is encoded, then classified (or, with a `RegressionHead`, estimated).

`Classifier` joins an encoder and a head, with hashed n-gram features beside them where wanted; `OneVsRest` trains a
network for each label.
"""

from typing import Any, Generic, NamedTuple, TypeVar, cast

import torch
from torch import Tensor, nn

from atento.blocks.pooling import AttentionPooling, Pooling
from atento.errors import InputError
from atento.layers.losses import Loss
from atento.layers.masking import clean, left_aligned
from atento.layers.products import Linear
from atento.models.heads import Head
from atento.models.protocols import BatchWithTruth, Encoded, Encoder, Judge
from atento.models.summaries import pooled
from atento.models.wide import WideNGrams

# Axes: B batch, N time, D size, C labels, G n-grams.

NGRAM_BUCKETS = 50_021  # a prime; n-grams that fall into the same bucket share a vector
WIDEST_NGRAM = 128  # numbers of the vector of an n-gram
HASH_FACTORS = (1, 1_000_003, 998_244_353)  # one for each word of an n-gram
NGRAM_SCALE = 10.0  # an n-gram is rare, so its vector is learned this much faster than other weights


class LabelledBatch(NamedTuple):
    """Sequences and the truth of each, or of each of their steps."""

    source: Tensor  # (B, N) tokens, or (B, N, channels) numbers
    valid: Tensor  # (B, N)
    truth: Tensor  # as the head takes it, with leading axes (B,); for a tagger (B, N)


class NGramFeatures(nn.Module):
    """The sum of a vector for each n-gram of one to `longest` tokens, times `NGRAM_SCALE` / √n-grams.

    tokens (B, N), valid (B, N) -> (B, D). N-grams are hashed (Joulin et al., 2017, sec. 2.1); the result is added to
    the outputs of a deep model (Cheng et al., 2016). The vectors start at zero, so nothing is added at first. Where D
    is large the vectors are narrower and mapped to D, so that the table does not grow with the number of labels.
    """

    def __init__(self, longest: int, size: int, *, dropout: float = 0.0, buckets: int = NGRAM_BUCKETS) -> None:
        super().__init__()
        if not 1 <= longest <= len(HASH_FACTORS):
            raise InputError(
                f"NGramFeatures: longest must be 1 to {len(HASH_FACTORS)} words.",
                found=f"longest={longest}",
                fix="longest=2",
            )
        self.longest, self.size = longest, size
        self.table = nn.Embedding(buckets, min(size, WIDEST_NGRAM))  # 0 is no n-gram
        nn.init.zeros_(self.table.weight)
        self.widen = Linear(WIDEST_NGRAM, size, bias=False) if size > WIDEST_NGRAM else nn.Identity()
        self.dropout = dropout

    def forward(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """One vector for each text; an empty text gives zeros."""
        buckets = self.buckets(tokens, valid)  # (B, G)
        kept = buckets > 0
        if self.training and self.dropout:
            kept = kept & (torch.rand(buckets.shape, device=buckets.device) >= self.dropout)
        summed = clean(self.table(buckets), kept).sum(dim=1)
        return torch.as_tensor(self.widen(NGRAM_SCALE * summed / kept.sum(dim=1, keepdim=True).clamp(min=1).sqrt()))

    def buckets(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """The hash bucket (B, G) of each n-gram, 0 where there is none."""
        tokens, valid = left_aligned(tokens, valid)
        found = []
        for length in range(1, min(self.longest, tokens.size(1)) + 1):
            parts = [tokens[:, at : tokens.size(1) - length + 1 + at] * HASH_FACTORS[at] for at in range(length)]
            hashed = torch.stack(parts).sum(dim=0)
            bucket = (hashed + length) % (self.table.num_embeddings - 1) + 1
            found.append(bucket.masked_fill(~valid[:, length - 1 :], 0))
        return torch.cat(found, dim=1)


class Classifier(Judge[LabelledBatch]):
    """An encoder and a head over its summary, or over a pooling of its states; n-gram features are added to the
    head's outputs. With a wide part the network learns alone, and answers are made of both.
    """

    def __init__(
        self,
        encoder: Encoder,
        head: Head,
        *,
        pooling: Pooling | None = None,
        ngrams: NGramFeatures | None = None,
        wide: WideNGrams | None = None,
    ) -> None:
        super().__init__()
        require_width(encoder, head)
        self.encoder, self.head, self.pooling, self.ngrams, self.wide = encoder, head, pooling, ngrams, wide
        if wide is not None:
            begin_at_zero(head)

    @property
    def width(self) -> int:
        """The outputs of the head."""
        return self.head.width

    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (B, C), one row for each sequence: while training of the network alone, else with the wide part."""
        outputs = self.network_outputs(batch)
        if self.wide is None or self.training:
            return outputs
        return self.wide.mix(self.wide(batch.source, batch.valid), outputs)

    def network_outputs(self, batch: LabelledBatch) -> Tensor:
        """Outputs (B, C) of the network alone."""
        encoded = self.encoder.encode(batch.source, batch.valid)
        outputs: Tensor = self.head(self.pool(encoded))
        return outputs if self.ngrams is None else outputs + self.ngrams(batch.source, batch.valid)

    def pool(self, encoded: Encoded) -> Tensor:
        """The sequence as one vector (B, D)."""
        return pooled(encoded, self.pooling)

    def loss(self, batch: LabelledBatch, *, smoothing: float = 0.0) -> Loss:
        """The head's loss on each sequence."""
        return self.head.loss(self(batch), batch.truth, smoothing=smoothing)

    def weights(self, batch: LabelledBatch) -> Tensor:
        """The attention weight (B, N) of each token in the pooling; only where attention pools."""
        encoded = self.encoder.encode(batch.source, batch.valid)
        return pooling_weights(self.pooling, encoded)


def pooling_weights(pooling: Pooling | None, encoded: Encoded) -> Tensor:
    """The weight (B, N) of each state in an attention pooling; other poolings have none and are refused."""
    if not isinstance(pooling, AttentionPooling):
        raise InputError(
            "this model has no attention weights: it does not pool by attention.",
            found=f"pooling={type(pooling).__name__}",
            fix="give it an AttentionPooling",
        )
    return pooling.weights(encoded.states, valid=encoded.valid)


Network = TypeVar("Network", bound=Judge[Any])


class OneVsRest(Judge[Any], Generic[Network]):
    """A network of its own for each label: each gives (B, 1), together they give (B, C). They share no weights."""

    def __init__(self, networks: list[Network]) -> None:
        super().__init__()
        if not networks or any(network.width != 1 for network in networks):
            raise InputError(
                "OneVsRest: each network must give one output.",
                found=f"widths {[network.width for network in networks]}",
                fix="give networks whose heads have width=1",
            )
        self.networks = nn.ModuleList(networks)

    @property
    def width(self) -> int:
        """One output for each network."""
        return len(self.networks)

    def forward(self, batch: BatchWithTruth) -> Tensor:
        """Outputs (B, C), a column for each network."""
        return torch.cat([network(batch) for network in self.networks], dim=-1)

    def loss(self, batch: BatchWithTruth, *, smoothing: float = 0.0) -> Loss:
        """The sum of the networks' losses, each on its own column of the truth (B, C)."""
        truths = zip(self.each(), torch.split(batch.truth, 1, dim=-1), strict=True)
        losses = [network.loss(batch._replace(truth=truth), smoothing=smoothing) for network, truth in truths]
        return Loss(torch.stack([loss.total for loss in losses]).sum(), sum(loss.items for loss in losses))

    def each(self) -> list[Network]:
        """The networks in the order of their labels."""
        return cast("list[Network]", list(self.networks))


def begin_at_zero(head: Head) -> None:
    """Let the network beside a linear model add nothing at first."""
    nn.init.zeros_(head.map.weight)
    nn.init.zeros_(head.map.bias)


def require_width(encoder: Encoder, head: Head) -> None:
    """A head takes vectors as wide as the encoder's states."""
    if encoder.size != head.size:
        raise InputError(
            "the head must take vectors as wide as the encoder's states.",
            found=f"encoder of size {encoder.size}, head of size {head.size}",
            fix=f"make the head with size={encoder.size}",
        )
