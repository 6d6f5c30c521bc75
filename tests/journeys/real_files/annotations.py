"""What annotation tools write."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.journeys.real_files.contents import Expected, real, reviews, write
from tests.journeys.real_files.words import TAGS, entities


def spans(words: Sequence[tuple[str, str]]) -> list[tuple[int, int, str]]:
    """Begin, end and name of each entity, in characters."""
    found: list[tuple[int, int, str]] = []
    at = 0
    for word, tag in words:
        if tag.startswith("I-"):
            found[-1] = (found[-1][0], at + len(word), found[-1][2])
        elif tag != "O":
            found.append((at, at + len(word), tag[2:]))
        at += len(word) + 1
    return found


@real("Label Studio JSON, entities")
def label_studio(folder: Path) -> Expected:
    tasks = []
    for at, words in enumerate(entities(40), start=1):
        text = " ".join(word for word, _ in words)
        result = [
            {
                "value": {"start": begin, "end": end, "text": text[begin:end], "labels": [name]},
                "id": f"r{at}-{begin}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
            }
            for begin, end, name in spans(words)
        ]
        tasks.append(
            {
                "id": at,
                "annotations": [{"id": at, "completed_by": 1, "result": result, "was_cancelled": False}],
                "data": {"text": text},
                "project": 1,
            }
        )
    return Expected(write(folder, "project-1-at-2024-01-31.json", json.dumps(tasks)), "tag", rows=40, labels=TAGS)


@real("Label Studio JSON-MIN, choices")
def label_studio_min(folder: Path) -> Expected:
    rows = [
        {
            "text": text,
            "id": at,
            "sentiment": label,
            "annotator": 1,
            "annotation_id": at,
            "created_at": "2024-01-31T10:00:00.000Z",
            "lead_time": round(3 + at / 7, 3),
        }
        for at, (text, label) in enumerate(reviews(80, labels=("Negative", "Positive")), start=1)
    ]
    return Expected(
        write(folder, "project-2-at-2024-01-31.json", json.dumps(rows)),
        "classify",
        {"text": "text", "label": "sentiment"},
        rows=80,
        labels=("Negative", "Positive"),
    )


@real("doccano JSONL, spans")
def doccano_spans(folder: Path) -> Expected:
    body = "".join(
        json.dumps(
            {
                "id": at,
                "text": " ".join(word for word, _ in words),
                "label": [list(span) for span in spans(words)],
                "Comments": [],
            }
        )
        + "\n"
        for at, words in enumerate(entities(60), start=1)
    )
    return Expected(write(folder, "all.jsonl", body), "tag", rows=60, labels=TAGS)


@real("doccano JSONL, one label")
def doccano_labels(folder: Path) -> Expected:
    body = "".join(
        json.dumps({"id": at, "text": text, "label": [label], "Comments": []}) + "\n"
        for at, (text, label) in enumerate(reviews(120), start=1)
    )
    return Expected(
        write(folder, "admin.jsonl", body),
        "classify",
        {"text": "text", "label": "label"},
        rows=120,
        labels=("neg", "pos"),
    )
