"""Baselines: simple models with `fit(sources, targets)` and `predict(sources)`, in every comparison.

catalogue     all baselines that a name alone can make
frequent      majority label, label set and tag
linear        logistic regression, the base of the linear classifiers
text_labels   bags of words and n-grams
log_count_ratios  linear models of n-grams whose scaling folds choose, NB-SVM
word_overlap  what two texts share
text_to_text  nearest text, affix rules
tagging       averaged perceptron, feed-forward network on each step
ngrams        character n-gram language model
sequences     summary statistics and means of number sequences
time_warping  nearest neighbour under dynamic time warping
images        pixels, questions, nearest image
series        naive forecasts of a window
ridge         ridge regression in closed form
dynamics      polynomial map and reservoir, rolled out
explanation   what moved an answer: terms with their contributions, nearest examples
state         what a fitted baseline has learned, as values and arrays that a file can hold
"""

from atento.baselines.catalogue import BASELINES, find_baseline
from atento.baselines.dynamics import Polynomial, Reservoir
from atento.baselines.frequent import Majority, MajorityLabelSet, MostFrequentTag
from atento.baselines.images import LinearImageQuestions, LinearImages, NearestImage, QuestionOnly
from atento.baselines.kneser_ney import KneserNeyText
from atento.baselines.ngrams import CharacterNGram
from atento.baselines.sequences import LinearOnMeans, LinearOnStatistics, MeanTarget
from atento.baselines.series import Drift, LastStep, LastValue, Seasonal
from atento.baselines.tagging import AveragedPerceptron, FeedForwardTagger
from atento.baselines.text_labels import BagClassifier, BagMultiLabel, BagOfWords
from atento.baselines.text_to_text import AffixRules, NearestText
from atento.baselines.time_warping import DTWNearest
from atento.baselines.word_overlap import WordOverlap

__all__ = [
    "BASELINES",
    "AffixRules",
    "AveragedPerceptron",
    "BagClassifier",
    "BagMultiLabel",
    "BagOfWords",
    "CharacterNGram",
    "DTWNearest",
    "Drift",
    "FeedForwardTagger",
    "KneserNeyText",
    "LastStep",
    "LastValue",
    "LinearImageQuestions",
    "LinearImages",
    "LinearOnMeans",
    "LinearOnStatistics",
    "Majority",
    "MajorityLabelSet",
    "MeanTarget",
    "MostFrequentTag",
    "NearestImage",
    "NearestText",
    "Polynomial",
    "QuestionOnly",
    "Reservoir",
    "Seasonal",
    "WordOverlap",
    "find_baseline",
]
