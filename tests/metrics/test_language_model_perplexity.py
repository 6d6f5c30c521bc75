"""Perplexity of models whose surprise is known."""

import math

import pytest

from atento.errors import InputError
from atento.metrics.bootstrap import interval
from atento.metrics.language_model import (
    BITS,
    NATS,
    PERPLEXITY,
    bits_per_token,
    judged_text,
    nats_per_token,
    perplexity,
    text_statistics,
)


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


@pytest.mark.spec("K06")
def test_the_metrics_of_a_text_by_hand():
    """Two texts, 6 nats over 4 characters and 2 words, 2 nats over 4 characters and 3 words."""
    outputs = [[-6.0, 4, 2, [-1.0, -5.0]], [-2.0, 4, 3, [-2.0]]]
    nothing = [("",), ("",)]
    assert NATS.value(outputs, nothing) == pytest.approx(8 / 8)
    assert BITS.value(outputs, nothing) == pytest.approx(1 / math.log(2))
    assert PERPLEXITY.value(outputs, nothing) == pytest.approx(math.exp(8 / 5))
    assert NATS.merit(1.0) < NATS.merit(0.5)
    assert text_statistics(outputs, nothing).tolist() == [[1, 2, 1], [5, 2, 1], [2, 4, 3]]
    value, low, high = interval(NATS, outputs, nothing)
    assert (value, low, high) == (pytest.approx(1.0), pytest.approx(0.5), pytest.approx(2.5))


@pytest.mark.spec("K06")
def test_passages_hold_all_of_a_text():
    chances = [-0.001 * number for number in range(3401)]
    nats, characters, words, passages = judged_text("a b " * 850, chances)
    assert (characters, words, len(passages)) == (3400, 1700, 3)
    assert nats == pytest.approx(sum(chances))
    assert passages[0] == pytest.approx(sum(chances[:1133]))
