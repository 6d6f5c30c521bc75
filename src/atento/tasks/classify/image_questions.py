"""Match-pictures: answer a question about a picture, by yes or no or one of a few answers.

Pictures, a vocabulary of what is asked about them, and the list of the answers.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.baselines.frequent import Majority
from atento.baselines.images import LinearQuestions, QuestionOnly
from atento.data.examples.batches import pad, read_as_unknown
from atento.data.images.loading import load_picture
from atento.data.text.levels import learn_vocabulary, load_vocabulary
from atento.data.text.vocabulary import UNKNOWN, Vocabulary
from atento.layers.losses import Loss
from atento.metrics.labels import ACCURACY
from atento.models.build.matcher import build_picture_matcher, require_picture_matcher
from atento.models.heads import LabelHead
from atento.models.image_matcher import PictureMatcher, PictureQuestions, as_picture_matcher
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.classify.defaults import IMAGE_QUESTION_MODELS, image_question_defaults
from atento.tasks.classify.labels import KnownLabels, labels_of, load_labels, metrics, weigh
from atento.tasks.classify.text_codec import LEVEL_WORDS, choose_level, load_lower, prepare
from atento.tasks.classify.two_texts_codec import two_texts
from atento.tasks.inputs.images import THUMBNAIL, PictureReader, count_alike, evidence_in, over_regions, region_names
from atento.tasks.reading.images import PICTURE_QUESTIONS
from atento.tasks.recognising.images import question_pictures
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry


class EncodedQuestion(NamedTuple):
    """A picture by its name, with its reader, the token numbers of a question, and the answer's number."""

    reader: PictureReader
    source: str
    question: list[int]
    label: int


