"""Greedy search against a loop that keeps no cache and knows no batch."""

import pytest
import torch

from atento.data.text.vocabulary import END
from atento.decoding import greedy

LONGEST = 7


def by_hand(row, log_probability, longest):
    written, score = (), 0.0
    for _ in range(longest):
        chances = log_probability(row, written)
        best = max(range(len(chances)), key=chances.__getitem__)
        score += chances[best]
        if best == END:
            break
        written = (*written, best)
    return written, score


@pytest.mark.spec("E07")
@pytest.mark.parametrize("longest", [1, 2, LONGEST])
def test_the_likeliest_token_at_every_step(model, encoded, marks, log_probability, longest):
    found = greedy(model.decoder, encoded, marks=marks, longest=longest)
    for row, one in enumerate(found):
        tokens, score = by_hand(row, log_probability, longest)
        assert one.tokens == tokens
        assert one.score == pytest.approx(score, abs=1e-4)  # the teacher-forced log-probability
        assert len(one.tokens) <= longest


def test_rows_that_finish_leave_the_others_alone(model, encoded, marks):
    together = greedy(model.decoder, encoded, marks=marks, longest=LONGEST)
    assert len({len(one.tokens) for one in together}) > 2  # they finish at different times
    for row, one in enumerate(together):
        (alone,) = greedy(
            model.decoder, type(encoded)(*(part[row : row + 1] for part in encoded)), marks=marks, longest=LONGEST
        )
        assert alone.tokens == one.tokens
        assert alone.score == pytest.approx(one.score, abs=1e-4)


def test_each_row_has_its_own_longest_length(model, encoded, marks):
    limits = [1 + row % 5 for row in range(len(encoded.valid))]
    together = greedy(model.decoder, encoded, marks=marks, longest=limits)
    for row, limit in enumerate(limits):
        alone = greedy(model.decoder, encoded, marks=marks, longest=limit)[row]
        assert together[row].tokens == alone.tokens
        assert together[row].score == pytest.approx(alone.score, abs=1e-4)


def test_what_is_forbidden_is_never_written(model, encoded, marks):
    with torch.no_grad():
        model.decoder.bias[list(marks.forbidden)] = 100.0
    for one in greedy(model.decoder, encoded, marks=marks, longest=LONGEST):
        assert not set(one.tokens) & {*marks.forbidden, END}
        assert one.score > -100  # what may be written shares all the probability


def test_nothing_may_be_written(model, encoded, marks):
    assert greedy(model.decoder, encoded, marks=marks, longest=0) == [((), 0.0)] * len(encoded.valid)
