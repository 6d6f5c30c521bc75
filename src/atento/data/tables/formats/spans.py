"""Spans of a text with labels, as annotation tools write them, to words with tags in the BIO scheme.

doccano   {"text": "Ada in Bern", "label": [[0, 3, "PER"], [7, 11, "LOC"]]}
Prodigy   {"text": "…", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
Label Studio has one task for each text: {"data": {"text": "…"}, "annotations": [{"result": [{"value": …}]}]}
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from atento.data.records import counted, join_items
from atento.data.tables.formats.json_documents import JsonObject

STARTS = ("start", "start_offset", "begin", "offset")
ENDS = ("end", "end_offset")
LABELS = ("label", "labels", "tag", "entity", "type", "entity_group")
TEXTS = ("text", "data", "content", "sentence", "body")  # the usual keys of the text
OUTSIDE, BEGIN, INSIDE = "O", "B-", "I-"
WORD = re.compile(r"\w(?:\S*\w)?|[^\w\s]")  # a word without punctuation at its ends, or a mark
WORDS_COLUMN, TAGS_COLUMN = "words", "tags"


class LabelledSpan(NamedTuple):
    """The first character of a span, the one after its last, and its label."""

    start: int
    end: int
    label: str


class WrongSpan(Exception):
    """A span that does not lie in its text, under the key of the spans; caught by the reader."""

    def __init__(self, problem: str, key: str) -> None:
        super().__init__(problem)
        self.key = key


class SpanColumn:
    """The keys of a text and of its spans; it counts the spans that overlap others."""

    def __init__(self, text: str, spans: str) -> None:
        self.text, self.spans = text, spans
        self.overlapping = 0

    def cells(self, row: JsonObject) -> dict[str, str]:
        """The words of a row and their tags."""
        text = row.get(self.text)
        found = spans_of(row.get(self.spans) or [])
        if not isinstance(text, str) or found is None:
            raise WrongSpan(f"the value of {self.spans!r} holds no spans of a text.", self.spans)
        kept: list[LabelledSpan] = []
        for span in sorted(found, key=lambda one: (one.start, -one.end)):
            if not 0 <= span.start < span.end <= len(text):
                problem = f"a span from {span.start} to {span.end} does not lie in its text of {len(text)} characters."
                raise WrongSpan(problem, self.spans)
            if kept and span.start < kept[-1].end:
                self.overlapping += 1
            else:
                kept.append(span)
        words, tags = tagged_words(text, kept)
        return {WORDS_COLUMN: join_items(words), TAGS_COLUMN: join_items(tags)}

    def key_of(self, column: str) -> str:
        """The key from which a column was made."""
        return {WORDS_COLUMN: self.text, TAGS_COLUMN: self.spans}.get(column, column)

    def notes(self) -> tuple[str, ...]:
        """What was made of the spans."""
        made = f"{self.spans!r} holds spans of {self.text!r} with labels: each word has a tag in the BIO scheme"
        inner = f"{counted(self.overlapping, 'span')} inside another left out"
        return (made, inner) if self.overlapping else (made,)


def find_spans(rows: Sequence[JsonObject]) -> SpanColumn | None:
    """The keys of a text and of its spans in these rows; None where no key holds spans."""
    keys = dict.fromkeys(key for row in rows for key, value in row.items() if isinstance(value, list) and value)
    for key in keys:
        lists = [row[key] for row in rows if row.get(key)]
        if all(spans_of(value) is not None for value in lists):
            text = text_key(rows, key)
            return SpanColumn(text, key) if text else None
    return None


def spans_of(value: object) -> list[LabelledSpan] | None:
    """The spans in a list; None where an item is none."""
    if not isinstance(value, list):
        return None
    found = [span_of(item) for item in value]
    return [span for span in found if span is not None] if None not in found else None


def span_of(item: object) -> LabelledSpan | None:
    """A span written as a list of three, or as an object with a start, an end and a label."""
    if isinstance(item, list):
        start, end, label = item if len(item) == 3 else (None, None, None)
        label = label if isinstance(label, str) and any(map(str.isalpha, label)) else None  # three numbers are no span
    elif isinstance(item, dict):
        start, end, label = (first_of(item, names) for names in (STARTS, ENDS, LABELS))
    else:
        return None
    if isinstance(label, list):
        label = label[0] if len(label) == 1 else None
    whole = all(isinstance(number, str | int) and str(number).isdecimal() for number in (start, end))
    return LabelledSpan(int(str(start)), int(str(end)), label) if whole and isinstance(label, str) and label else None


def first_of(item: JsonObject, names: Iterable[str]) -> Any:
    """The value of the first of these keys that an object has."""
    return next((item[name] for name in names if name in item), None)


def text_key(rows: Sequence[JsonObject], spans: str) -> str:
    """The key of the text: a usual one, else that of the longest texts; empty where there is none."""
    texts = [key for key in rows[0] if key != spans and all(isinstance(row.get(key), str) for row in rows)]
    usual = [key for key in TEXTS if key in texts]
    if usual:
        return usual[0]
    return max(texts, key=lambda key: sum(len(row[key]) for row in rows), default="")


def tagged_words(text: str, spans: Sequence[LabelledSpan]) -> tuple[list[str], list[str]]:
    """The words of a text, cut at the ends of spans, and a tag for each."""
    words, tags = list[str](), list[str]()
    at = 0
    for span in (*spans, LabelledSpan(len(text), len(text), "")):
        outside = WORD.findall(text[at : span.start])
        inside = WORD.findall(text[span.start : span.end])
        words += outside + inside
        tags += [OUTSIDE] * len(outside) + [(INSIDE if place else BEGIN) + span.label for place in range(len(inside))]
        at = span.end
    return words, tags


def flat_task(value: Any) -> Any:
    """A task of Label Studio as an object of its data and of what was annotated; any other value as it is."""
    if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
        return value
    annotations = value.get("annotations")
    if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
        return value
    done = [one for one in annotations if not one.get("was_cancelled") and isinstance(one.get("result"), list)]
    flat: JsonObject = dict(value["data"])
    for result in done[0]["result"] if done else []:
        name, inner = str(result.get("from_name", "label")), result.get("value")
        if not isinstance(inner, dict):
            continue
        if "start" in inner:
            flat.setdefault(name, []).append(inner)
        elif "choices" in inner:
            flat[name] = inner["choices"]
        elif "rating" in inner:
            flat[name] = inner["rating"]
    return flat