class PictureQuestionCodec(KnownLabels):
    """`PATH<tab>question` and answers <-> pixels, token numbers and label numbers."""

    def __init__(
        self,
        pictures: PictureReader,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        counts: Sequence[int],
        *,
        lower: bool,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(labels, counts, notes=notes)
        self.pictures, self.vocabulary, self.lower = pictures, vocabulary, lower

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "PictureQuestionCodec":
        """Level, vocabulary and answers from the training part alone, and how large its pictures are."""
        asked = [two_texts(source) for source, _ in pairs]
        questions = [question for _, question in asked]
        level, reason = (recipe.source, "as asked") if recipe.source != "auto" else choose_level(questions)
        cut = [prepare(question, lower=recipe.lower) for question in questions]
        vocabulary = learn_vocabulary(level, cut, size=recipe.size, least_count=recipe.least_count)
        labels, counts, said = labels_of([target for _, target in pairs])
        pictures = PictureReader.of([picture for picture, _ in asked])
        notes = (f"questions: {len(vocabulary)} {LEVEL_WORDS[level]} ({reason})", said, pictures.note)
        return cls(pictures, vocabulary, labels, counts, lower=recipe.lower, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "PictureQuestionCodec":
        """What `to_json` wrote."""
        lower, vocabulary = load_lower(saved), load_vocabulary(saved.get("vocabulary"))
        return cls(PictureReader.load(saved.get("pictures")), vocabulary, *load_labels(saved), lower=lower)

    def to_json(self) -> dict[str, Any]:
        """How pictures are read, the vocabulary, and every answer with how often it was true."""
        return {
            "pictures": self.pictures.to_json(),
            "vocabulary": self.vocabulary.to_json(),
            "labels": list(self.labels),
            "counts": list(self.counts),
            "lower": self.lower,
        }

    def suited(self, recipe: Recipe) -> "PictureQuestionCodec":
        """The same questions about pictures that are read as the recipe says."""
        pictures = self.pictures.suited(recipe.data)
        notes = (*self.notes[:-1], pictures.note)
        return PictureQuestionCodec(pictures, self.vocabulary, self.labels, self.counts, lower=self.lower, notes=notes)

    def encode(self, pair: tuple[str, str]) -> EncodedQuestion:
        """A training example; an answer that training never met counts as the first."""
        return self.read(pair[0])._replace(label=self.numbers.get(pair[1], 0))

    def read(self, source: str) -> EncodedQuestion:
        """A picture and the tokens of its question, never none at all."""
        picture, question = two_texts(source)
        tokens = self.vocabulary.encode(prepare(question, lower=self.lower)) or [UNKNOWN]
        return EncodedQuestion(self.pictures, picture, tokens, 0)

    def pieces(self, source: str) -> list[str]:
        """The tokens of the question as a person reads them."""
        question = prepare(two_texts(source)[1], lower=False)
        return [question[start:end] for start, end in self.vocabulary.offsets(question)] or ["<unknown>"]


# Axes: B batch, S side, R regions, N words of the question, C answers.

PAIRS_AT_ONCE = 256


def batch(examples: Sequence[EncodedQuestion]) -> PictureQuestions:
    """Pixels (B, 3, S, S), padded questions (B, N), and the number of each answer."""
    pixels = examples[0].reader.read_all([example.source for example in examples])
    tokens, valid = pad([example.question for example in examples])
    return PictureQuestions(pixels, tokens, valid, torch.tensor([example.label for example in examples]))


def build(recipe: ModelRecipe, codec: PictureQuestionCodec) -> PictureMatcher:
    """Sizes that follow from data are filled in here."""
    return build_picture_matcher(recipe, len(codec.vocabulary), LabelHead, len(codec.labels), side=codec.pictures.side)


def blur(batch: PictureQuestions, share: float) -> PictureQuestions:
    """Some of the words unknown."""
    return batch._replace(question=read_as_unknown(batch.question, share))


def loss(module: nn.Module, batch: PictureQuestions, smoothing: float) -> Loss:
    """How wrong the head is on each pair."""
    return as_picture_matcher(module).loss(batch, smoothing=smoothing)


@torch.no_grad()
def answer(
    module: nn.Module, codec: PictureQuestionCodec, sources: Sequence[str], recipe: DecodeRecipe
) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: the likeliest answer."""
    matcher = as_picture_matcher(module)
    grid = matcher.eye.grid(codec.pictures.side)
    said = []
    for first in range(0, len(sources), PAIRS_AT_ONCE):
        rows = rows_of(module, codec, sources[first : first + PAIRS_AT_ONCE])
        picture, question = matcher.encode(rows)
        logs = matcher.verdict(matcher.sum_up(picture, question)).float().log_softmax(dim=-1).cpu()  # (B, C)
        looked = matcher.looked(picture, question).float().cpu() if matcher.attends else None
        for row, scores in enumerate(logs):
            evidence = None if looked is None else evidence_in(taken(looked[row], rows.valid[row]), grid)
            said.append(codec.likeliest(scores, evidence=evidence))
    return said


def rows_of(module: nn.Module, codec: PictureQuestionCodec, sources: Sequence[str]) -> PictureQuestions:
    """A batch of what is asked, on the module's device."""
    rows = batch([codec.read(source) for source in sources])
    device = next(module.parameters()).device
    return PictureQuestions(*(part.to(device) for part in rows))


def taken(weights: Tensor, valid: Tensor) -> Tensor:
    """How much of each region (R,) all words together took: weights (L, H, N, R), or (L, H, 1, R)."""
    rows = weights.mean(dim=(0, 1))
    return rows.sum(dim=0) / (int(valid.sum()) if len(rows) > 1 else 1)


@torch.no_grad()
def look_at(module: nn.Module, codec: PictureQuestionCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The answer, and where each word of the question looked in the picture."""
    matcher = as_picture_matcher(module)
    (said,) = answer(module, codec, [source], recipe)
    weights = matcher.weights(rows_of(module, codec, [source]))[0].float().cpu()  # (L, H, N, R)
    return over_regions(
        codec.pictures,
        two_texts(source)[0],
        grid=matcher.eye.grid(codec.pictures.side),
        output=codec.pieces(source) if weights.size(2) > 1 else [said.text],
        weights=weights,
        text=said.text,
        score=said.score,
    )


@torch.no_grad()
def steps(module: nn.Module, codec: PictureQuestionCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    matcher = as_picture_matcher(module)
    rows = rows_of(module, codec, [source])
    picture, question = matcher.encode(rows)
    regions, pieces = region_names(matcher.eye.grid(codec.pictures.side)), codec.pieces(source)
    both = matcher.sum_up(picture, question)
    chances = matcher.verdict(both).softmax(dim=-1)
    weights = matcher.looked(picture, question)[0]  # (L, H, N, R)
    who = pieces if weights.size(2) > 1 else ["question"]
    looks = [
        entry("weights", "how much each took of each region", who, one, columns=regions)
        for one in weights.flatten(0, 1)
    ]
    return [
        entry("picture states", "W f + P p: what is seen, and where", regions, picture.states[0]),
        entry("question states", f"{type(matcher.reader).__name__}: one vector a word", pieces, question.states[0]),
        *looks,
        entry("summaries", "each in one vector: u, v", ["picture", "question"], torch.cat(list(both))),
        entry("answer", "softmax(W₂ ReLU(W₁ [u; v; |u − v|; u ∗ v]))", ["p"], chances, columns=codec.labels),
    ]


MATCH_PICTURES = Task(
    name="match-pictures",
    summary="Answer a question about each picture, yes or no or one of a few answers.",
    recognise=question_pictures,
    names=require_picture_matcher,
    read=PICTURE_QUESTIONS.read,
    ask=PICTURE_QUESTIONS.ask,
    open=PICTURE_QUESTIONS.open_file,
    learn=PictureQuestionCodec.learn,
    suit=PictureQuestionCodec.suited,
    load=PictureQuestionCodec.load,
    encode=PictureQuestionCodec.encode,
    length=count_alike,
    batch=batch,
    build=build,
    blur=blur,
    weigh=weigh,
    loss=loss,
    answer=answer,
    look=look_at,
    steps=steps,
    selects=ACCURACY,
    metrics=metrics,
    baselines=(
        Majority,
        partial(QuestionOnly, two_texts),
        partial(LinearQuestions, partial(load_picture, side=THUMBNAIL), cut=two_texts),
    ),
    models=IMAGE_QUESTION_MODELS,
    default_model="conv/gru+scaled-dot+co",
    defaults=image_question_defaults,
)
