"""Classify-pictures: give one label to each picture, looking at its regions."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.frequent import Majority
from atento.baselines.linear_pictures import LinearPictures
from atento.baselines.nearest_picture import NearestPicture
from atento.blocks.pooling import AttentionPooling
from atento.data.pictures.loading import load_picture
from atento.layers.losses import Loss
from atento.metrics.labels import ACCURACY, MACRO_F1
from atento.metrics.metric import Metric
from atento.models.build_picture_classifier import build_picture_classifier, parse_picture_classifier
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.heads import LabelHead
from atento.models.pictures import PictureEncoder
from atento.spec import DecodeRecipe, ModelRecipe, Recipe
from atento.tasks.classify_pictures_defaults import MODELS, defaults
from atento.tasks.picture_alignment import evidence_in, over_regions, region_names
from atento.tasks.picture_label_codec import EncodedPicture, PictureLabelCodec
from atento.tasks.read_pictures import LABELLED_PICTURES
from atento.tasks.recognising_pictures import label_pictures
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

# Axes: B batch, S side, R regions, C labels.

PICTURES_AT_ONCE = 256
A_PICTURE = 64  # tokens that reading one counts as, about as many as it has regions
THUMBNAIL = 8  # pixels a side, that simple models see


def suit(codec: PictureLabelCodec, recipe: Recipe) -> PictureLabelCodec:
    """Pictures of the size the recipe asks for."""
    return codec.suited(recipe.data)


def encode(codec: PictureLabelCodec, pair: tuple[str, str]) -> EncodedPicture:
    """A training example."""
    return codec.encode(pair)


def length(example: EncodedPicture) -> int:
    """All pictures are alike."""
    return A_PICTURE


def batch(examples: Sequence[EncodedPicture]) -> LabelledBatch:
    """Pixels (B, 3, S, S), and the number of each picture's label."""
    pixels = examples[0].reader.read_all([example.source for example in examples])
    return pictures_batch(pixels, torch.tensor([example.label for example in examples]))


def pictures_batch(pixels: Tensor, truth: Tensor | None = None) -> LabelledBatch:
    """Pictures (B, 3, S, S), all of them there; labels that nobody knows are 0."""
    there = torch.ones(len(pixels), 1, dtype=torch.bool, device=pixels.device)
    return LabelledBatch(pixels, there, torch.zeros(len(pixels), dtype=torch.long) if truth is None else truth)


def build(recipe: ModelRecipe, codec: PictureLabelCodec) -> Classifier:
    """Sizes that follow from data are filled in here."""
    return build_picture_classifier(recipe, LabelHead, len(codec.labels), side=codec.pictures.side)


def weigh(module: nn.Module, codec: PictureLabelCodec, balance: float) -> None:
    """Rare labels weigh more while learning."""
    head = as_classifier(module).head
    if isinstance(head, LabelHead):
        head.weigh(codec.balanced(balance))


def loss(module: nn.Module, batch: LabelledBatch, smoothing: float) -> Loss:
    """How wrong the head is on each picture."""
    return as_classifier(module).loss(batch, smoothing=smoothing)


@torch.no_grad()
def answer(module: nn.Module, codec: PictureLabelCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: the likeliest label."""
    classifier, device = as_classifier(module), next(module.parameters()).device
    said = []
    for first in range(0, len(sources), PICTURES_AT_ONCE):
        rows = pictures_batch(codec.pictures.read_all(sources[first : first + PICTURES_AT_ONCE]).to(device))
        logs = classifier(rows).float().log_softmax(dim=-1).cpu()  # (B, C)
        looked = looked_at(classifier, rows)
        grid = encoder_of(classifier).grid(codec.pictures.side) if looked is not None else (0, 0)
        for row, scores in enumerate(logs):
            best = int(scores.argmax())
            chances = dict(zip(codec.labels, scores.exp().tolist(), strict=True))
            evidence = None if looked is None else evidence_in(looked[row], grid)
            said.append(Answer(codec.labels[best], scores[best].item(), chances=chances, evidence=evidence))
    return said


def looked_at(classifier: Classifier, rows: LabelledBatch) -> Tensor | None:
    """How much of each region was taken (B, R); None where attention does not pool."""
    return classifier.weights(rows).float().cpu() if isinstance(classifier.pooling, AttentionPooling) else None


@torch.no_grad()
def look_at(module: nn.Module, codec: PictureLabelCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The label, and how much of each region it was taken from."""
    classifier, device = as_classifier(module), next(module.parameters()).device
    (said,) = answer(module, codec, [source], recipe)
    grid = encoder_of(classifier).grid(codec.pictures.side)
    taken = looked_at(classifier, pictures_batch(codec.pictures.read_all([source]).to(device)))
    weights = torch.zeros(0, 0, 1, grid[0] * grid[1]) if taken is None else taken[None, None]  # (1, 1, 1, R)
    return over_regions(
        codec.pictures, source, grid=grid, output=[said.text], weights=weights, text=said.text, score=said.score
    )


@torch.no_grad()
def steps(module: nn.Module, codec: PictureLabelCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    classifier, device = as_classifier(module), next(module.parameters()).device
    rows = pictures_batch(codec.pictures.read_all([source]).to(device))
    encoder = encoder_of(classifier)
    grid = encoder.grid(codec.pictures.side)
    regions = region_names(grid)
    encoded = encoder.encode(rows.source, rows.valid)
    summary = classifier.sum_up(encoded)
    taken = looked_at(classifier, rows)
    weights = [] if taken is None else [entry("weights", "how much was taken", regions, taken.mT, columns=["share"])]
    return [
        entry("features", "what is seen at each region", regions, encoder.see(rows.source)[0].flatten(1).mT),
        entry("states", "W f + P p: what is seen, and where", regions, encoded.states[0]),
        *weights,
        entry("summary", "the whole picture in one vector", ["summary"], summary),
        entry("outputs", "W · summary + b", ["output"], classifier.head(summary), columns=codec.labels),
    ]


def as_classifier(module: nn.Module) -> Classifier:
    """The module, typed."""
    if not isinstance(module, Classifier):
        raise TypeError(f"pictures are labelled by a Classifier, not {type(module).__name__}")
    return module


def encoder_of(classifier: Classifier) -> PictureEncoder:
    """The half that sees, typed."""
    if not isinstance(classifier.encoder, PictureEncoder):
        raise TypeError(f"pictures are read by a PictureEncoder, not {type(classifier.encoder).__name__}")
    return classifier.encoder


def metrics(codec: PictureLabelCodec) -> tuple[Metric, ...]:
    """Accuracy first; macro-F1 shows what it hides of rare labels."""
    return (ACCURACY, MACRO_F1)


SMALL = partial(load_picture, side=THUMBNAIL)

CLASSIFY_PICTURES = Task(
    name="classify-pictures",
    summary="Give one label to each picture.",
    recognise=label_pictures,
    names=parse_picture_classifier,
    read=LABELLED_PICTURES.read,
    ask=LABELLED_PICTURES.ask,
    open=LABELLED_PICTURES.open_file,
    learn=PictureLabelCodec.learn,
    suit=suit,
    load=PictureLabelCodec.load,
    encode=encode,
    length=length,
    batch=batch,
    build=build,
    weigh=weigh,
    loss=loss,
    answer=answer,
    look=look_at,
    steps=steps,
    selects=ACCURACY,
    metrics=metrics,
    baselines=(Majority, partial(LinearPictures, SMALL), partial(NearestPicture, SMALL)),
    models=MODELS,
    default_model="conv+scaled-dot",
    defaults=defaults,
)
