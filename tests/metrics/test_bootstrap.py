"""The bootstrap against plain loops, against theory, and on rigged comparisons; bands of lengths by hand."""

import json
import random
import statistics
import tracemalloc

import pytest

from atento.metrics import CHRF2, EXACT_MATCH, MACRO_F1, bootstrap, bootstrap_interval, tied
from atento.metrics.bootstrap import evaluate_runs, length_bands, size_bands

SOURCES = ["a", "bb", "ccc", "dddd"]
OUTPUTS = ["one", "two", "three", "five"]
FOUR_REFERENCES = [["one"], ["two", "deux"], ["drei"], ["four"]]


def test_every_metric_and_the_first_against_length():
    found = evaluate_runs((EXACT_MATCH, CHRF2), SOURCES, [OUTPUTS], FOUR_REFERENCES)
    assert (found["metric"], found["examples"]) == ("exact", 4)
    assert found["scores"]["exact"][0] == 0.5
    assert found["scores"]["chrf"] == list(bootstrap_interval(CHRF2, [OUTPUTS], FOUR_REFERENCES))
    assert found["lengths"] == [
        band.to_json() for band in length_bands(EXACT_MATCH, SOURCES, [OUTPUTS], FOUR_REFERENCES)
    ]
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    "count, score, bands",
    [(0, [None, None, None], []), (1, [1.0, None, None], [1.0]), (2, [1.0, 1.0, 1.0], [1.0, 1.0])],
)
def test_no_score_on_nothing_and_no_interval_from_one(count, score, bands):
    found = evaluate_runs((EXACT_MATCH,), SOURCES[:count], [OUTPUTS[:count]], FOUR_REFERENCES[:count])
    assert found["scores"] == {"exact": score}
    assert [band["value"] for band in found["lengths"]] == bands
    assert all(band["low"] is None for band in found["lengths"])  # one example in each
    assert json.loads(json.dumps(found, allow_nan=False)) == found


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


@pytest.mark.spec("X04")
@pytest.mark.parametrize("share", [0.3, 0.8])
def test_close_to_a_bootstrap_in_plain_loops_and_to_theory(share):
    outputs = outputs_right(share, seed=1)
    found = bootstrap_interval(EXACT_MATCH, [outputs], REFERENCES)
    value = outputs.count("yes") / EXAMPLES
    assert found.value == pytest.approx(value)
    low, high = loop_bootstrap(EXACT_MATCH, outputs, REFERENCES, resamples=2000, seed=2)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.012)
    spread = 1.96 * (value * (1 - value) / EXAMPLES) ** 0.5
    assert (found.low, found.high) == pytest.approx((value - spread, value + spread), abs=0.012)


def test_a_metric_that_is_no_mean_has_an_interval_too():
    chance = random.Random(3)
    words = ["one", "two", "three", "four", "five", "six"]
    references = [[" ".join(chance.choices(words, k=4))] for _ in range(23)]
    outputs = [" ".join([*text.split()[: chance.randint(1, 4)], chance.choice(words)]) for (text,) in references]
    found = bootstrap_interval(CHRF2, [outputs], references)
    low, high = loop_bootstrap(CHRF2, outputs, references, resamples=200, seed=4)
    assert found.low < found.value < found.high
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.04)


@pytest.mark.spec("X04")
def test_about_nineteen_of_twenty_intervals_hold_the_truth():
    held = 0
    for seed in range(100):
        found = bootstrap_interval(EXACT_MATCH, [outputs_right(0.6, seed=seed)], REFERENCES, resamples=300)
        held += found.low <= 0.6 <= found.high
    assert 88 <= held <= 99


def test_the_same_outputs_give_the_same_interval():
    outputs = outputs_right(0.6, seed=5)
    assert bootstrap_interval(EXACT_MATCH, [outputs], REFERENCES) == bootstrap_interval(
        EXACT_MATCH, [outputs], REFERENCES
    )


def test_no_examples_no_interval():
    assert bootstrap_interval(EXACT_MATCH, [[]], []).to_json() == [None, None, None]
    assert tied(EXACT_MATCH, [[]], [[]], [])


@pytest.mark.spec("X04")
def test_a_rigged_tie_is_called_a_tie():
    """Two models right on different examples, equally often; and one model beside itself."""
    outputs = outputs_right(0.6, seed=6)
    assert tied(EXACT_MATCH, [outputs], [outputs], REFERENCES)
    assert tied(EXACT_MATCH, [outputs], [outputs[::-1]], REFERENCES)


@pytest.mark.spec("X04")
def test_a_clear_difference_is_not_called_a_tie():
    left, right = outputs_right(0.8, seed=7), outputs_right(0.5, seed=8)
    assert not tied(EXACT_MATCH, [left], [right], REFERENCES)
    assert not tied(EXACT_MATCH, [right], [left], REFERENCES)


@pytest.mark.spec("X04")
def test_the_difference_is_paired():
    """Better on nine examples and worse on none is no tie, though the two intervals overlap widely."""
    left = ["yes"] * 100 + ["no"] * (EXAMPLES - 100)
    right = ["yes"] * 91 + ["no"] * (EXAMPLES - 91)
    assert (
        bootstrap_interval(EXACT_MATCH, [right], REFERENCES).high
        > bootstrap_interval(EXACT_MATCH, [left], REFERENCES).value
    )
    assert not tied(EXACT_MATCH, [left], [right], REFERENCES)
    assert tied(EXACT_MATCH, [left], [right[::-1]], REFERENCES)  # the same two shares on unrelated examples


