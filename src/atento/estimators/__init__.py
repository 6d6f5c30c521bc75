"""scikit-learn estimators: one for each task, trained by the same recipes and the same loop as everything else."""

from atento.estimators.classifying import LabelSetClassifier, Matcher, SequenceClassifier
from atento.estimators.forecasting import Forecaster
from atento.estimators.writing import Captioner, LanguageModel, SequenceTagger, Translator

__all__ = [
    "Captioner",
    "Forecaster",
    "LabelSetClassifier",
    "LanguageModel",
    "Matcher",
    "SequenceClassifier",
    "SequenceTagger",
    "Translator",
]
