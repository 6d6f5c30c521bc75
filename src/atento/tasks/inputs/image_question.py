"""An image and a question about it as an input: `PATH<tab>question`, read together by an image matcher."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import torch
from torch import Tensor

from atento.data.examples.batches import pad, read_as_unknown
from atento.data.images.png import png_uri
from atento.data.text.encoding import two_texts
from atento.data.text.levels import learn_vocabulary, load_vocabulary, prepare
from atento.data.text.vocabulary import UNKNOWN, Vocabulary
from atento.models.builders.choices import HeadMaker
from atento.models.builders.matcher import build_image_matcher, require_image_matcher
from atento.models.image_matcher import ImageMatcher, ImageQuestionBatch
from atento.models.names import ModelName
from atento.spec import DataRecipe, ModelRecipe, TokensRecipe
from atento.tasks.inputs.image import IMAGE_TOKENS, ImageLoader, region_evidence, region_names
from atento.tasks.inputs.input import HasWords, ManyToOneInput, SourceView, TakesDataRecipe
from atento.tasks.inputs.text import choose_level, load_flag, vocabulary_note
from atento.tasks.task import Answer, Saved
from atento.tasks.traces import Alignment, TraceMatrix, trace_matrix

# Axes: B batch, R regions, N words of the question, L layers, H heads.


class EncodedQuestion(NamedTuple):
    """An image by its name, and the token numbers of a question."""

    image: str
    question: list[int]


class ImageQuestion(
    ManyToOneInput[EncodedQuestion, ImageQuestionBatch, ImageMatcher], HasWords[ImageQuestionBatch], TakesDataRecipe
):
    """Images and questions <-> pixels and token numbers."""

    kind = "image and question"
    texts = "questions"
    vocabulary: Vocabulary

    @staticmethod
    def text_of(source: str) -> str:
        """The question."""
        return two_texts(source)[1]

    def __init__(self, images: ImageLoader, vocabulary: Vocabulary, *, lower: bool, note: str = "") -> None:
        self.images, self.vocabulary, self.lower, self.note = images, vocabulary, lower, note
        self.notes = tuple(each for each in (note, images.note) if each)

    @classmethod
    def learn(cls, recipe: TokensRecipe, sources: Sequence[str], *, writes: bool) -> Self:
        """Level and vocabulary of the training part's questions, and how large its images are."""
        pairs = [two_texts(source) for source in sources]
        questions = [question for _, question in pairs]
        level, reason = (recipe.source, "as asked") if recipe.source != "auto" else choose_level(questions)
        cut = [prepare(question, lower=recipe.lowercase) for question in questions]
        vocabulary = learn_vocabulary(level, cut, size=recipe.vocab_size, least_count=recipe.min_count)
        note = f"questions: {vocabulary_note(vocabulary, level, reason, lower=recipe.lowercase)}"
        return cls(ImageLoader.of([image for image, _ in pairs]), vocabulary, lower=recipe.lowercase, note=note)

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        vocabulary = load_vocabulary(saved.get("vocabulary"))
        return cls(ImageLoader.load(saved.get("images")), vocabulary, lower=load_flag(saved, "lower"))

    def to_json(self) -> dict[str, object]:
        """How images are read, and the vocabulary of questions."""
        return {"images": self.images.to_json(), "vocabulary": self.vocabulary.to_json(), "lower": self.lower}

    def bind(self, recipe: DataRecipe) -> Self:
        """The same questions about images of the size that the recipe names."""
        return type(self)(self.images.bind(recipe), self.vocabulary, lower=self.lower, note=self.note)

    @staticmethod
    def check_name(name: ModelName, *, writes: bool) -> None:
        """An image encoder and an encoder of questions."""
        require_image_matcher(name)

    def encode(self, source: str) -> EncodedQuestion:
        """An image and the tokens of its question, never none at all."""
        image, question = two_texts(source)
        tokens = self.vocabulary.encode(prepare(question, lower=self.lower))[: self.max_length]
        return EncodedQuestion(image, tokens or [UNKNOWN])

    def length(self, encoded: EncodedQuestion) -> int:
        """All count alike, or a batch would hold questions of one length and kind."""
        return IMAGE_TOKENS

    def batch(self, encoded: Sequence[EncodedQuestion], truth: Tensor) -> ImageQuestionBatch:
        """Pixels (B, 3, S, S), padded questions (B, N), and what is true of each pair."""
        pixels = self.images.read_all([one.image for one in encoded])
        return ImageQuestionBatch(pixels, *pad([one.question for one in encoded]), truth)

    @staticmethod
    def drop_words(batch: ImageQuestionBatch, share: float) -> ImageQuestionBatch:
        """Some words of the questions unknown."""
        return batch._replace(question=read_as_unknown(batch.question, share))

    def build(self, recipe: ModelRecipe, head: HeadMaker, width: int) -> ImageMatcher:
        """A matcher of images and questions."""
        return build_image_matcher(recipe, len(self.vocabulary), head, width, side=self.images.side)

    @torch.no_grad()
    def evidence(
        self, networks: Sequence[ImageMatcher], batch: ImageQuestionBatch, sources: Sequence[str]
    ) -> list[str | None]:
        """The regions that all words together attended to most."""
        if not all(network.attends for network in networks):
            return [None] * len(sources)
        grid = networks[0].image_encoder.grid(self.images.side)
        every = torch.cat([network.weights(batch) for network in networks], dim=1).float().cpu()
        rows = zip(every, batch.valid.cpu(), strict=True)
        return [region_evidence(over_words(weights, valid), grid) for weights, valid in rows]

    def tokens(self, source: str) -> list[str]:
        """The tokens of the question as they are written."""
        question = prepare(two_texts(source)[1], lower=False)
        places = self.vocabulary.offsets(question)[: self.max_length]
        return [question[start:end] for start, end in places] or ["<unknown>"]

    @torch.no_grad()
    def align(self, network: ImageMatcher, source: str, answer: Answer) -> Alignment:
        """Where each word of the question, or the question as a whole, attended in the image."""
        weights = network.weights(self.asked(network, [self.encode(source)]))[0].float().cpu()  # (L, H, N, R)
        output = self.tokens(source) if weights.size(2) > 1 else [answer.text]
        view = self.regions(network, source)
        return Alignment(view.labels, output, weights, answer.text, answer.score, view.image, view.grid)

    def regions(self, network: ImageMatcher, source: str) -> SourceView:
        """The regions of the image, row by row, with the image as the network read it."""
        grid = network.image_encoder.grid(self.images.side)
        return SourceView(region_names(grid), png_uri(self.images.bytes_of(two_texts(source)[0])), grid)

    @torch.no_grad()
    def trace(self, network: ImageMatcher, source: str) -> list[TraceMatrix]:
        """The states of both, the attention between them, and both in one vector."""
        image, question = network.encode(self.asked(network, [self.encode(source)]))
        regions, tokens = region_names(network.image_encoder.grid(self.images.side)), self.tokens(source)
        weights = network.attention_weights(image, question)[0].cpu()  # (L, H, N, R)
        rows = tokens if weights.size(2) > 1 else ["question"]
        encoder = type(network.question_encoder).__name__
        return [
            trace_matrix(
                "image states", "W f + P p: the features of a region, and its place", regions, image.states[0]
            ),
            trace_matrix("question states", f"{encoder}: one vector per token", tokens, question.states[0]),
            *(
                trace_matrix("weights", "how much of each region was taken", rows, matrix, columns=regions)
                for matrix in weights.flatten(0, 1)
            ),
            trace_matrix(
                "summaries", "each in one vector: u, v", ["image", "question"], torch.cat(network.pool(image, question))
            ),
        ]


def over_words(weights: Tensor, valid: Tensor) -> Tensor:
    """How much of each region (R,) all words together took: weights (L, H, N, R), or (L, H, 1, R)."""
    rows = weights.mean(dim=(0, 1))
    return rows.sum(dim=0) / (int(valid.sum()) if len(rows) > 1 else 1)