@pytest.mark.spec("X04")
def test_about_one_in_twenty_equal_models_is_called_different():
    ties = sum(
        tied(EXACT_MATCH, [outputs_right(0.6, seed=seed)], [outputs_right(0.6, seed=1000 + seed)], REFERENCES)
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


@pytest.mark.spec("X04")
def test_several_runs_widen_the_interval_by_what_seeds_change():
    runs = [outputs_right(share, seed=seed) for seed, share in enumerate((0.4, 0.6, 0.9))]
    found = bootstrap_interval(EXACT_MATCH, runs, REFERENCES)
    assert found.value == pytest.approx(sum(run.count("yes") for run in runs) / (3 * EXAMPLES))
    low, high = loop_over_runs(EXACT_MATCH, runs, REFERENCES, resamples=1000, seed=5)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.025)
    same = bootstrap_interval(EXACT_MATCH, [runs[1]] * 3, REFERENCES)
    assert same == bootstrap_interval(EXACT_MATCH, [runs[1]], REFERENCES)  # seeds that change nothing add nothing
    assert found.high - found.low > 2 * (same.high - same.low)


@pytest.mark.spec("X04")
def test_a_lead_that_only_one_seed_has_is_a_tie():
    steady = [outputs_right(0.6, seed=seed) for seed in (7, 8, 9)]
    moody = [outputs_right(share, seed=seed) for seed, share in ((7, 0.4), (8, 0.65), (9, 0.9))]
    assert tied(EXACT_MATCH, steady, moody, REFERENCES)
    assert not tied(EXACT_MATCH, [steady[2]], [moody[2]], REFERENCES)


def bands_of(lengths, right, **options):
    sources = ["x" * length for length in lengths]
    outputs = ["yes" if hit else "no" for hit in right]
    return length_bands(EXACT_MATCH, sources, [outputs], [["yes"]] * len(lengths), **options)


@pytest.mark.spec("X04")
def test_three_bands_of_about_equally_many():
    lengths = [9, 1, 5, 2, 8, 4, 3, 7, 6]
    bands = bands_of(lengths, [length <= 4 for length in lengths])
    assert [(band.first, band.last, band.examples) for band in bands] == [(1, 3, 3), (4, 6, 3), (7, 9, 3)]
    assert [band.quality.value for band in bands] == pytest.approx([1, 1 / 3, 0])


def test_equal_lengths_are_never_torn_apart():
    bands = bands_of([2, 2, 2, 2, 2, 3, 5], [True] * 7)
    assert [(band.first, band.last, band.examples) for band in bands] == [(2, 2, 5), (3, 5, 2)]
    assert [band.examples for band in bands_of([2] * 7, [True] * 7)] == [7]
    assert sum(band.examples for band in bands_of([1, 2, 2, 2, 2, 2, 3], [True] * 7)) == 7


def test_few_examples_few_bands():
    assert bands_of([], []) == []
    assert [band.examples for band in bands_of([3], [True])] == [1]
    assert [band.examples for band in bands_of([1, 2, 3, 4, 5], [True] * 5, bands=2)] == [2, 3]


def test_a_band_as_plain_values():
    (band,) = bands_of([3, 3], [True, True])
    assert band.to_json() == {"label": "3", "from": 3, "to": 3, "count": 2, "value": 1.0, "low": 1.0, "high": 1.0}


def test_sequences_of_numbers_are_measured_in_steps():
    sources = ["0.5 -1.25 3e-7", "1,-2 ?,4 5,6 7,8", "1 2"]
    bands = length_bands(EXACT_MATCH, sources, [["yes"] * 3], [["yes"]] * 3)
    assert [band.to_json()["label"] for band in bands] == ["2", "3", "4"]
    assert {band.to_json()["by"] for band in bands} == {"steps"}
    (band,) = length_bands(EXACT_MATCH, ["2 apples"], [["yes"]], [["yes"]])
    assert band.first == len("2 apples") and "by" not in band.to_json()


def test_bands_of_a_size_of_its_own():
    """One band for each size, however few; by length where a source has none."""
    sources, right = ["a5", "b5", "c6", "d6", "e6", "f2"], [True, False, True, True, True, True]
    outputs, references = [["yes" if hit else "no" for hit in right]], [["yes"]] * 6
    found = size_bands(lambda source: int(source[1:]), "digits", EXACT_MATCH, sources, outputs, references)
    assert [(band.first, band.last, band.examples, band.quality.value, band.unit) for band in found] == [
        (2, 2, 1, 1.0, "digits"),
        (5, 5, 2, 0.5, "digits"),
        (6, 6, 3, 1.0, "digits"),
    ]
    (whole,) = size_bands(lambda source: 0, "digits", EXACT_MATCH, sources, outputs, references)
    assert (whole.first, whole.unit) == (2, "")


@pytest.mark.parametrize("runs", [1, 3])
def test_resamples_in_parts_are_the_same_and_hold_little(runs, monkeypatch):
    """Whole, the sums of 1,000 resamples of 3 × 700 labels would be 16 MB, and the statistics of all examples more."""
    labels = [f"label {number % 701}" for number in range(EXAMPLES * 7)]
    said = [labels[(place * (run + 2)) % len(labels)] for run in range(runs) for place in range(len(labels))]
    outputs = [said[run * len(labels) : (run + 1) * len(labels)] for run in range(runs)]
    references = [[label] for label in labels]
    whole = bootstrap_interval(MACRO_F1, outputs, references, resamples=101)
    monkeypatch.setattr(bootstrap, "NUMBERS_AT_ONCE", 2**15)
    tracemalloc.start()
    parts = bootstrap_interval(MACRO_F1, outputs, references, resamples=101)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert parts == pytest.approx(whole, abs=1e-12)
    assert peak < 2**22
