"""Classify-pictures: give one label to each picture, looking at its regions.

Pictures and the list of their labels.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.baselines.frequent import Majority
from atento.baselines.images import LinearPictures, NearestPicture
from atento.blocks.pooling import AttentionPooling
from atento.data.images.loading import load_picture
from atento.layers.losses import Loss
from atento.metrics.labels import ACCURACY
from atento.models.backbones.images import all_there, as_picture_encoder
from atento.models.build.images import build_picture_classifier, require_picture_classifier
from atento.models.classifier import Classifier, LabelledBatch, as_classifier
from atento.models.heads import LabelHead
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.classify.defaults import IMAGE_MODELS, image_defaults
from atento.tasks.classify.labels import KnownLabels, labels_of, load_labels, metrics, weigh
from atento.tasks.inputs.images import THUMBNAIL, PictureReader, count_alike, evidence_in, over_regions, region_names
from atento.tasks.reading.images import LABELLED_PICTURES
from atento.tasks.recognising.images import label_pictures
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry


class EncodedPicture(NamedTuple):
    """A picture by its name, with its reader, and the number of its label."""

    reader: PictureReader
    source: str
    label: int


class PictureLabelCodec(KnownLabels):
    """Sources, paths or drawn scenes, and labels <-> pixels and label numbers."""

    def __init__(
        self, pictures: PictureReader, labels: Sequence[str], counts: Sequence[int], *, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(labels, counts, notes=notes)
        self.pictures = pictures

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "PictureLabelCodec":
        """The labels of the training part alone, and how large its pictures are."""
        labels, counts, note = labels_of([target for _, target in pairs])
        pictures = PictureReader.of([source for source, _ in pairs])
        return cls(pictures, labels, counts, notes=(note, pictures.note))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "PictureLabelCodec":
        """What `to_json` wrote."""
        labels, counts = load_labels(saved)
        return cls(PictureReader.load(saved.get("pictures")), labels, counts)

    def to_json(self) -> dict[str, Any]:
        """How pictures are read, and every label with how often it was true."""
        return {"pictures": self.pictures.to_json(), "labels": list(self.labels), "counts": list(self.counts)}

    def suited(self, recipe: Recipe) -> "PictureLabelCodec":
        """The same labels of pictures that are read as the recipe says."""
        pictures = self.pictures.suited(recipe.data)
        return PictureLabelCodec(pictures, self.labels, self.counts, notes=(*self.notes[:1], pictures.note))

    def encode(self, pair: tuple[str, str]) -> EncodedPicture:
        """A training example; a label that training never met counts as the first."""
        return EncodedPicture(self.pictures, pair[0], self.numbers.get(pair[1], 0))


# Axes: B batch, S side, R regions, C labels.

PICTURES_AT_ONCE = 256


def batch(examples: Sequence[EncodedPicture]) -> LabelledBatch:
    """Pixels (B, 3, S, S), and the number of each picture's label."""
    pixels = examples[0].reader.read_all([example.source for example in examples])
    return pictures_batch(pixels, torch.tensor([example.label for example in examples]))


def pictures_batch(pixels: Tensor, truth: Tensor | None = None) -> LabelledBatch:
    """Pictures (B, 3, S, S), all of them there; labels that nobody knows are 0."""
    labels = torch.zeros(len(pixels), dtype=torch.long) if truth is None else truth
    return LabelledBatch(pixels, all_there(pixels), labels)


def build(recipe: ModelRecipe, codec: PictureLabelCodec) -> Classifier:
    """Sizes that follow from data are filled in here."""
    return build_picture_classifier(recipe, LabelHead, len(codec.labels), side=codec.pictures.side)


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
        grid = as_picture_encoder(classifier.encoder).grid(codec.pictures.side) if looked is not None else (0, 0)
        for row, scores in enumerate(logs):
            evidence = None if looked is None else evidence_in(looked[row], grid)
            said.append(codec.likeliest(scores, evidence=evidence))
    return said


def looked_at(classifier: Classifier, rows: LabelledBatch) -> Tensor | None:
    """How much of each region was taken (B, R); None where attention does not pool."""
    return classifier.weights(rows).float().cpu() if isinstance(classifier.pooling, AttentionPooling) else None


@torch.no_grad()
def look_at(module: nn.Module, codec: PictureLabelCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The label, and how much of each region it was taken from."""
    classifier, device = as_classifier(module), next(module.parameters()).device
    (said,) = answer(module, codec, [source], recipe)
    grid = as_picture_encoder(classifier.encoder).grid(codec.pictures.side)
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
    encoder = as_picture_encoder(classifier.encoder)
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


SMALL = partial(load_picture, side=THUMBNAIL)

CLASSIFY_PICTURES = Task(
    name="classify-pictures",
    summary="Give one label to each picture.",
    recognise=label_pictures,
    names=require_picture_classifier,
    read=LABELLED_PICTURES.read,
    ask=LABELLED_PICTURES.ask,
    open=LABELLED_PICTURES.open_file,
    learn=PictureLabelCodec.learn,
    suit=PictureLabelCodec.suited,
    load=PictureLabelCodec.load,
    encode=PictureLabelCodec.encode,
    length=count_alike,
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
    models=IMAGE_MODELS,
    default_model="conv+scaled-dot",
    defaults=image_defaults,
)
