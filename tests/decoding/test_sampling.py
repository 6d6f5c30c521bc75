"""Sampling against exact probabilities: what may be drawn, how often it is, and that nobody else has a say."""

import itertools
import math
from collections import Counter

import pytest
import torch

from atento.data.text.vocabulary import END
from atento.decoding import TokenSampler, greedy, sample
from atento.decoding.sampling import filtered_probabilities, inverse_cdf
from atento.errors import InputError
from rows import one_row

WORDS = (4, 5, 6)
LONGEST = 3
DRAWN = 3000
PROBS = [0.1, 0.5, 0.15, 0.25]


@pytest.mark.spec("E07")
@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, PROBS),
        ({"top_k": 1}, [0, 1, 0, 0]),
        ({"top_k": 2}, [0, 2 / 3, 0, 1 / 3]),
        ({"top_k": 9}, PROBS),
        ({"top_p": 0.5}, [0, 1, 0, 0]),
        ({"top_p": 0.51}, [0, 2 / 3, 0, 1 / 3]),
        ({"top_p": 0.75}, [0, 2 / 3, 0, 1 / 3]),
        ({"top_p": 0.76}, [0, 5 / 9, 1.5 / 9, 2.5 / 9]),
        ({"top_p": 1e-9}, [0, 1, 0, 0]),
        ({"top_k": 2, "top_p": 0.7}, [0, 2 / 3, 0, 1 / 3]),  # .667 of what is left is not yet .7
        ({"top_k": 2, "top_p": 0.66}, [0, 1, 0, 0]),  # .667 of what is left, though .5 of all
        ({"temperature": 0.5}, [0.01 / 0.345, 0.25 / 0.345, 0.0225 / 0.345, 0.0625 / 0.345]),  # squares
        ({"temperature": 0.5, "top_p": 0.7}, [0, 1, 0, 0]),  # .725 after the temperature
    ],
)
def test_what_may_be_drawn_by_hand(options, expected):
    probs = filtered_probabilities(torch.tensor([PROBS]).log(), **options)
    torch.testing.assert_close(probs, torch.tensor([expected], dtype=torch.float64), rtol=0, atol=1e-6)
    assert probs.sum().item() == pytest.approx(1.0, abs=1e-12)
    assert (probs[0, [place for place, share in enumerate(expected) if not share]] == 0).all()


@pytest.mark.spec("E07")
def test_a_nucleus_that_is_just_full_takes_no_more():
    """Four equal probs are exact in binary: two of them hold .5, and the first two are taken."""
    equal = torch.zeros(1, 4)
    assert filtered_probabilities(equal, top_p=0.5).tolist() == [[0.5, 0.5, 0, 0]]
    assert filtered_probabilities(equal, top_p=0.5000001).tolist() == [pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])]


def test_a_number_is_read_off_the_summed_shares():
    probs = torch.tensor([[0.0, 0.25, 0.0, 0.5, 0.25, 0.0]], dtype=torch.float64)
    numbers = [0.0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2**-53]
    assert inverse_cdf(probs.expand(6, -1), torch.tensor(numbers, dtype=torch.float64)).tolist() == [1, 1, 3, 3, 4, 4]


def exact(row, log_probability, temperature):
    """Every output of at most three words with its probability, tempered step by step."""

    def probs(written):
        weights = [math.exp(log_prob / temperature) for log_prob in log_probability(row, written)]
        return [weight / sum(weights) for weight in weights]

    found = {}
    for length in range(LONGEST + 1):
        for words in itertools.product(WORDS, repeat=length):
            ended = (*words, END) if length < LONGEST else words
            found[words] = math.prod(probs(ended[:at])[token] for at, token in enumerate(ended))
    return found


@pytest.mark.spec("E07")
@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_outputs_come_as_often_as_they_are_probable(model, encoded, special_tokens, log_probability, temperature):
    outputs = exact(0, log_probability, temperature)
    assert sum(outputs.values()) == pytest.approx(1.0, abs=1e-9)
    drawn = sample(
        model.decoder,
        one_row(encoded, 0, DRAWN),
        special_tokens=special_tokens,
        max_tokens=LONGEST,
        seeds=[str(number) for number in range(DRAWN)],
        temperature=temperature,
    )
    counts = Counter(one.tokens for one in drawn)
    for words, prob in outputs.items():
        std = math.sqrt(prob * (1 - prob) / DRAWN)
        assert abs(counts[words] / DRAWN - prob) < 4.5 * std + 1e-3, words


@pytest.mark.spec("E07")
def test_seeds_reproduce_samples_whatever_the_neighbours(model, encoded, special_tokens):
    seeds = [f"row {row}" for row in range(len(encoded.valid))]
    together = sample(model.decoder, encoded, special_tokens=special_tokens, max_tokens=7, seeds=seeds)
    assert len({len(one.tokens) for one in together}) > 2  # they finish at different times
    assert sample(model.decoder, encoded, special_tokens=special_tokens, max_tokens=7, seeds=seeds) == together
    others = sample(
        model.decoder, encoded, special_tokens=special_tokens, max_tokens=7, seeds=[f"{seed}!" for seed in seeds]
    )
    assert [one.tokens for one in others] != [one.tokens for one in together]
    for row, one in enumerate(together):
        (alone,) = sample(
            model.decoder, one_row(encoded, row, 1), special_tokens=special_tokens, max_tokens=7, seeds=[seeds[row]]
        )
        assert alone.tokens == one.tokens
        assert alone.score == pytest.approx(one.score, abs=1e-4)


def test_the_score_is_the_model_s_own_log_probability(model, encoded, special_tokens, log_probability):
    drawn = sample(
        model.decoder,
        encoded,
        special_tokens=special_tokens,
        max_tokens=5,
        seeds=["a"] * len(encoded.valid),
        temperature=3.0,
        top_k=2,
    )
    for row, one in enumerate(drawn):
        ended = (*one.tokens, END) if len(one.tokens) < 5 else one.tokens
        total = sum(log_probability(row, ended[:at])[token] for at, token in enumerate(ended))
        assert one.score == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("narrow", [{"temperature": 1e-4}, {"top_k": 1}, {"top_p": 1e-9}])
def test_the_narrowest_draw_is_greedy(model, encoded, special_tokens, narrow):
    drawn = sample(
        model.decoder, encoded, special_tokens=special_tokens, max_tokens=7, seeds=["a"] * len(encoded.valid), **narrow
    )
    assert drawn == greedy(model.decoder, encoded, special_tokens=special_tokens, max_tokens=7)


def test_what_is_forbidden_is_never_drawn(model, encoded, special_tokens):
    with torch.no_grad():
        model.decoder.bias[list(special_tokens.forbidden)] = 100.0
    seeds = [str(row) for row in range(len(encoded.valid))]
    for one in sample(
        model.decoder, encoded, special_tokens=special_tokens, max_tokens=5, seeds=seeds, temperature=9.0
    ):
        assert set(one.tokens) <= set(WORDS)


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"temperature": 0.0}, "temperature cannot be 0.0"),
        ({"temperature": -1.0}, "temperature cannot be -1.0"),
        ({"top_k": -1}, "top_k cannot be -1"),
        ({"top_p": 0.0}, "top_p cannot be 0.0"),
        ({"top_p": 1.5}, "top_p cannot be 1.5"),
    ],
)
def test_numbers_that_cannot_be_drawn_with(options, problem):
    with pytest.raises(InputError, match=problem) as caught:
        TokenSampler(["a"], **options)
    assert caught.value.fix.startswith("give ")
