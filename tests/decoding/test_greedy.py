"""Greedy search against a loop that keeps no cache and knows no batch."""

import math

import pytest
import torch

from atento.data.text.vocabulary import END
from atento.decoding import SpecialTokens, greedy, log_probabilities
from rows import one_row

LONGEST = 7


def by_hand(row, log_probability, max_tokens):
    written, score = (), 0.0
    for _ in range(max_tokens):
        log_probs = log_probability(row, written)
        best = max(range(len(log_probs)), key=log_probs.__getitem__)
        score += log_probs[best]
        if best == END:
            break
        written = (*written, best)
    return written, score


@pytest.mark.spec("E07")
@pytest.mark.parametrize("max_tokens", [1, 2, LONGEST])
def test_the_most_probable_token_at_every_step(model, encoded, special_tokens, log_probability, max_tokens):
    found = greedy(model.decoder, encoded, special_tokens=special_tokens, max_tokens=max_tokens)
    for row, one in enumerate(found):
        tokens, score = by_hand(row, log_probability, max_tokens)
        assert one.tokens == tokens
        assert one.score == pytest.approx(score, abs=1e-4)  # the teacher-forced log-probability
        assert len(one.tokens) <= max_tokens


def test_rows_that_finish_leave_the_others_alone(model, encoded, special_tokens):
    together = greedy(model.decoder, encoded, special_tokens=special_tokens, max_tokens=LONGEST)
    assert len({len(one.tokens) for one in together}) > 2  # they finish at different times
    for row, one in enumerate(together):
        (alone,) = greedy(
            model.decoder,
            one_row(encoded, row),
            special_tokens=special_tokens,
            max_tokens=LONGEST,
        )
        assert alone.tokens == one.tokens
        assert alone.score == pytest.approx(one.score, abs=1e-4)


def test_each_row_has_its_own_max_tokens(model, encoded, special_tokens):
    limits = [1 + row % 5 for row in range(len(encoded.valid))]
    together = greedy(model.decoder, encoded, special_tokens=special_tokens, max_tokens=limits)
    for row, limit in enumerate(limits):
        alone = greedy(model.decoder, encoded, special_tokens=special_tokens, max_tokens=limit)[row]
        assert together[row].tokens == alone.tokens
        assert together[row].score == pytest.approx(alone.score, abs=1e-4)


def test_what_is_forbidden_is_never_written(model, encoded, special_tokens):
    with torch.no_grad():
        model.decoder.bias[list(special_tokens.forbidden)] = 100.0
    for one in greedy(model.decoder, encoded, special_tokens=special_tokens, max_tokens=LONGEST):
        assert not set(one.tokens) & {*special_tokens.forbidden, END}
        assert one.score > -100  # what may be written shares all the probability


def test_nothing_may_be_written(model, encoded, special_tokens):
    assert greedy(model.decoder, encoded, special_tokens=special_tokens, max_tokens=0) == [((), 0.0)] * len(
        encoded.valid
    )


def test_the_tokens_that_may_be_written_share_all_probability():
    special_tokens = SpecialTokens(start=2, end=3, forbidden=(0, 1, 2))
    logits = torch.tensor([[9.0, 9.0, 9.0, 1.0, 2.0]])
    log_probs = log_probabilities(logits, special_tokens)
    assert log_probs[0, :3].tolist() == [-math.inf] * 3
    total = math.exp(1) + math.exp(2)
    torch.testing.assert_close(log_probs[0, 3:].exp().tolist(), [math.exp(1) / total, math.exp(2) / total])
    assert log_probabilities(logits.bfloat16(), special_tokens).dtype == torch.float32
