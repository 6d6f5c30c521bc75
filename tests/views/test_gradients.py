"""Gradient flow for a terminal: the bars and the text are the numbers."""

import pytest

from atento.models.diagnostics import GradientFlow
from atento.views import GradientFlowView
from atento.views.gradients import bars, evenly_spaced, facts, gradient_flow_text, rate


@pytest.fixture
def flow(boards):
    return boards.make_flow()


@pytest.fixture
def make_part(boards):
    return boards.make_flow_part


def test_the_worst_part_is_drawn_and_the_others_are_named(flow):
    lines = gradient_flow_text(flow, width=60).splitlines()
    assert lines[0] == "encoder, forward (GRUCell)"
    assert lines[1] == "  lag  norm     a logarithmic scale from 1e-06 to 1"
    assert "decoder (LSTMCell): level, slope −0.0010 per step" in lines
    assert lines[-2:] == [flow.flow.words, flow.flow.remedy]
    assert max(map(len, lines[2:14])) <= 60


def test_bars_are_as_long_as_the_logarithm(make_part):
    """A tenth is a bar one sixth shorter, on a scale of six powers of ten."""
    part = make_part(0.1, lags=7)
    lengths = [line.count("█") for line in bars(part, width=18 + 60)[1:]]
    assert lengths[:6] == [60, 50, 40, 30, 20, 10]
    assert lengths[6] == 0


def test_a_growing_norm_ends_at_the_full_width(make_part):
    lines = bars(make_part(2.0, lags=11), width=78)[1:]
    assert lines[-1].count("█") == 60
    assert lines[-1].startswith("   10  1.02e+03")


def test_at_most_twelve_lags_are_shown():
    assert evenly_spaced(5) == [0, 1, 2, 3, 4]
    assert evenly_spaced(101) == [0, 9, 18, 27, 36, 45, 55, 64, 73, 82, 91, 100]


def test_facts_of_a_part(make_part):
    assert facts(make_part()) == [
        "content matrix: largest singular value 1.25, spectral radius 0.5",
        "a step: largest singular value 0.9, spectral radius 0.4",
        "update gate: 25 % nearly shut, 3 % nearly open",
    ]


def test_a_rate_in_words(make_part):
    assert rate(make_part()) == "slope −0.6931 per step, halves every 1 steps"
    assert rate(make_part(0.999)) == "slope −0.0010 per step"
    assert rate(make_part(2.0)) == "slope +0.6931 per step, doubles every 1 steps"


def test_attention_alone_has_no_matrices(make_part):
    bare = make_part(name="attention", kind="attention")._replace(matrices={}, step=None, gates={})
    lines = gradient_flow_text(GradientFlowView(flow=GradientFlow((bare,), attends=True))).splitlines()
    assert lines[0] == "attention"
    assert not any("matrix" in line or "gate:" in line for line in lines)
