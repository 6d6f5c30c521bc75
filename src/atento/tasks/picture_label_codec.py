"""Pictures and the list of their labels."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.spec import Recipe, TokensRecipe
from atento.tasks.labelling import KnownLabels, labels_of, load_labels
from atento.tasks.picture_codec import PictureReader


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
