"""The report of a run, written from its folder alone."""

import json

import pytest

import atento
from atento.training import learning_rate, read_events


def test_the_report_of_a_run_has_its_losses_and_its_learning_rate(tmp_path):
    rows = [
        f"{word} film number {number},{label}" for number in range(50) for word, label in (("good", "a"), ("bad", "b"))
    ]
    (tmp_path / "films.csv").write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    settings = {
        "train.steps": 12,
        "train.validations": 4,
        "train.warmup": 5,
        "model.hidden": 8,
        "train.baselines": "no",
    }
    run = atento.fit(tmp_path / "films.csv", task="classify", model="gru", settings=settings, out=tmp_path / "run")
    page = run.report(tmp_path / "report.html").read_text(encoding="utf-8")

    data = json.loads(page.partition('id="chart-learning">')[2].partition("</script>")[0])
    (series,) = data["series"]
    events = read_events(run.folder / "events.jsonl")
    steps = [event for event in events if event["event"] == "step"]
    training, validation = series["tables"]["training"], series["tables"]["validation"]
    assert training["step"] == [event["step"] for event in steps]
    assert training["loss"] == pytest.approx([event["loss"] for event in steps], rel=1e-6)
    rates = [learning_rate(run.recipe, event["step"], event["progress"]) for event in steps]
    assert training["learning rate"] == pytest.approx(rates, rel=1e-6) and len(set(rates)) > 2
    held_out = [event["validation_loss"] for event in events if event["event"] == "validation"]
    assert validation["validation loss"] == pytest.approx(held_out, rel=1e-6)
    assert training["epoch"][-1] == pytest.approx(run.metrics["epochs"], rel=1e-6)
    command = f"run = atento.load({str(run.folder)!r})"
    assert command.replace("'", "&#x27;") in page
    wrong = run.metrics["worst"]
    assert all(set(one["probabilities"]) <= {"a", "b"} and sum(one["probabilities"].values()) <= 1.001 for one in wrong)
