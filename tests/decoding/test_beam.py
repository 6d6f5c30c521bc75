"""Beam search against exhaustive search, and against the same search in plain lists."""

import itertools

import pytest
import torch

from atento.data.text.vocabulary import END
from atento.decoding import beam, greedy
from atento.models import Decoder, DecoderStep
from rows import one_row

WORDS = (4, 5, 6)
LONGEST = 3
EVERYTHING = len(WORDS) ** LONGEST * 2  # wider than there are outputs


def every_output(row, log_probability):
    """All outputs of a row with their log-probability: those that end, and those cut at max_tokens."""
    found = {}
    for length in range(LONGEST + 1):
        for words in itertools.product(WORDS, repeat=length):
            ended = (*words, END) if length < LONGEST else words
            found[words] = sum(log_probability(row, ended[:at])[token] for at, token in enumerate(ended))
    return found


@pytest.mark.spec("E07")
@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_beam_wide_enough_is_exhaustive_search(model, encoded, special_tokens, log_probability, penalty):
    found = beam(
        model.decoder,
        encoded,
        special_tokens=special_tokens,
        max_tokens=LONGEST,
        width=EVERYTHING,
        length_penalty=penalty,
    )
    for row in range(3):
        outputs = every_output(row, log_probability)
        best_first = sorted(outputs, key=lambda words: -outputs[words] / (len(words) + 1) ** penalty)
        assert [one.tokens for one in found[row]] == best_first
        assert [one.score for one in found[row]] == pytest.approx([outputs[words] for words in best_first], abs=1e-4)


def in_plain_lists(row, log_probability, width, max_tokens, penalty):
    beams, finished = [((), 0.0)], []

    def rank(ended):
        return ended[1] / (len(ended[0]) + 1) ** penalty

    for length in range(1, max_tokens + 1):
        candidates = [
            ((*words, token), score + log_prob)
            for words, score in beams
            for token, log_prob in enumerate(log_probability(row, words))
            if token in (*WORDS, END)
        ]
        candidates.sort(key=lambda candidate: -candidate[1])
        finished += [(words[:-1], score) for words, score in candidates[:width] if words[-1] == END]
        finished = sorted(finished, key=rank, reverse=True)[:width]
        beams = [(words, score) for words, score in candidates if words[-1] != END][:width]
        if len(finished) == width and beams[0][1] / length**penalty <= rank(finished[-1]):
            break
    else:
        finished += beams[: width - len(finished)]
    return sorted(finished, key=rank, reverse=True)


@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_the_same_search_in_plain_lists(model, encoded, special_tokens, log_probability, width, penalty):
    found = beam(
        model.decoder, encoded, special_tokens=special_tokens, max_tokens=5, width=width, length_penalty=penalty
    )
    for row in range(len(encoded.valid)):
        expected = in_plain_lists(row, log_probability, width, 5, penalty)
        assert [one.tokens for one in found[row]] == [words for words, _ in expected]
        assert [one.score for one in found[row]] == pytest.approx([score for _, score in expected], abs=1e-4)


class Sure(Decoder):
    """Says 4 five times and then ends, nearly surely; the second most probable is always to end too early."""

    attends = False

    def start(self, encoded):
        return (torch.zeros(len(encoded.valid), dtype=torch.long),)

    def step(self, token, state):
        logits = torch.full((len(token), 7), -20.0)
        logits[:, END] = -7.0
        logits[torch.arange(len(token)), torch.where(state[0] < 5, 4, END)] = 0.0
        return DecoderStep(logits, (state[0] + 1,))

    def features(self, previous, encoded): ...
    def to_logits(self, features): ...
    def attention_calls(self, previous, encoded, *, layers=slice(None)): ...


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_outputs_that_end_too_early_do_not_crowd_out_the_right_one(encoded, special_tokens, width):
    for row in beam(Sure(), encoded, special_tokens=special_tokens, max_tokens=11, width=width):
        assert row[0].tokens == (4, 4, 4, 4, 4)


def test_rows_that_finish_leave_the_others_alone(model, encoded, special_tokens):
    options = {"special_tokens": special_tokens, "max_tokens": 7, "width": 3}
    together = beam(model.decoder, encoded, **options)
    assert len({len(row[0].tokens) for row in together}) > 2  # they finish at different times
    for row, found in enumerate(together):
        (alone,) = beam(model.decoder, one_row(encoded, row), **options)
        assert [one.tokens for one in alone] == [one.tokens for one in found]


def test_each_row_has_its_own_max_tokens(model, encoded, special_tokens):
    limits = [1 + row % 5 for row in range(len(encoded.valid))]
    together = beam(model.decoder, encoded, special_tokens=special_tokens, max_tokens=limits, width=3)
    for row, limit in enumerate(limits):
        alone = beam(model.decoder, encoded, special_tokens=special_tokens, max_tokens=limit, width=3)[row]
        assert [one.tokens for one in together[row]] == [one.tokens for one in alone]


def test_what_is_forbidden_is_never_written(model, encoded, special_tokens):
    with torch.no_grad():
        model.decoder.bias[list(special_tokens.forbidden)] = 100.0
    for row in beam(model.decoder, encoded, special_tokens=special_tokens, max_tokens=5, width=3):
        for one in row:
            assert set(one.tokens) <= set(WORDS)
            assert len(one.tokens) <= 5


def test_no_output_twice_and_the_best_first(model, encoded, special_tokens):
    for row in beam(model.decoder, encoded, special_tokens=special_tokens, max_tokens=5, width=5, length_penalty=0.0):
        assert len({one.tokens for one in row}) == len(row) == 5
        assert [one.score for one in row] == sorted((one.score for one in row), reverse=True)


def test_a_longer_penalty_likes_longer_outputs(model, encoded, special_tokens):
    options = {"special_tokens": special_tokens, "max_tokens": LONGEST, "width": EVERYTHING}
    short, long = (
        [len(row[0].tokens) for row in beam(model.decoder, encoded, length_penalty=penalty, **options)]
        for penalty in (0.0, 3.0)
    )
    assert all(one <= other for one, other in zip(short, long, strict=True))
    assert sum(short) < sum(long)


def test_nothing_may_be_written(model, encoded, special_tokens):
    assert beam(model.decoder, encoded, special_tokens=special_tokens, max_tokens=0, width=2) == [[((), 0.0)]] * len(
        encoded.valid
    )
    best = [row[0] for row in beam(model.decoder, encoded, special_tokens=special_tokens, max_tokens=5, width=1)]
    assert [one.tokens for one in best] == [
        one.tokens for one in greedy(model.decoder, encoded, special_tokens=special_tokens, max_tokens=5)
    ]


def test_the_beam_can_be_followed(model, encoded, special_tokens, log_probability):
    """After each step the first row's partial outputs, best first, each with the sum of its log-probabilities."""
    steps = []
    found = beam(
        model.decoder, encoded, special_tokens=special_tokens, max_tokens=LONGEST, width=EVERYTHING, followed=steps
    )
    plain = beam(model.decoder, encoded, special_tokens=special_tokens, max_tokens=LONGEST, width=EVERYTHING)
    assert found == plain and len(steps) == LONGEST
    for length, held in enumerate(steps, start=1):
        assert {one.tokens for one in held} == set(itertools.product(WORDS, repeat=length))
        for one in held:
            summed = sum(log_probability(0, one.tokens[:at])[token] for at, token in enumerate(one.tokens))
            assert one.score == pytest.approx(summed, abs=1e-4)
        assert [one.score for one in held] == sorted((one.score for one in held), reverse=True)
