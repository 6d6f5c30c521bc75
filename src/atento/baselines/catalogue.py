"""Names of simple models become models here and nowhere else; what each kind of question is answered by."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from atento.baselines.frequent import Majority, MajorityLabels, MostFrequentTag
from atento.baselines.ngrams import CharacterCounts
from atento.baselines.sequences import LinearOnMeans, LinearOnShapes, MeanTarget
from atento.baselines.series import Autoregression, Drift, LastStep, LastValue, Seasonal
from atento.baselines.tagging import EachStep, Perceptron
from atento.baselines.text_labels import Bag, LinearLabels, LinearLabelSets
from atento.baselines.text_pairs import Nearest, Overlap, Rewrite
from atento.baselines.time_warping import NearestWarped
from atento.errors import unknown_name

Answers = Literal["text", "new text", "label", "label of numbers", "labels", "tags", "number", "series", "surprise"]


class Entry(NamedTuple):
    """What a simple model answers with, and how it is made."""

    answers: Answers
    make: Callable[[], Any]


def read_numbers(text: str) -> list[list[float]]:
    """Steps parted by spaces, the numbers of a step by commas."""
    return [[float(number) for number in step.split(",")] for step in text.split()]


BASELINES: dict[str, Entry] = {
    "nearest": Entry("text", Nearest),
    "rewrite": Entry("new text", Rewrite),
    "majority": Entry("label", Majority),
    "bag-of-words": Entry("label", lambda: LinearLabels(Bag(), name="bag-of-words")),
    "bag-of-n-grams": Entry("label", lambda: LinearLabels(Bag(longest=2, most=20_000), name="bag-of-n-grams")),
    "tf-idf": Entry("label", lambda: LinearLabels(Bag(longest=2, weigh="tf-idf", most=20_000), name="tf-idf")),
    "majority-labels": Entry("labels", MajorityLabels),
    "tf-idf-labels": Entry(
        "labels", lambda: LinearLabelSets(Bag(longest=2, weigh="tf-idf", most=20_000), name="tf-idf-labels")
    ),
    "word-overlap": Entry("label", Overlap),
    "frequent-tag": Entry("tags", MostFrequentTag),
    "each-step": Entry("tags", EachStep),
    "perceptron": Entry("tags", Perceptron),
    "shapes": Entry("label of numbers", lambda: LinearOnShapes(read_numbers)),
    "warping": Entry("label of numbers", lambda: NearestWarped(read_numbers)),
    "mean": Entry("number", MeanTarget),
    "linear": Entry("number", lambda: LinearOnMeans(read_numbers)),
    "unigram": Entry("surprise", lambda: CharacterCounts(1)),
    "5-gram": Entry("surprise", CharacterCounts),
    "last-value": Entry("series", LastValue),
    "seasonal": Entry("series", lambda: Seasonal(24)),
    "drift": Entry("series", Drift),
    "last-step": Entry("series", LastStep),
    "autoregression": Entry("series", Autoregression),
    "autoregression-anchored": Entry("series", lambda: Autoregression(anchored=True)),
}


def find_baseline(name: str) -> Any:
    """A new simple model of that name, to be fitted."""
    if name not in BASELINES:
        raise unknown_name("baseline", name, BASELINES)
    return BASELINES[name].make()
