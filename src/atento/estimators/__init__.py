"""scikit-learn estimators: one for each task, trained by the same recipes and the same loop as everything else."""

from atento.estimators.classifying import ClassifierEstimator, LabelSetEstimator, MatcherEstimator
from atento.estimators.forecasting import ForecasterEstimator
from atento.estimators.writing import CaptionerEstimator, LanguageModelEstimator, TaggerEstimator, TranslatorEstimator

__all__ = [
    "CaptionerEstimator",
    "ClassifierEstimator",
    "ForecasterEstimator",
    "LabelSetEstimator",
    "LanguageModelEstimator",
    "MatcherEstimator",
    "TaggerEstimator",
    "TranslatorEstimator",
]
