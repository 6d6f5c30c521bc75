"""Metrics: sums over examples and a formula over the sums, each with a bootstrap interval.

metric          what a metric is
bootstrap       confidence intervals, ties, and the metric against length
labels, tags    classification, multi-label classification, tagging and spans
classes         precision, recall and F1 of each class, confusion matrix, calibration
text            exact match, chrF, BLEU, edit distances
language_model  nats and bits per character, perplexity per word
estimates       MSE and R² of estimated numbers
forecasts       MSE, MAE, MASE, pinball loss, coverage and displacement of forecasts
dynamics        valid prediction time and climate of free runs
latents         whether a latent path recreates a flow
alignment       monotonicity of an alignment, attention weight in a box
"""

from atento.metrics.alignment import monotonicity, regions_in_box, weight_in_box
from atento.metrics.bootstrap import Interval, bootstrap_interval, tied
from atento.metrics.classes import calibration, class_scores, confusion_matrix
from atento.metrics.dynamics import Climate, ValidTimes, climate, valid_times
from atento.metrics.estimates import MSE, R2
from atento.metrics.forecasts import ForecastScoring, forecast_metrics, path_metrics
from atento.metrics.labels import (
    ACCURACY,
    MACRO_F1,
    MULTILABEL_MACRO_F1,
    MULTILABEL_MICRO_F1,
    SUBSET_ACCURACY,
    best_thresholds,
    hamming,
    precision_at,
)
from atento.metrics.language_model import BITS_PER_CHARACTER, NATS_PER_CHARACTER, WORD_PERPLEXITY, text_score
from atento.metrics.latents import next_step_r2, smooth_map_r2, smooth_map_r2_each
from atento.metrics.metric import Metric
from atento.metrics.tags import (
    SEQUENCE_ACCURACY,
    SPAN_F1,
    SPAN_PRECISION,
    SPAN_RECALL,
    TAG_ACCURACY,
    find_spans,
    unseen_accuracy,
)
from atento.metrics.text import BLEU4, CHARACTER_ERROR, CHRF2, EDITS, EXACT_MATCH, SYMBOL_ERROR

__all__ = [
    "ACCURACY",
    "BITS_PER_CHARACTER",
    "BLEU4",
    "CHARACTER_ERROR",
    "CHRF2",
    "EDITS",
    "EXACT_MATCH",
    "MACRO_F1",
    "MSE",
    "MULTILABEL_MACRO_F1",
    "MULTILABEL_MICRO_F1",
    "NATS_PER_CHARACTER",
    "R2",
    "SEQUENCE_ACCURACY",
    "SPAN_F1",
    "SPAN_PRECISION",
    "SPAN_RECALL",
    "SUBSET_ACCURACY",
    "SYMBOL_ERROR",
    "TAG_ACCURACY",
    "WORD_PERPLEXITY",
    "Climate",
    "ForecastScoring",
    "Interval",
    "Metric",
    "ValidTimes",
    "best_thresholds",
    "bootstrap_interval",
    "calibration",
    "class_scores",
    "climate",
    "confusion_matrix",
    "find_spans",
    "forecast_metrics",
    "hamming",
    "monotonicity",
    "next_step_r2",
    "path_metrics",
    "precision_at",
    "regions_in_box",
    "smooth_map_r2",
    "smooth_map_r2_each",
    "text_score",
    "tied",
    "unseen_accuracy",
    "valid_times",
    "weight_in_box",
]
