"""The bootstrap against one in plain loops, against theory, and on rigged comparisons."""

import random
import statistics

import pytest

from atento.metrics.bootstrap import interval, interval_over, tied, tied_over
from atento.metrics.text import CHRF2, EXACT

EXAMPLES = 211


def outputs_right(share, *, seed):
    chance = random.Random(seed)
    return ["yes" if chance.random() < share else "no" for _ in range(EXAMPLES)]


REFERENCES = [["yes"]] * EXAMPLES


def loop_bootstrap(metric, outputs, references, *, resamples, seed):
    chance = random.Random(seed)
    values = []
    for _ in range(resamples):
        drawn = [chance.randrange(len(outputs)) for _ in outputs]
        values.append(metric.value([outputs[index] for index in drawn], [references[index] for index in drawn]))
    cuts = statistics.quantiles(values, n=40)
    return cuts[0], cuts[-1]  # 2.5 % and 97.5 %


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_close_to_a_bootstrap_in_plain_loops_and_to_theory(share):
    outputs = outputs_right(share, seed=1)
    found = interval(EXACT, outputs, REFERENCES)
    value = outputs.count("yes") / EXAMPLES
    assert found.value == pytest.approx(value)
    low, high = loop_bootstrap(EXACT, outputs, REFERENCES, resamples=2000, seed=2)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.012)
    spread = 1.96 * (value * (1 - value) / EXAMPLES) ** 0.5
    assert (found.low, found.high) == pytest.approx((value - spread, value + spread), abs=0.012)


def test_a_metric_that_is_no_mean_has_an_interval_too():
    chance = random.Random(3)
    words = ["one", "two", "three", "four", "five", "six"]
    references = [[" ".join(chance.choices(words, k=4))] for _ in range(23)]
    outputs = [" ".join([*text.split()[: chance.randint(1, 4)], chance.choice(words)]) for (text,) in references]
    found = interval(CHRF2, outputs, references)
    low, high = loop_bootstrap(CHRF2, outputs, references, resamples=200, seed=4)
    assert found.low < found.value < found.high
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.04)


def test_about_nineteen_of_twenty_intervals_hold_the_truth():
    held = 0
    for seed in range(100):
        found = interval(EXACT, outputs_right(0.6, seed=seed), REFERENCES, resamples=300)
        held += found.low <= 0.6 <= found.high
    assert 88 <= held <= 99


def test_the_same_outputs_give_the_same_interval():
    outputs = outputs_right(0.6, seed=5)
    assert interval(EXACT, outputs, REFERENCES) == interval(EXACT, outputs, REFERENCES)


def test_no_examples_no_interval():
    assert interval(EXACT, [], []) == (0.0, 0.0, 0.0)
    assert tied(EXACT, [], [], [])


def test_a_rigged_tie_is_called_a_tie():
    """Two models right on different examples, equally often; and one model beside itself."""
    outputs = outputs_right(0.6, seed=6)
    assert tied(EXACT, outputs, outputs, REFERENCES)
    assert tied(EXACT, outputs, outputs[::-1], REFERENCES)


def test_a_clear_difference_is_not_called_a_tie():
    left, right = outputs_right(0.8, seed=7), outputs_right(0.5, seed=8)
    assert not tied(EXACT, left, right, REFERENCES)
    assert not tied(EXACT, right, left, REFERENCES)


def test_the_difference_is_paired():
    """Better on nine examples and worse on none is no tie, though the two intervals overlap widely."""
    left = ["yes"] * 100 + ["no"] * (EXAMPLES - 100)
    right = ["yes"] * 91 + ["no"] * (EXAMPLES - 91)
    assert interval(EXACT, right, REFERENCES).high > interval(EXACT, left, REFERENCES).value
    assert not tied(EXACT, left, right, REFERENCES)
    assert tied(EXACT, left, right[::-1], REFERENCES)  # the same two shares on unrelated examples


def test_about_one_in_twenty_equal_models_is_called_different():
    ties = sum(
        tied(EXACT, outputs_right(0.6, seed=seed), outputs_right(0.6, seed=1000 + seed), REFERENCES)
        for seed in range(40)
    )
    assert 34 <= ties <= 40


def loop_over_runs(metric, runs, references, *, resamples, seed):
    """Runs and examples drawn with replacement, in plain loops."""
    chance = random.Random(seed)
    values = []
    for _ in range(resamples):
        drawn = [chance.randrange(len(references)) for _ in references]
        picked = [chance.choice(runs) for _ in runs]
        outputs = [run[index] for run in picked for index in drawn]
        values.append(metric.value(outputs, [references[index] for _ in picked for index in drawn]))
    cuts = statistics.quantiles(values, n=40)
    return cuts[0], cuts[-1]


def test_several_runs_widen_the_interval_by_what_seeds_change():
    runs = [outputs_right(share, seed=seed) for seed, share in enumerate((0.4, 0.6, 0.9))]
    found = interval_over(EXACT, runs, REFERENCES)
    assert found.value == pytest.approx(sum(run.count("yes") for run in runs) / (3 * EXAMPLES))
    low, high = loop_over_runs(EXACT, runs, REFERENCES, resamples=1000, seed=5)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.025)
    same = interval_over(EXACT, [runs[1]] * 3, REFERENCES)
    assert same == interval(EXACT, runs[1], REFERENCES)  # seeds that change nothing add nothing
    assert found.high - found.low > 2 * (same.high - same.low)


def test_a_lead_that_only_one_seed_has_is_a_tie():
    steady = [outputs_right(0.6, seed=seed) for seed in (7, 8, 9)]
    moody = [outputs_right(share, seed=seed) for seed, share in ((7, 0.4), (8, 0.65), (9, 0.9))]
    assert tied_over(EXACT, steady, moody, REFERENCES)
    assert not tied(EXACT, steady[2], moody[2], REFERENCES)
