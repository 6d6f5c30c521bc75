"""Who won, who tied; a simple model that wins is named the winner."""

from dataclasses import replace

import pytest

from atento.api.comparison.scoreboard import judge
from atento.metrics import EXACT_MATCH, bootstrap_interval
from atento.views import Row

REFERENCES = [("right",)] * 400


def row(model, right, *, baseline=False, parameters=1000, rate=50.0, lengths=(), failed=""):
    """A row, and the outputs behind it: so many right answers of 400."""
    outputs = ["right"] * right + ["wrong"] * (400 - right)
    value, low, high = bootstrap_interval(EXACT_MATCH, [outputs], REFERENCES)
    made = Row(model=model, baseline=baseline, parameters=parameters, failed=failed, lengths=list(lengths))
    return replace(made, value=value, low=low, high=high, predictions_per_second=rate), outputs


def verdict(*made):
    rows = [one for one, _ in made]
    outputs = {one.model: [texts] for one, texts in made if not one.failed}
    return rows, judge(rows, outputs, REFERENCES, EXACT_MATCH)


@pytest.mark.spec("X04")
def test_a_clear_winner():
    rows, found = verdict(row("nearest", 100, baseline=True), row("rnn", 200), row("lstm", 380))
    assert (found["winner"], found["ties"]) == ("lstm", [])
    assert "lstm is best: exact 0.950" in found["verdict"][0]
    assert found["verdict"][0].endswith("Every other model is significantly worse (paired bootstrap, 95 %).")
    assert "The simple baseline nearest reaches 0.250" in " ".join(found["verdict"])
    assert [one.tied for one in rows] == [False, False, True]


def test_several_baselines_share_a_sentence_best_first():
    simple = [row(name, right, baseline=True) for name, right in (("majority", 100), ("nearest", 200), ("bag", 150))]
    _, found = verdict(*simple, row("lstm", 380))
    said = [sentence for sentence in found["verdict"] if "baseline" in sentence]
    assert len(said) == 1
    assert said[0].startswith("The simple baseline nearest reaches 0.500 (0.4")
    assert said[0].endswith("); bag 0.375, majority 0.250.")


@pytest.mark.spec("X04")
def test_ties_are_called_ties():
    small = row("gru", 379, parameters=500, rate=70.0)
    _, found = verdict(row("nearest", 100, baseline=True), small, row("lstm", 380))
    assert (found["winner"], found["ties"]) == ("lstm", ["gru"])
    assert found["verdict"][0].startswith("lstm and gru tie: exact 0.950 (") and "best:" not in found["verdict"][0]
    small = "The smallest of them is gru (500 parameters); it is also the fastest (70 answers per second)."
    assert found["verdict"][1] == small


@pytest.mark.spec("X04")
def test_a_baseline_that_wins_is_named():
    simple = row("nearest", 390, baseline=True, parameters=0)
    simple[0].summary = "the nearest source"
    _, found = verdict(simple, row("lstm", 200), row("gru", 100))
    assert found["winner"] == "nearest"
    by_what = "The simple baseline nearest (the nearest source) is better than every trained model"
    assert found["verdict"][1:] == [f"{by_what}: 0.975 against 0.500 of lstm."]


def test_a_wide_part_is_no_baseline_though_it_has_the_score_of_one():
    wide = row("gru+additive+wide", 390)
    wide[0].curve = [{"step": 0, "value": 0.5}, {"step": 9, "value": 0.5}]
    rows, found = verdict(row("tf-idf", 390, baseline=True), wide)
    assert [one.same_as for one in rows] == ["", "closed form"]
    assert "did not improve on the closed-form solution it starts from" in " ".join(found["verdict"])


def test_models_whose_time_ended_too_early_are_named():
    late, slow, tied = row("lstm", 200), row("rnn", 100), row("gru", 389)
    for one, _ in (late, slow, tied):
        one.improving = True
    said = "still improving when {} time was used up; a larger --budget may change the order."
    _, found = verdict(row("nearest", 390, baseline=True, parameters=0), late, tied)
    assert found["verdict"][-1] == "lstm was " + said.format("its")
    _, found = verdict(row("nearest", 390, baseline=True, parameters=0), late, slow)
    assert found["verdict"][-1] == "lstm and rnn were " + said.format("their")
    _, found = verdict(row("nearest", 390, baseline=True, parameters=0), row("lstm", 200))
    assert not [sentence for sentence in found["verdict"] if "improving" in sentence]


@pytest.mark.spec("X04")
def test_at_equal_value_the_simple_one_wins():
    _, found = verdict(row("lstm", 300), row("nearest", 300, baseline=True, parameters=0))
    assert (found["winner"], found["ties"]) == ("nearest", ["lstm"])
    assert found["verdict"][0].startswith("nearest and lstm tie: exact 0.750 (")
    assert found["verdict"][-1] == "The simple baseline nearest is as good as the trained models."


