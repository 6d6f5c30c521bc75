"""The baselines by name: the one place where a name becomes a model."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from atento.baselines.frequent import Majority, MajorityLabelSet, MostFrequentTag
from atento.baselines.kneser_ney import character_kneser_ney
from atento.baselines.log_count_ratios import ratio_model
from atento.baselines.ngrams import CharacterNGram
from atento.baselines.sequences import LinearOnMeans, LinearOnStatistics, MeanTarget
from atento.baselines.series import Drift, LastStep, LastValue, Seasonal
from atento.baselines.tagging import AveragedPerceptron, FeedForwardTagger
from atento.baselines.text_labels import BagClassifier, BagMultiLabel, BagOfWords
from atento.baselines.text_to_text import AffixRules, NearestText
from atento.baselines.time_warping import DTWNearest
from atento.baselines.word_overlap import WordOverlap
from atento.errors import unknown_name

AnswerKind = Literal[
    "text", "new text", "label", "label of numbers", "labels", "tags", "number", "series", "scored text"
]


NB_SVM_INVERSE_PENALTY = 100.0


class BaselineEntry(NamedTuple):
    """What a baseline answers with, and how it is made."""

    answers: AnswerKind
    make: Callable[[], Any]


def read_numbers(text: str) -> list[list[float]]:
    """A written sequence as numbers: steps are separated by spaces, the channels of a step by commas."""
    return [[float(number) for number in step.split(",")] for step in text.split()]


def ngram_bag() -> BagOfWords:
    """Words and pairs of words."""
    return BagOfWords(max_n=2, max_terms=20_000)


def tf_idf_bag() -> BagOfWords:
    """The same, weighted by tf-idf."""
    return BagOfWords(max_n=2, weighting="tf-idf", max_terms=20_000)


def ratio_bag() -> BagOfWords:
    """Which words and pairs of words a text has."""
    return BagOfWords(max_n=2, weighting="unit presence", max_terms=50_000)


def naive_bayes_svm() -> BagClassifier:
    """A linear model of log-count ratios; its penalty was chosen by folds of reviews and of questions."""
    return BagClassifier(ratio_bag(), name="nb-svm", inverse_penalty=NB_SVM_INVERSE_PENALTY, solve=ratio_model)


BASELINES: dict[str, BaselineEntry] = {
    "nearest": BaselineEntry("text", NearestText),
    "rewrite": BaselineEntry("new text", AffixRules),
    "majority": BaselineEntry("label", Majority),
    "bag-of-words": BaselineEntry("label", lambda: BagClassifier(BagOfWords(), name="bag-of-words")),
    "bag-of-n-grams": BaselineEntry("label", lambda: BagClassifier(ngram_bag(), name="bag-of-n-grams")),
    "tf-idf": BaselineEntry("label", lambda: BagClassifier(tf_idf_bag(), name="tf-idf")),
    "nb-svm": BaselineEntry("label", naive_bayes_svm),
    "majority-labels": BaselineEntry("labels", MajorityLabelSet),
    "tf-idf-labels": BaselineEntry("labels", lambda: BagMultiLabel(tf_idf_bag(), name="tf-idf-labels")),
    "word-overlap": BaselineEntry("label", WordOverlap),
    "frequent-tag": BaselineEntry("tags", MostFrequentTag),
    "each-step": BaselineEntry("tags", FeedForwardTagger),
    "perceptron": BaselineEntry("tags", AveragedPerceptron),
    "shapes": BaselineEntry("label of numbers", lambda: LinearOnStatistics(read_numbers)),
    "warping": BaselineEntry("label of numbers", lambda: DTWNearest(read_numbers)),
    "mean": BaselineEntry("number", MeanTarget),
    "linear": BaselineEntry("number", lambda: LinearOnMeans(read_numbers)),
    "unigram": BaselineEntry("scored text", lambda: CharacterNGram(1)),
    "5-gram": BaselineEntry("scored text", CharacterNGram),
    "kneser-ney": BaselineEntry("scored text", character_kneser_ney),
    "last-value": BaselineEntry("series", LastValue),
    "seasonal": BaselineEntry("series", lambda: Seasonal(24)),
    "drift": BaselineEntry("series", Drift),
    "last-step": BaselineEntry("series", LastStep),
}


def find_baseline(name: str) -> Any:
    """A new, unfitted baseline of that name."""
    if name not in BASELINES:
        raise unknown_name("baseline", name, BASELINES)
    return BASELINES[name].make()
