"""What a finding says, and the table of all."""

import math

import pytest
import torch

from atento.checks import Checked
from atento.checks.finding import CLOSE, EXACT, difference, judged, not_applicable, tried


@pytest.mark.parametrize(
    "actual, expected, gap",
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.5], [1.0, 2.0], 0.25),  # relative to the largest
        ([0.1], [0.3], 0.2),  # never to less than 1
        ([math.nan, 1.0], [1.0, 1.0], math.inf),
        ([1.0], [math.nan], math.inf),
        ([math.inf], [1.0], math.inf),
        ([math.inf], [math.inf], 0.0),
        ([], [], 0.0),
        ([1.0, 1.0], [1.0], math.inf),
    ],
)
def test_how_far_apart(actual, expected, gap):
    assert difference(torch.tensor(actual), torch.tensor(expected)) == pytest.approx(gap)


def test_a_table_is_true_when_nothing_is_broken():
    held, broken = judged("one", 1e-13, CLOSE, "it holds"), judged("two", math.nan, EXACT, "law", otherwise="why")
    other = not_applicable("three", "because")
    assert Checked("Module", [held, other])
    table = Checked("Module", [held, broken, other])
    assert not table
    assert [finding.contract for finding in table] == ["one", "two", "three"]
    assert table["two"].words == "why"
    assert table.summary() == "Module: 1 contract held, 1 broken (two), 1 does not apply"
    lines = str(table).splitlines()
    assert lines[1].split() == ["one", "held", "1.0e-13", "1e-12", "it", "holds"]
    assert lines[2].split() == ["two", "BROKEN", "nan", "exact", "why"]
    assert lines[3].split() == ["three", "does", "not", "apply", "–", "–", "because"]
    assert len({line.index(word) for line, word in zip(lines[1:4], ("it", "why", "because"), strict=True)}) == 1
    assert table.to_json()["contracts"][0] == {
        "contract": "one",
        "verdict": "held",
        "difference": 1e-13,
        "tolerance": CLOSE,
        "words": "it holds",
    }


def test_whatever_is_raised_breaks_the_contract():
    def look():
        raise RuntimeError("sizes do not match\nat all")

    found = tried("one", look)
    assert (found.verdict, found.difference) == ("broken", math.inf)
    assert found.words == "it raised RuntimeError: sizes do not match"
