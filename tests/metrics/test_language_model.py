"""Perplexity of texts whose probability is known; token matches by hand."""

import math
import sys

import pytest

from atento.metrics import BITS_PER_CHARACTER, NATS_PER_CHARACTER, WORD_PERPLEXITY, bootstrap_interval, text_score
from atento.metrics.language_model import TokenMatches, match_rates, match_tokens, text_statistics


@pytest.mark.spec("E03")
@pytest.mark.parametrize(
    "written, truth, hits",
    [
        ([1, 2, 9], [1, 2, 9], 3),
        ([1, 9], [1, 2, 9], 1),
        ([1, 2, 3, 9], [1, 2, 9], 2),
        ([2, 1, 9], [1, 2, 9], 1),
        ([], [9], 0),
    ],
)
def test_tokens_count_at_their_place(written, truth, hits):
    assert match_tokens(written, truth) == TokenMatches(hits, len(truth))


@pytest.mark.spec("E03")
def test_shares_are_of_all_tokens_not_a_mean_of_means():
    found = match_rates([TokenMatches(1, 1), TokenMatches(1, 4), TokenMatches(5, 5)])
    assert found == {"tokens": 0.7, "exact": pytest.approx(2 / 3)}
    assert match_rates([]) == {"tokens": 0.0, "exact": 0.0}


@pytest.mark.spec("R16")
def test_a_fair_die_has_six_faces():
    """Probability 1/6 of every word: perplexity 6, whatever the lengths; each word and its space cost ln 6."""
    scored = [text_score("a " * words, [-math.log(6)] * words) for words in (3, 11, 1)]
    nothing = [("",)] * 3
    assert WORD_PERPLEXITY.value(scored, nothing) == pytest.approx(6)
    assert NATS_PER_CHARACTER.value(scored, nothing) == pytest.approx(1.791759469 / 2)
    assert BITS_PER_CHARACTER.value(scored, nothing) == pytest.approx(2.584962501 / 2)


@pytest.mark.spec("R16")
def test_perplexity_by_hand():
    """P = 1/2 · 1/4 · 1/8 of three words, P = 1 of one: 2^(6/4) over four words; long texts weigh more."""
    scored = [text_score("a b c", [math.log(1 / 2), math.log(1 / 4), math.log(1 / 8)]), text_score("d", [0.0])]
    assert WORD_PERPLEXITY.value(scored, [("",)] * 2) == pytest.approx(2 ** (6 / 4))
    assert WORD_PERPLEXITY.value(scored[:1], [("",)]) == pytest.approx(4)
    assert WORD_PERPLEXITY.value(scored[1:], [("",)]) == 1.0


def test_an_impossible_text_has_the_largest_perplexity():
    assert WORD_PERPLEXITY.value([text_score("a", [-1e6])], [("",)]) == pytest.approx(sys.float_info.max)


@pytest.mark.spec("K06")
def test_the_metrics_of_a_text_by_hand():
    """Two texts, 6 nats over 4 characters and 2 words, 2 nats over 4 characters and 3 words."""
    outputs = [[-6.0, 4, 2, [-1.0, -5.0]], [-2.0, 4, 3, [-2.0]]]
    nothing = [("",), ("",)]
    assert NATS_PER_CHARACTER.value(outputs, nothing) == pytest.approx(8 / 8)
    assert BITS_PER_CHARACTER.value(outputs, nothing) == pytest.approx(1 / math.log(2))
    assert WORD_PERPLEXITY.value(outputs, nothing) == pytest.approx(math.exp(8 / 5))
    assert NATS_PER_CHARACTER.to_maximize(1.0) < NATS_PER_CHARACTER.to_maximize(0.5)
    assert text_statistics(outputs, nothing).tolist() == [[1, 2, 1], [5, 2, 1], [2, 4, 3]]
    value, low, high = bootstrap_interval(NATS_PER_CHARACTER, [outputs], nothing)
    assert (value, low, high) == (pytest.approx(1.0), pytest.approx(0.5), pytest.approx(2.5))


@pytest.mark.spec("K06")
def test_passages_hold_all_of_a_text():
    chances = [-0.001 * number for number in range(3401)]
    nats, characters, words, passages = text_score("a b " * 850, chances)
    assert (characters, words, len(passages)) == (3400, 1700, 3)
    assert nats == pytest.approx(sum(chances))
    assert passages[0] == pytest.approx(sum(chances[:1133]))
