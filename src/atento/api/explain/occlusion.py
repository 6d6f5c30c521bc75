"""Occlusion: how an answer changes when one part of its source is left out (Zeiler and Fergus, 2014, sec. 4.2).

Attributions approximate such changes by gradients; here the model answers the shorter source, so that the numbers are
what it would say. Parts that only matter together are not found.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from atento.bundle import Json
from atento.data.records import LIST_SEPARATOR
from atento.data.text.vocabulary import Words
from atento.predictor import Predictor

MOST_WORDS = 64  # of a source that are left out one by one
KINDS = ("text", "two texts")  # of sources that can be read without one of their words


@dataclass(frozen=True, kw_only=True)
class Occluded:
    """The answer to a source without one of its words."""

    word: str
    start: int  # place of the word in the source
    end: int
    text: str  # the answer
    score: float | None
    probabilities: dict[str, float] | None = None

    def to_json(self) -> Json:
        """Its fields by name."""
        return asdict(self)


def occlusions(predictor: Predictor, source: Any) -> list[Occluded]:
    """The answer without each word; nothing where answers are no labels, or the source is no text or a long one."""
    task = predictor.bundle.task
    if task.judging.labels is None or task.reading.kind not in KINDS or not isinstance(source, str):
        return []
    places = words_in(source)
    if not 2 <= len(places) <= MOST_WORDS:
        return []
    answers = predictor.answer([source[:start] + source[end:].lstrip(" ") for start, end in places])
    return [
        Occluded(
            word=source[start:end],
            start=start,
            end=end,
            text=answer.text,
            score=answer.score,
            probabilities=None if answer.probabilities is None else dict(answer.probabilities),
        )
        for (start, end), answer in zip(places, answers, strict=True)
    ]


def words_in(source: str) -> Sequence[tuple[int, int]]:
    """The places of the words of a source; a word that is the whole of one of two texts cannot be left out."""
    halves, at, found = source.split(LIST_SEPARATOR), 0, []
    for half in halves:
        places = Words([]).offsets(half)
        found += [(at + start, at + end) for start, end in places] if len(places) > 1 or len(halves) == 1 else []
        at += len(half) + len(LIST_SEPARATOR)
    return found
