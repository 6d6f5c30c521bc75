"""Scales of the channels and the list of the labels, for one label a numeric sequence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from atento.data.records import counted
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.channels import Channels
from atento.tasks.label_codec import MOST_LABELS, SHOWN, balanced_weights, require_labels

UNMET = -100  # the number that cross-entropy leaves out


class EncodedSeries(NamedTuple):
    """Scaled numbers and the number of their label; a label that training never met costs nothing."""

    values: Tensor  # (T, C)
    label: int


class SeriesCodec:
    """Texts of numbers and labels <-> tensors and label numbers."""

    def __init__(
        self, channels: Channels, labels: Sequence[str], counts: Sequence[int], *, notes: tuple[str, ...] = ()
    ) -> None:
        self.channels, self.labels, self.counts, self.notes = channels, tuple(labels), tuple(counts), notes
        self.numbers = {label: number for number, label in enumerate(self.labels)}

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "SeriesCodec":
        """Scales and labels from the training part alone."""
        counts = Counter(label for _, label in pairs)
        labels = sorted(counts)
        require_labels(labels, several=False)
        channels, steps = Channels.learn([source for source, _ in pairs])
        common = ", ".join(f"{label} {counts[label] / len(pairs):.0%}" for label, _ in counts.most_common(SHOWN))
        notes = (
            f"{counted(len(channels), 'channel')}, {steps / len(pairs):.0f} steps a sequence",
            f"{counted(len(labels), 'label')}, most often {common}",
        )
        return cls(channels, labels, [counts[label] for label in labels], notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "SeriesCodec":
        """What `to_json` wrote."""
        labels, counts = saved.get("labels"), saved.get("counts")
        named = isinstance(labels, list) and 1 <= len(labels) <= MOST_LABELS and all(isinstance(x, str) for x in labels)
        numbers = isinstance(counts, list) and all(type(count) is int and count >= 0 for count in counts)
        if not named or not numbers or not len(set(labels or ())) == len(labels or ()) == len(counts or ()):
            raise InputError("this file holds no labels.", found=str(saved)[:80], fix="train again")
        return cls(Channels.load(saved.get("channels")), labels or (), counts or ())

    def to_json(self) -> dict[str, Any]:
        """The scale of every channel, and every label with how often it was true."""
        return {"channels": self.channels.to_json(), "labels": list(self.labels), "counts": list(self.counts)}

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        return self.channels.read(source)

    def encode(self, pair: tuple[str, str]) -> EncodedSeries:
        """A training example."""
        return EncodedSeries(self.read(pair[0]), self.numbers.get(pair[1], UNMET))

    def balanced(self, balance: float) -> Tensor:
        """Weights (C,) of the labels: how much more the rare ones weigh."""
        return balanced_weights(self.counts, balance)
