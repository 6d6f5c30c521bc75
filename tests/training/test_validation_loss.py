"""The loss on validation data: minus the mean log-probability of what is right, watched beside the training loss."""

import json
import math

import pytest

import atento
from atento.training import loop, read_events

WORDS = {"yes": ("good", "fine", "great"), "no": ("bad", "poor", "awful")}
QUICK = {
    "train.steps": 12,
    "train.validations": 3,
    "train.threads": 1,
    "train.baselines": "no",
    "train.label_smoothing": 0.0,
    "data.split": "60/20/20",
    "model.hidden": 16,
    "model.dropout": 0.3,
}


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    path = tmp_path_factory.mktemp("reviews") / "reviews.csv"
    rows = [
        f"{word} film number {number} {'very' * (number % 3)},{label}"
        for number in range(60)
        for label, words in WORDS.items()
        for word in words[:1] + words[number % 3 :][:1]
    ]
    path.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def fitted(reviews, out):
    return atento.fit(reviews, task="classify", model="gru", settings=QUICK, seed=3, out=out)


def test_it_is_the_mean_log_probability_of_the_references(reviews, tmp_path):
    run = fitted(reviews, tmp_path / "run")
    events = [event for event in read_events(run.folder / "events.jsonl") if event["event"] == "validation"]
    best = next(event for event in events if event["step"] == run.metrics["best_step"])
    held_out = run.predictor.bundle.read().valid
    answers = run.predictor.answer([one.source for one in held_out])
    chances = [answer.probabilities[one.references[0]] for answer, one in zip(answers, held_out, strict=True)]
    wanted = -sum(map(math.log, chances)) / len(chances)
    assert best["validation_loss"] == pytest.approx(wanted, rel=1e-4)
    assert [point["validation loss"] for point in run.metrics["curve"]] == [
        event["validation_loss"] for event in events
    ]


def test_it_asks_for_all_labels_of_a_set(tmp_path):
    path = tmp_path / "topics.jsonl"
    topics = {"match": ["sport"], "election": ["politics"], "stadium": ["sport", "politics"], "weather": []}
    rows = [{"text": f"{word} {number}", "labels": labels} for number in range(37) for word, labels in topics.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = {**QUICK, "data.label": "labels", "train.class_weight": 0.0}
    run = atento.fit(path, task="label", model="gru", settings=settings, seed=3, out=tmp_path / "run")
    events = [event for event in read_events(run.folder / "events.jsonl") if event["event"] == "validation"]
    best = next(event for event in events if event["step"] == run.metrics["best_step"])
    held_out = run.predictor.bundle.read().valid
    assert {len(one.references) for one in held_out} == {0, 1, 2}
    answers = run.predictor.answer([one.source for one in held_out])
    chances = [
        chance if label in one.references else 1 - chance
        for answer, one in zip(answers, held_out, strict=True)
        for label, chance in answer.probabilities.items()
    ]
    assert best["validation_loss"] == pytest.approx(-sum(map(math.log, chances)) / len(chances), rel=1e-3)


def test_it_does_not_change_what_is_learned(reviews, tmp_path, monkeypatch):
    watched = fitted(reviews, tmp_path / "watched")
    monkeypatch.setattr(loop, "validation_loss", lambda *_: None)
    alone = fitted(reviews, tmp_path / "alone")
    assert "validation loss" not in alone.metrics["curve"][0]
    losses = [
        [event["loss"] for event in read_events(run.folder / "events.jsonl") if event["event"] == "step"]
        for run in (watched, alone)
    ]
    assert losses[0] == losses[1] and len(set(losses[0])) >= 3
