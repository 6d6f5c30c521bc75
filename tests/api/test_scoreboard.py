"""Who won, who tied; a simple model that wins is named the winner."""

from dataclasses import replace

import pytest

from atento.api.scoreboard import judge
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


def test_a_clear_winner():
    rows, found = verdict(row("nearest", 100, baseline=True), row("rnn", 200), row("lstm", 380))
    assert (found["winner"], found["ties"]) == ("lstm", [])
    assert "lstm is best: exact 0.950" in found["verdict"][0]
    assert "no other comes within its reach" in found["verdict"][0]
    assert "The simple baseline nearest reaches 0.250" in " ".join(found["verdict"])
    assert [one.tied for one in rows] == [False, False, True]


def test_several_baselines_share_a_sentence_best_first():
    simple = [row(name, right, baseline=True) for name, right in (("majority", 100), ("nearest", 200), ("bag", 150))]
    _, found = verdict(*simple, row("lstm", 380))
    said = [sentence for sentence in found["verdict"] if "baseline" in sentence]
    assert len(said) == 1
    assert said[0].startswith("The simple baseline nearest reaches 0.500 (0.4")
    assert said[0].endswith("); bag 0.375, majority 0.250.")


def test_ties_are_called_ties():
    small = row("gru", 379, parameters=500, rate=70.0)
    _, found = verdict(row("nearest", 100, baseline=True), small, row("lstm", 380))
    assert (found["winner"], found["ties"]) == ("lstm", ["gru"])
    assert "tied with gru" in found["verdict"][0]
    assert "gru is the smallest (500 parameters) and answers fastest" in found["verdict"][1]


def test_a_baseline_that_wins_is_named():
    _, found = verdict(row("nearest", 390, baseline=True, parameters=0), row("lstm", 200))
    assert found["winner"] == "nearest"
    assert "The simple baseline wins" in " ".join(found["verdict"])


def test_at_equal_value_the_simple_one_wins():
    _, found = verdict(row("lstm", 300), row("nearest", 300, baseline=True, parameters=0))
    assert (found["winner"], found["ties"]) == ("nearest", ["lstm"])


def test_models_that_stayed_in_closed_form_are_named():
    simple, (still, ends), (moved, other) = row("ridge", 200, baseline=True), row("gru", 200), row("rnn", 230)
    still.curve = moved.curve = [{"step": 0}, {"step": 9}]
    still.best_step, moved.best_step = 0, 9
    _, found = verdict(simple, (still, ends), (moved, other))
    said = [sentence for sentence in found["verdict"] if "closed form" in sentence]
    assert said == ["gru stayed where it began, in closed form: no step of training was better by more than chance."]


def test_a_failed_row_takes_no_part():
    rows, found = verdict(row("lstm", 400, failed="exit code 4: training diverged"), row("gru", 100))
    assert found["winner"] == "gru"
    assert rows[0].failed == "exit code 4: training diverged"
    assert not rows[0].tied


def test_when_all_failed_nobody_won():
    _, found = verdict(row("lstm", 0, failed="killed by SIGKILL"))
    assert (found["winner"], found["ties"]) == (None, [])
    assert "Every model failed" in found["verdict"][0]


@pytest.mark.parametrize("low, words", [(0.7, "the intervals do not meet"), (0.55, "a tie, the intervals meet")])
def test_what_attention_buys_on_long_sources(low, words):
    band = {"label": "40–60", "value": 0.5, "low": 0.4, "high": 0.6}
    attending = {"label": "40–60", "value": 0.8, "low": low, "high": 0.9}
    _, found = verdict(row("lstm", 200, lengths=[band]), row("lstm+dot", 380, lengths=[attending]))
    assert any(words in sentence and "lstm+dot keeps 0.800" in sentence for sentence in found["verdict"])


def test_where_attention_is_worse_on_long_sources_that_is_no_tie():
    band = {"label": "40–60", "value": 0.75, "low": 0.7, "high": 0.8}
    worse = {"label": "40–60", "value": 0.2, "low": 0.1, "high": 0.3}
    _, found = verdict(row("lstm", 300, lengths=[band]), row("lstm+dot", 100, lengths=[worse]))
    assert any("the intervals do not meet" in sentence for sentence in found["verdict"])


def test_of_labels_nothing_is_said_of_long_sources():
    band = {"label": "40–60", "value": 0.5, "low": 0.4, "high": 0.6}
    rows = [row("lstm", 200, lengths=[band]), row("lstm+dot", 380, lengths=[band])]
    outputs = {one.model: [texts] for one, texts in rows}
    said = judge([one for one, _ in rows], outputs, REFERENCES, EXACT_MATCH, writes=False)["verdict"]
    assert not any("longest third" in sentence for sentence in said)


def test_a_baseline_that_makes_no_mistake_asks_for_no_more_time():
    _, found = verdict(row("nearest", 400, baseline=True, parameters=0), row("lstm", 400))
    assert found["winner"] == "nearest"
    assert found["verdict"][-1] == "The simple baseline wins: it makes no mistake on the test part."


def test_where_nobody_gets_anything_right_nobody_is_called_best():
    _, found = verdict(row("nearest", 0, baseline=True, parameters=0), row("lstm", 0))
    assert found["verdict"] == ["No model gets above 0 in exact. Try a larger --budget, or more rows to learn from."]
