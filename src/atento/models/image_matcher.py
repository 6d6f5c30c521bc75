"""Matchers of an image and a question about it: two towers, alternating co-attention, or parallel co-attention."""

from abc import abstractmethod
from typing import NamedTuple

from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.blocks.coattention import AlternatingCoAttention
from atento.errors import InputError
from atento.layers.dropout import Dropout
from atento.layers.losses import Loss
from atento.layers.masking import clean
from atento.layers.products import Linear
from atento.models.backbones.images import ImageEncoder
from atento.models.heads import Head
from atento.models.matcher import PairHead, PairVectors, compare, loss_with_draws
from atento.models.protocols import Encoded, Encoder, Judge
from atento.models.summaries import mean_and_max
from atento.recurrent.stack import Stack

# Axes: B batch, S side of an image, R regions, N words of the question, D size, C labels, L layers, H heads.


class ImageQuestionBatch(NamedTuple):
    """Images, a question about each, and the truth of each pair."""

    pixels: Tensor  # (B, 3, S, S)
    question: Tensor  # (B, N) tokens
    valid: Tensor  # (B, N)
    truth: Tensor  # as the head takes it, with a leading axis (B,)


class ImageMatcher(Judge[ImageQuestionBatch]):
    """A model of pairs of image and question. Subclasses define how their states become two vectors."""

    attends: bool  # whether there is attention between words and regions

    def __init__(self, image_encoder: ImageEncoder, question_encoder: Encoder, pair_head: PairHead) -> None:
        super().__init__()
        if image_encoder.size != question_encoder.size:
            raise InputError(
                "ImageMatcher: both encoders must have the same size.",
                found=f"image_encoder of size {image_encoder.size}, question_encoder of size {question_encoder.size}",
                fix=f"make both with size={image_encoder.size}",
            )
        self.image_encoder, self.question_encoder, self.pair_head = image_encoder, question_encoder, pair_head
        self.norm_regions, self.norm_words = nn.LayerNorm(image_encoder.size), nn.LayerNorm(question_encoder.size)

    @abstractmethod
    def pool(self, image: Encoded, question: Encoded) -> PairVectors:
        """The image as one vector, and the question as one."""

    @abstractmethod
    def attention_weights(self, image: Encoded, question: Encoded) -> Tensor:
        """Weights (B, L, H, N, R) of each region for each word, or (B, L, H, 1, R) for the question as a whole."""

    @property
    def head(self) -> Head:
        """The head inside `pair_head`."""
        return self.pair_head.head

    @property
    def width(self) -> int:
        """The outputs of the head."""
        return self.head.width

    def forward(self, batch: ImageQuestionBatch) -> Tensor:
        """Outputs (B, C) of the head, one row for each pair."""
        return self.pair_head(self.pool(*self.encode(batch)))

    def encode(self, batch: ImageQuestionBatch) -> tuple[Encoded, Encoded]:
        """Image and question, each encoded alone and normalized: on unlike scales, their products would be too small
        to learn from.
        """
        image = self.image_encoder.encode(batch.pixels, batch.valid)
        question = self.question_encoder.encode(batch.question, batch.valid)
        return (
            image._replace(states=self.norm_regions(image.states), summary=self.norm_regions(image.summary)),
            question._replace(states=self.norm_words(question.states), summary=self.norm_words(question.summary)),
        )

    def weights(self, batch: ImageQuestionBatch) -> Tensor:
        """The attention weights of a batch."""
        return self.attention_weights(*self.encode(batch))

    def loss(self, batch: ImageQuestionBatch, *, smoothing: float = 0.0) -> Loss:
        """The head's loss on each pair."""
        return loss_with_draws(self, self.head, batch, smoothing=smoothing)


class ImageTwoTowers(ImageMatcher):
    """The summaries of both encoders, without attention between them."""

    attends = False

    def pool(self, image: Encoded, question: Encoded) -> PairVectors:
        """Both summaries."""
        return PairVectors(image.summary, question.summary)

    def attention_weights(self, image: Encoded, question: Encoded) -> Tensor:
        """No layers."""
        return image.states.new_zeros(len(image.states), 0, 0, 1, image.states.size(1))


class AlternatingImageMatcher(ImageMatcher):
    """Alternating co-attention (Lu et al., 2016, eq. 6): the question attends to the image, and the result to the
    question again.
    """

    attends = True

    def __init__(
        self,
        image_encoder: ImageEncoder,
        question_encoder: Encoder,
        coattention: AlternatingCoAttention,
        pair_head: PairHead,
    ) -> None:
        super().__init__(image_encoder, question_encoder, pair_head)
        self.coattention = coattention

    def pool(self, image: Encoded, question: Encoded) -> PairVectors:
        """The contexts of both sides."""
        words, regions = self.coattention(
            question.states, image.states, first_valid=question.valid, second_valid=image.valid
        )
        return PairVectors(regions, words)

    def attention_weights(self, image: Encoded, question: Encoded) -> Tensor:
        """One layer of one head, for the whole question."""
        weights = self.coattention.weights(
            question.states, image.states, first_valid=question.valid, second_valid=image.valid
        )
        return weights.second[:, None, None, None]


class CoAttentionImageMatcher(ImageMatcher):
    """Each word attends to the image and each region to the question, and is compared with its context there.

    As `CoAttentionMatcher` with two texts: m = ReLU(W [s; c; s − c; s ∗ c] + b), where c = A(s, S', S') over the other
    side; the words are then passed through the stack `after`, and both sides pooled as [mean; max].
    """

    attends = True

    def __init__(
        self,
        image_encoder: ImageEncoder,
        question_encoder: Encoder,
        attention: Attention,
        back: Attention,
        after: Stack,
        pair_head: PairHead,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(image_encoder, question_encoder, pair_head)
        self.attention, self.back, self.after = attention, back, after  # of words over regions, of regions over words
        size = image_encoder.size
        self.compare_words, self.compare_regions = (Linear(4 * size, size) for _ in range(2))
        self.dropout = Dropout(dropout)

    def pool(self, image: Encoded, question: Encoded) -> PairVectors:
        """Each side attends to the other's states."""
        context = self.attention(question.states, image.states, image.states, valid=image.valid)  # (B, N, D)
        words = clean(compare(self.compare_words, question.states, context), question.valid)
        words = self.after(self.dropout(words), valid=question.valid).outputs
        context = self.back(image.states, question.states, question.states, valid=question.valid)  # (B, R, D)
        regions = compare(self.compare_regions, image.states, context)
        return PairVectors(mean_and_max(regions, image.valid), mean_and_max(words, question.valid))

    def attention_weights(self, image: Encoded, question: Encoded) -> Tensor:
        """One layer of one head, word by word."""
        weights = self.attention.weights(question.states, image.states, valid=image.valid)
        return clean(weights, question.valid)[:, None, None]
