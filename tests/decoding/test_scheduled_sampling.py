"""Scheduled sampling: a coin for each input, and what stands there when it falls for the model's own token."""

import pytest
import torch

from atento.data.text.vocabulary import END, START
from atento.decoding import argmax, draw_tokens, log_probabilities, mix_inputs
from atento.decoding.scheduled_sampling import in_two_passes, step_by_step

TARGET = 6
WORDS = (4, 5, 6)


@pytest.fixture
def previous(encoded):
    torch.manual_seed(7)
    words = torch.randint(4, 7, (len(encoded.valid), TARGET - 1))
    return torch.cat([torch.full((len(words), 1), START), words], dim=1)


def predict(special_tokens):
    words_only = special_tokens._replace(forbidden=(0, 1, 2, END))
    return lambda logits, rows: argmax(log_probabilities(logits, words_only), rows)


def own_token(log_probability, row, before):
    log_probs = log_probability(row, tuple(before[1:]))
    return max(WORDS, key=log_probs.__getitem__)


@pytest.mark.spec("E03")
def test_step_by_step_each_own_token_follows_from_the_mixture(
    model, encoded, special_tokens, previous, log_probability
):
    """By hand and without a cache: the true token, or the most probable word after all inputs so far."""
    keep = torch.rand(previous.shape) < 0.4
    mixed = step_by_step(model.decoder, encoded, previous, keep, predict(special_tokens))
    for row in range(len(previous)):
        expected = [START]
        for at in range(1, TARGET):
            own = own_token(log_probability, row, expected)
            expected.append(previous[row, at].item() if keep[row, at] else own)
        assert mixed[row].tolist() == expected


@pytest.mark.spec("E03")
def test_in_two_passes_each_own_token_follows_from_the_truth(model, encoded, special_tokens, previous, log_probability):
    keep = torch.rand(previous.shape) < 0.4
    mixed = in_two_passes(model.decoder, encoded, previous, keep, predict(special_tokens))
    for row in range(len(previous)):
        truth = previous[row].tolist()
        expected = [START] + [
            truth[at] if keep[row, at] else own_token(log_probability, row, truth[:at]) for at in range(1, TARGET)
        ]
        assert mixed[row].tolist() == expected


@pytest.mark.spec("E03")
def test_a_decoder_that_does_not_recur_is_not_made_to_wait(model, encoded, special_tokens, previous, monkeypatch):
    steps, walked = [], type(model.decoder).step
    monkeypatch.setattr(type(model.decoder), "step", lambda *arguments: steps.append(1) or walked(*arguments))
    keep = torch.zeros(previous.shape, dtype=torch.bool)
    mix_inputs(model.decoder, encoded, previous, keep, choose=argmax, special_tokens=special_tokens)
    assert len(steps) == (TARGET - 1 if model.decoder.is_recurrent else 0)


def test_all_true_and_all_own(model, encoded, special_tokens, previous):
    options = {"choose": argmax, "special_tokens": special_tokens}
    every, none = torch.ones_like(previous, dtype=torch.bool), torch.zeros_like(previous, dtype=torch.bool)
    assert torch.equal(mix_inputs(model.decoder, encoded, previous, every, **options), previous)
    own = mix_inputs(model.decoder, encoded, previous, none, **options)
    assert (own[:, 0] == START).all()
    assert set(own[:, 1:].flatten().tolist()) <= set(WORDS)


def test_a_target_of_one_token_has_nothing_to_mix(model, encoded, special_tokens, previous):
    keep = torch.zeros(len(previous), 1, dtype=torch.bool)
    for choose in (argmax, draw_tokens):
        mixed = mix_inputs(model.decoder, encoded, previous[:, :1], keep, choose=choose, special_tokens=special_tokens)
        assert mixed.tolist() == [[START]] * len(previous)


def test_a_drawn_token_is_drawn_by_its_probability():
    torch.manual_seed(0)
    log_probs = torch.tensor([0.0, 0.7, 0.3]).log().expand(4000, -1)
    counts = draw_tokens(log_probs, torch.arange(4000)).bincount(minlength=3)
    assert counts[0] == 0
    assert counts[1].item() / 4000 == pytest.approx(0.7, abs=0.03)
