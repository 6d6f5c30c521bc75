"""Scales of the channels and the list of the labels, for one label a numeric sequence."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from atento.data.records import counted
from atento.spec import TokensRecipe
from atento.tasks.channels import Channels
from atento.tasks.labelling import KnownLabels, labels_of, load_labels

UNMET = -100  # the number that cross-entropy leaves out


class EncodedSeries(NamedTuple):
    """Scaled numbers and the number of their label; a label that training never met costs nothing."""

    values: Tensor  # (T, C)
    label: int


class SeriesCodec(KnownLabels):
    """Texts of numbers and labels <-> tensors and label numbers."""

    def __init__(
        self, channels: Channels, labels: Sequence[str], counts: Sequence[int], *, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(labels, counts, notes=notes)
        self.channels = channels

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "SeriesCodec":
        """Scales and labels from the training part alone."""
        labels, counts, common = labels_of([label for _, label in pairs])
        channels, steps = Channels.learn([source for source, _ in pairs])
        notes = (f"{counted(len(channels), 'channel')}, {steps / len(pairs):.0f} steps a sequence", common)
        return cls(channels, labels, counts, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "SeriesCodec":
        """What `to_json` wrote."""
        labels, counts = load_labels(saved)
        return cls(Channels.load(saved.get("channels")), labels, counts)

    def to_json(self) -> dict[str, Any]:
        """The scale of every channel, and every label with how often it was true."""
        return {"channels": self.channels.to_json(), "labels": list(self.labels), "counts": list(self.counts)}

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        return self.channels.read(source)

    def encode(self, pair: tuple[str, str]) -> EncodedSeries:
        """A training example."""
        return EncodedSeries(self.read(pair[0]), self.numbers.get(pair[1], UNMET))
