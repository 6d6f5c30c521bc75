"""Pictures and the list of their labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from atento.data.records import counted
from atento.errors import InputError
from atento.spec import DataRecipe, TokensRecipe
from atento.tasks.label_codec import MOST_LABELS, SHOWN, balanced_weights, require_labels
from atento.tasks.picture_codec import PictureReader


class EncodedPicture(NamedTuple):
    """A picture by its name, with its reader, and the number of its label."""

    reader: PictureReader
    source: str
    label: int


class PictureLabelCodec:
    """Sources, paths or drawn scenes, and labels <-> pixels and label numbers."""

    def __init__(
        self, pictures: PictureReader, labels: Sequence[str], counts: Sequence[int], *, notes: tuple[str, ...] = ()
    ) -> None:
        self.pictures, self.labels, self.counts, self.notes = pictures, tuple(labels), tuple(counts), notes
        self.numbers = {label: number for number, label in enumerate(self.labels)}

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

    def suited(self, recipe: DataRecipe) -> "PictureLabelCodec":
        """The same labels of pictures that are read as the recipe says."""
        pictures = self.pictures.suited(recipe)
        return PictureLabelCodec(pictures, self.labels, self.counts, notes=(*self.notes[:1], pictures.note))

    def encode(self, pair: tuple[str, str]) -> EncodedPicture:
        """A training example; a label that training never met counts as the first."""
        return EncodedPicture(self.pictures, pair[0], self.numbers.get(pair[1], 0))

    def balanced(self, balance: float) -> Tensor:
        """Weights (C,) of the labels: rare ones weigh more."""
        return balanced_weights(self.counts, balance)


def labels_of(targets: Sequence[str]) -> tuple[list[str], list[int], str]:
    """The labels, how often each is true, and what to say of them."""
    counts = Counter(targets)
    labels = sorted(counts)
    require_labels(labels, several=False)
    common = ", ".join(f"{label} {counts[label] / len(targets):.0%}" for label, _ in counts.most_common(SHOWN))
    return labels, [counts[label] for label in labels], f"{counted(len(labels), 'label')}, most often {common}"


def load_labels(saved: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    """The labels that a codec wrote, and how often each was true."""
    labels, counts = saved.get("labels"), saved.get("counts")
    named = isinstance(labels, list) and 1 <= len(labels) <= MOST_LABELS and all(isinstance(x, str) for x in labels)
    numbers = isinstance(counts, list) and all(type(count) is int and count >= 0 for count in counts)
    if not named or not numbers or not len(set(labels or ())) == len(labels or ()) == len(counts or ()):
        raise InputError("this file holds no labels, one twice, or one without its count.", fix="train again")
    return list(labels or ()), list(counts or ())
