"""Answers as new columns beside the rows of a file: the answer, its probability, that of each label, its evidence."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from atento.errors import InputError


class RowResult(Protocol):
    """What an answer has, whatever computed it."""

    @property
    def text(self) -> str:
        """As a person reads it."""

    @property
    def score(self) -> float | None:
        """The log-probability, where the model can say."""

    @property
    def probabilities(self) -> Mapping[str, float] | None:
        """Of each label, where there are labels."""

    @property
    def evidence(self) -> str | None:
        """What of the source it rests on, where the model can say."""


def new_columns(
    columns: Mapping[str, Sequence[Any]], answers: Sequence[RowResult], *, proba: bool, places: Sequence[int] | None
) -> dict[str, list[Any]]:
    """What is new beside each row: the answer, its probability, where asked for that of each label, its evidence."""
    found: dict[str, list[Any]] = {"prediction": [answer.text for answer in answers]}
    labels = [answer.probabilities for answer in answers if answer.probabilities is not None]
    scores = [answer.score for answer in answers if answer.score is not None]
    if len(scores) == len(answers) and labels:
        found["probability"] = [round(math.exp(score), 6) for score in scores]
    elif len(scores) == len(answers):
        found["log_probability"] = [round(score, 6) for score in scores]
    if proba and len(labels) != len(answers):
        raise InputError("--proba: this model has no labels.", found="a task without classes", fix="leave --proba out")
    if proba:
        found |= {f"proba_{name}": [round(one[name], 6) for one in labels] for name in (labels[0] if labels else ())}
    if all(answer.evidence is not None for answer in answers):
        found["evidence"] = [answer.evidence for answer in answers]
    rows = len(next(iter(columns.values()), answers))
    places = range(rows) if places is None else places
    taken = {part for name in columns for part in (name, name.partition(".")[0])}
    return {free_name(name, taken): spread(values, places, rows) for name, values in found.items()}


def spread(values: Sequence[Any], places: Sequence[int], rows: int) -> list[Any]:
    """Values at the places of their rows; None at the others."""
    found: list[Any] = [None] * rows
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found


def free_name(name: str, taken: Collection[str]) -> str:
    """`prediction`, or `prediction_2` where the input has such a column."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
