"""Perplexity of models whose surprise is known."""

import math

import pytest

from atento.errors import InputError
from atento.metrics.perplexity import bits_per_token, nats_per_token, perplexity


@pytest.mark.spec("R16")
def test_a_fair_die_has_six_faces():
    """Equal chances for six tokens: every token costs ln 6, whatever the lengths."""
    tokens = [3, 11, 1]
    chances = [-count * math.log(6) for count in tokens]
    assert perplexity(chances, tokens) == pytest.approx(6)
    assert nats_per_token(chances, tokens) == pytest.approx(1.791759469)
    assert bits_per_token(chances, tokens) == pytest.approx(2.584962501)


@pytest.mark.spec("R16")
def test_by_hand():
    """P = 1/2 · 1/4 · 1/8 of three tokens, P = 1 of one: 2^(6/4) over four tokens; long texts weigh more."""
    chances = [math.log(1 / 64), 0.0]
    assert perplexity(chances, [3, 1]) == pytest.approx(2 ** (6 / 4))
    assert perplexity(chances[:1], [3]) == pytest.approx(4)
    assert perplexity(chances[1:], [1]) == 1.0


@pytest.mark.parametrize("chance", [-math.inf, -1e6])
def test_what_was_held_impossible_is_infinitely_surprising(chance):
    assert perplexity([chance], [2]) == math.inf


@pytest.mark.parametrize("chances, tokens", [([-1.0], [1, 2]), ([], []), ([0.0], [0])])
def test_what_cannot_be_measured_is_refused(chances, tokens):
    with pytest.raises(InputError):
        perplexity(chances, tokens)
