"""A picture and a question about it, judged together: each read by itself, or with an eye on the other."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.blocks.coattention import AlternatingCoAttention
from atento.errors import InputError
from atento.layers.losses import Loss
from atento.layers.masking import clean, masked_mean
from atento.models.backbones.images import PictureEncoder
from atento.models.heads import Head
from atento.models.matcher import Both, Verdict
from atento.models.protocols import Encoded, Encoder
from atento.models.summaries import largest_values
from atento.recurrent.stack import Stack

# Axes: B batch, S side, R regions, N words of the question, D size, C labels, L layers, H heads.


class PictureQuestions(NamedTuple):
    """Pictures, a question about each, and what is true of each pair."""

    pixels: Tensor  # (B, 3, S, S)
    question: Tensor  # (B, N) tokens
    valid: Tensor  # (B, N)
    truth: Tensor  # as the head wants it, with a leading axis (B,)


class PictureMatcher(nn.Module, ABC):
    """Leaves say how a picture and a question become two vectors, and what looked at what."""

    attends: bool  # whether the question looks at the picture

    def __init__(self, eye: PictureEncoder, reader: Encoder, verdict: Verdict) -> None:
        super().__init__()
        if eye.size != reader.size:
            raise InputError(
                "what sees and what reads must be equally wide.",
                found=f"{eye.size} and {reader.size}",
                fix=f"make both with size={eye.size}",
            )
        self.eye, self.reader, self.verdict = eye, reader, verdict
        self.even_regions, self.even_words = nn.LayerNorm(eye.size), nn.LayerNorm(reader.size)

    @property
    def head(self) -> Head:
        """What judges in the end."""
        return self.verdict.head

    @abstractmethod
    def sum_up(self, picture: Encoded, question: Encoded) -> Both:
        """The picture in one vector, and the question in one."""

    @abstractmethod
    def looked(self, picture: Encoded, question: Encoded) -> Tensor:
        """How much of each region was taken: (B, L, H, N, R), or (B, L, H, 1, R) by the question as a whole."""

    def forward(self, batch: PictureQuestions) -> Tensor:
        """Outputs (B, C) of the head, one row a pair."""
        outputs: Tensor = self.verdict(self.sum_up(*self.encode(batch)))
        return outputs

    def encode(self, batch: PictureQuestions) -> tuple[Encoded, Encoded]:
        """Both as they are read, before either looked at the other, on one scale: else products of the two are too
        small for long to be learned from.
        """
        picture = self.eye.encode(batch.pixels, batch.valid)
        question = self.reader.encode(batch.question, batch.valid)
        return (
            picture._replace(states=self.even_regions(picture.states), summary=self.even_regions(picture.summary)),
            question._replace(states=self.even_words(question.states), summary=self.even_words(question.summary)),
        )

    def weights(self, batch: PictureQuestions) -> Tensor:
        """Where the question looked, word by word or as a whole."""
        return self.looked(*self.encode(batch))

    def loss(self, batch: PictureQuestions, *, smoothing: float = 0.0) -> Loss:
        """How wrong the head is on each pair."""
        return self.head.loss(self(batch), batch.truth, smoothing=smoothing)


class PictureTowers(PictureMatcher):
    """Neither knows of the other until both are one vector."""

    attends = False

    def sum_up(self, picture: Encoded, question: Encoded) -> Both:
        """Their own summaries."""
        return Both(picture.summary, question.summary)

    def looked(self, picture: Encoded, question: Encoded) -> Tensor:
        """None."""
        return picture.states.new_zeros(len(picture.states), 0, 0, 1, picture.states.size(1))


class AskedPicture(PictureMatcher):
    """Alternating co-attention (Lu et al., 2016, eq. 6): the question asks the picture, what it finds asks the question
    again.
    """

    attends = True

    def __init__(self, eye: PictureEncoder, reader: Encoder, across: AlternatingCoAttention, verdict: Verdict) -> None:
        super().__init__(eye, reader, verdict)
        self.across = across

    def sum_up(self, picture: Encoded, question: Encoded) -> Both:
        """What was taken of each."""
        words, regions = self.across(
            question.states, picture.states, first_valid=question.valid, second_valid=picture.valid
        )
        return Both(regions, words)

    def looked(self, picture: Encoded, question: Encoded) -> Tensor:
        """One layer of one head, for the whole question."""
        weights = self.across.weights(
            question.states, picture.states, first_valid=question.valid, second_valid=picture.valid
        )
        return weights.second[:, None, None, None]


class CoPicture(PictureMatcher):
    """Each word looks at the picture and each region at the question, and is compared with what it finds there.

    As `CoMatcher` does with two texts: m = ReLU(W [s; c; s − c; s ∗ c] + b), where c = A(s, S', S') of the other side;
    words are then walked once more, in their order, and both sides pooled as [mean; max].
    """

    attends = True

    def __init__(
        self,
        eye: PictureEncoder,
        reader: Encoder,
        attention: Attention,
        back: Attention,
        after: Stack,
        verdict: Verdict,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(eye, reader, verdict)
        self.attention, self.back, self.after = attention, back, after
        self.compare_words, self.compare_regions = (nn.Linear(4 * eye.size, eye.size) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def sum_up(self, picture: Encoded, question: Encoded) -> Both:
        """Both look at the other as it was read, before it looked itself."""
        found = self.attention(question.states, picture.states, picture.states, valid=picture.valid)  # (B, N, D)
        words = clean(compared(self.compare_words, question.states, found), question.valid)
        walked = self.after(self.dropout(words), valid=question.valid).outputs
        asked = self.back(picture.states, question.states, question.states, valid=question.valid)  # (B, R, D)
        regions = compared(self.compare_regions, picture.states, asked)
        return Both(pooled(regions, picture.valid), pooled(walked, question.valid))

    def looked(self, picture: Encoded, question: Encoded) -> Tensor:
        """One layer of one head, word by word."""
        weights = self.attention.weights(question.states, picture.states, valid=picture.valid)
        return clean(weights, question.valid)[:, None, None]


def compared(compare: nn.Module, own: Tensor, found: Tensor) -> Tensor:
    """ReLU(W [s; c; s − c; s ∗ c] + b) of states (B, T, D) and what they found (B, T, D)."""
    return torch.relu(compare(torch.cat([own, found, own - found, own * found], dim=-1)))


def pooled(states: Tensor, valid: Tensor) -> Tensor:
    """[mean; max] over the real items: (B, 2 D)."""
    return torch.cat([masked_mean(states, valid), largest_values(states, valid)], dim=-1)


def as_picture_matcher(module: nn.Module) -> PictureMatcher:
    """The module, typed."""
    if not isinstance(module, PictureMatcher):
        raise TypeError(f"match-pictures works with a PictureMatcher, not {type(module).__name__}")
    return module
