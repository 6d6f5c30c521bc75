"""Match-pictures: answer a question about a picture, by yes or no or one of a few answers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.frequent import Majority
from atento.baselines.linear_pictures import LinearQuestions, QuestionOnly
from atento.data.batches import pad, read_as_unknown
from atento.data.pictures.loading import load_picture
from atento.layers.losses import Loss
from atento.metrics.labels import ACCURACY
from atento.models.build_picture_matcher import build_picture_matcher, require_picture_matcher
from atento.models.heads import LabelHead
from atento.models.picture_matcher import PictureMatcher, PictureQuestions, as_picture_matcher
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.labelling import metrics, weigh
from atento.tasks.match_codec import two_texts
from atento.tasks.match_pictures_defaults import MODELS, defaults
from atento.tasks.picture_alignment import evidence_in, over_regions, region_names
from atento.tasks.picture_codec import THUMBNAIL, count_alike
from atento.tasks.picture_question_codec import EncodedQuestion, PictureQuestionCodec
from atento.tasks.read_pictures import PICTURE_QUESTIONS
from atento.tasks.recognising_pictures import question_pictures
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

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
    models=MODELS,
    default_model="conv/gru+scaled-dot+co",
    defaults=defaults,
)