def test_models_that_stayed_in_closed_form_are_named():
    simple, (still, ends), (moved, other) = row("ridge", 200, baseline=True), row("gru", 200), row("rnn", 230)
    (units, else_where), (beside, alike) = row("lstm", 150), row("linear", 200)
    still.curve = moved.curve = units.curve = beside.curve = [{"step": 0}, {"step": 9}]
    moved.best_step = 9
    rows, found = verdict(simple, (still, ends), (moved, other), (units, else_where), (beside, alike))
    assert [one.same_as for one in rows] == ["", "ridge", "", "closed form", "ridge"]
    key = "--set train.closed_form=no starts from random weights."
    assert [sentence for sentence in found["verdict"] if "did not improve" in sentence] == [
        f"gru and linear: training did not improve on the ridge solution they start from; {key}",
        f"lstm: training did not improve on the closed-form solution it starts from; {key}",
    ]


def test_a_network_that_ended_as_the_baseline_it_began_with_is_as_good(monkeypatch):
    """Roundings may all point one way, so that the test of differences tells the two apart."""
    monkeypatch.setattr("atento.api.comparison.scoreboard.tied", lambda *_: False)
    simple, (still, ends), (moved, other) = row("ridge", 200, baseline=True), row("gru", 200), row("rnn", 199)
    still.curve = moved.curve = [{"step": 0}, {"step": 9}]
    moved.best_step = 9
    _, found = verdict(simple, (still, ends), (moved, other))
    assert (found["winner"], found["ties"]) == ("ridge", ["gru"])
    assert "The simple baseline ridge is as good as the trained models." in found["verdict"]
    _, found = verdict((still, ends), (moved, other))
    assert (found["winner"], found["ties"]) == ("gru", []), "two starts of their own are two models"


@pytest.mark.spec("X04")
def test_a_failed_row_takes_no_part():
    rows, found = verdict(row("lstm", 400, failed="exit code 4: training diverged"), row("gru", 100))
    assert found["winner"] == "gru"
    assert rows[0].failed == "exit code 4: training diverged"
    assert not rows[0].tied


def test_when_all_failed_nobody_won():
    _, found = verdict(row("lstm", 0, failed="killed by SIGKILL"))
    assert (found["winner"], found["ties"]) == (None, [])
    assert "Every model failed" in found["verdict"][0]


@pytest.mark.parametrize("low, words", [(0.7, "do not overlap"), (0.55, "overlap")])
def test_what_attention_buys_on_long_sources(low, words):
    """All models with one fixed vector are named, not only the one of the same family."""
    band = {"label": "40–60", "value": 0.5, "low": 0.4, "high": 0.6}
    worse = {"label": "40–60", "value": 0.3, "low": 0.2, "high": 0.4}
    attending = {"label": "40–60", "value": 0.8, "low": low, "high": 0.9}
    rows = (row("gru", 150, lengths=[band]), row("lstm", 200, lengths=[worse]))
    _, found = verdict(*rows, row("lstm+dot", 380, lengths=[attending]), row("transformer", 100, lengths=[band]))
    assert found["verdict"][-1] == (
        "On the longest sources (40–60 characters) lstm+dot has 0.800 with attention; with one fixed vector: "
        f"gru 0.500 and lstm 0.300. The intervals of lstm+dot and gru {words}."
    )


def test_where_attention_is_worse_on_long_sources_that_is_no_tie():
    band = {"label": "40–60", "value": 0.75, "low": 0.7, "high": 0.8}
    worse = {"label": "40–60", "value": 0.2, "low": 0.1, "high": 0.3}
    _, found = verdict(row("lstm", 300, lengths=[band]), row("lstm+dot", 100, lengths=[worse]))
    assert any(sentence.endswith("lstm+dot and lstm do not overlap.") for sentence in found["verdict"])


def test_of_labels_nothing_is_said_of_long_sources():
    band = {"label": "40–60", "value": 0.5, "low": 0.4, "high": 0.6}
    rows = [row("lstm", 200, lengths=[band]), row("lstm+dot", 380, lengths=[band])]
    outputs = {one.model: [texts] for one, texts in rows}
    said = judge([one for one, _ in rows], outputs, REFERENCES, EXACT_MATCH, writes=False)["verdict"]
    assert not any("longest sources" in sentence for sentence in said)


def test_a_baseline_that_makes_no_mistake_asks_for_no_more_time():
    _, found = verdict(row("nearest", 400, baseline=True, parameters=0), row("lstm", 400))
    assert found["winner"] == "nearest"
    assert found["verdict"][-1] == "The simple baseline nearest makes no mistake on the test part."


@pytest.mark.spec("X04")
def test_where_nobody_gets_anything_right_nobody_is_called_best():
    _, found = verdict(row("nearest", 0, baseline=True, parameters=0), row("lstm", 0))
    assert found["verdict"] == ["No model gets above 0 in exact. Try a larger --budget, or more rows to learn from."]
