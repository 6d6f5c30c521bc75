"""Answers of a model as JSON, by the output of its task. Nothing here needs torch."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from atento.serving.served import AnswerJson, ModelCard

# Axes: L rows read, H horizon, C channels, Q quantiles, Z latent.


class Answered(Protocol):
    """What an answer has, whatever computed it; `atento.tasks.task.Answer` is one."""

    @property
    def text(self) -> str:
        """As a person reads it."""

    @property
    def score(self) -> float | None:
        """The log-probability, where the model can say."""

    @property
    def value(self) -> Any:
        """As programs take it, where that is not the text."""

    @property
    def probabilities(self) -> Mapping[str, float] | None:
        """Of each label, where there are labels."""


def label_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """One label. Its probability is that of the table, digit for digit, where there is one."""
    probabilities = probabilities_of(answer)
    if probabilities is not None and answer.text in probabilities:
        probability = probabilities[answer.text]
    else:
        probability = None if answer.score is None else math.exp(min(0.0, answer.score))
    return {"label": answer.text, "probability": finite(probability), "probabilities": probabilities}


def labels_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """Any number of labels."""
    return {"labels": list(answer.value[0]), "probabilities": probabilities_of(answer)}


def tags_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """A tag for each word."""
    return {"tags": list(answer.value), "log_probability": finite(answer.score)}


def text_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """A written text."""
    return {"text": answer.text, "log_probability": finite(answer.score)}


def number_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """A number."""
    return {"number": finite(float(answer.text))}


def forecast_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """The steps to come (H, C), and each quantile of them."""
    values = np.asarray(answer.value, dtype=np.float64)  # (H, C, Q)
    values = values[:, :, None] if values.ndim == 2 else values
    quantiles = {level: values[:, :, at].tolist() for at, level in enumerate(card.quantiles)}
    return finite({"forecast": values[:, :, values.shape[2] // 2].tolist(), "quantiles": quantiles})


def window_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """A window (L, C) as it was restored from its latent (Z,)."""
    packed, size = np.asarray(answer.value, dtype=np.float64), card.look_back * len(card.channels)
    window = packed[:size].reshape(card.look_back, len(card.channels))
    return finite({"window": window.tolist(), "latent": packed[size:].tolist()})


def completion_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """A text with what was added; of filled blanks the words in them."""
    added = answer.value if isinstance(answer.value, list) else [answer.value]
    return {
        "text": answer.text,
        "added": ", ".join(map(str, added)) if answer.value is not None else "",
        "log_probability": finite(answer.score),
    }


def neighbours_answer(card: ModelCard, answer: Answered) -> AnswerJson:
    """The nearest words."""
    return {"words": [word for word in answer.text.split(", ") if word]}


ANSWERS: dict[str, Callable[[ModelCard, Answered], AnswerJson]] = {
    "label": label_answer,
    "labels": labels_answer,
    "tags": tags_answer,
    "text": text_answer,
    "number": number_answer,
    "forecast": forecast_answer,
    "window": window_answer,
    "completion": completion_answer,
    "neighbours": neighbours_answer,
}


def probabilities_of(answer: Answered) -> dict[str, float | None] | None:
    """The probability of each label, where the model can say."""
    if answer.probabilities is None:
        return None
    return {label: finite(float(probability)) for label, probability in answer.probabilities.items()}


def finite(value: Any) -> Any:
    """JSON has no infinity: None in its place."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, list) else value
