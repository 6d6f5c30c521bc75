"""What more time would bring, in the words of a board."""

from atento.api.comparison.more_time import more_time
from atento.metrics import EXACT_MATCH
from atento.views import Row


def row(model, floor, scale, exponent, *, seconds=100.0, ended="time budget of 100 s used up"):
    points = [seconds * share for share in (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)]
    values = [1 - floor - scale * time**-exponent for time in points]
    curve = [{"elapsed": time, "value": value} for time, value in zip(points, values, strict=True)]
    last, told = values[-1], {"ended": ended}
    return Row(model=model, value=last - 0.01, low=last - 0.03, high=last, seconds=seconds, curve=curve, other=told)


def test_a_model_that_will_pass_the_best_is_named_with_the_time():
    fast, slow = row("lstm", 0.3, 0.5, 0.5), row("transformer", 0.0, 12.0, 0.7)
    gain, order = more_time([fast, slow], EXACT_MATCH)
    assert gain.startswith("More time: by its learning curve, lstm would reach about 0.")
    assert "with twice and" in gain and gain.endswith("with ten times the time.")
    assert order.startswith("transformer would probably pass lstm after about ")
    two, ten = fast.more_time
    assert (two["times"], ten["times"]) == (2, 10)
    assert two["low"] < two["value"] < ten["value"] < ten["high"] <= 1


def test_an_order_that_stays_is_said_to_stay():
    said = more_time([row("lstm", 0.0, 0.4, 0.5), row("rnn", 0.4, 0.4, 0.2)], EXACT_MATCH)
    assert said[1] == "No other network is likely to pass lstm within ten times the time."


def test_a_baseline_in_the_lead_is_a_level_to_pass():
    simple = Row(model="tf-idf", baseline=True, value=0.9, low=0.88, high=0.92)
    said = more_time([simple, row("gru", 0.0, 2.0, 0.6)], EXACT_MATCH)
    assert said[1].startswith("gru would probably pass tf-idf after about ")


def test_curves_that_say_nothing_bring_no_sentence():
    flat = row("rnn", 0.5, 0.0, 1.0)
    assert more_time([flat, Row(model="nearest", baseline=True, value=0.1)], EXACT_MATCH) == []
    assert flat.more_time == ()


def test_a_model_that_stopped_by_itself_is_not_said_to_gain():
    stopped = row("lstm", 0.0, 0.9, 0.2, ended="no better than step 436 in 6 validations")
    assert more_time([stopped], EXACT_MATCH) == []
    said = more_time([stopped, row("transformer", 0.0, 12.0, 0.7)], EXACT_MATCH)
    assert said[0].startswith("More time: by its learning curve, transformer would")
    assert said[1].startswith("transformer would probably pass lstm after about ")


def test_nobody_passes_a_model_that_it_ties_with():
    fast, slow = row("lstm", 0.0, 0.9, 0.2), row("transformer", 0.0, 12.0, 0.7)
    slow.tied = True
    assert len(more_time([fast, slow], EXACT_MATCH)) == 1


def test_an_order_that_cannot_be_told_is_said_to_be_open():
    said = more_time([row("lstm", 0.0, 0.8, 0.3), row("gru", 0.0, 0.9, 0.3)], EXACT_MATCH)
    assert said[1] == "Whether another network would pass lstm cannot be told from the curves."
