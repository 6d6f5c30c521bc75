"""Aligned many to many: real steps only, in order; a lag that memory carries and a step by itself cannot."""

import random

import pytest
import torch
from torch.nn import functional

from atento.baselines import FeedForwardTagger
from atento.errors import InputError
from atento.layers import valid_from_lengths
from atento.models import LabelHead, LabelledBatch, RegressionHead, Tagger
from atento.models.backbones import RecurrentNumberEncoder
from atento.models.builders import build_tagger
from atento.models.names import FAMILIES
from atento.models.summaries import SUMMARIES
from atento.recurrent import ElmanCell, Stack
from atento.spec import ModelRecipe

BATCH, STEPS, TOKENS, LABELS = 3, 7, 13, 5
NAMES = [*FAMILIES, "transformer+additive"]


def build(name, head=LabelHead, width=LABELS, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 10, "heads": 2, "feed_forward": 7, "dropout": 0.0, **choices})
    return build_tagger(recipe, TOKENS, head, width)


def some_batch():
    torch.manual_seed(1)
    valid = valid_from_lengths(torch.tensor([7, 4, 1]), STEPS)
    source, truth = torch.randint(1, TOKENS, (BATCH, STEPS)), torch.randint(LABELS, (BATCH, STEPS))
    return LabelledBatch(source, valid, truth)


@pytest.mark.spec("R06")
@pytest.mark.parametrize("name", NAMES)
def test_real_steps_in_order_whatever_the_padding(name):
    model, batch = build(name), some_batch()
    expected = model(batch)
    assert expected.shape == (12, LABELS)
    other = batch._replace(
        source=batch.source.masked_fill(~batch.valid, 3), truth=batch.truth.masked_fill(~batch.valid, -9)
    )
    assert torch.equal(model(other), expected)
    assert torch.equal(model.loss(other).total, model.loss(batch).total)
    assert model.loss(batch).items == 12
    first = 0
    for row, length in enumerate([7, 4, 1]):
        source, valid = (functional.pad(part[row : row + 1, :length], (1, 2)) for part in batch[:2])
        alone = model(LabelledBatch(source, valid, batch.truth[:1]))
        torch.testing.assert_close(alone, expected[first : first + length], rtol=0, atol=1e-12)
        first += length


def test_the_loss_is_the_head_s_over_real_steps():
    model, batch = build("gru"), some_batch()
    probabilities, truth = model(batch).log_softmax(-1), batch.truth[batch.valid]
    assert model.loss(batch).total.item() == pytest.approx(
        -sum(probabilities[at, truth[at]] for at in range(12)).item()
    )


def lagged(count, seed):
    """Characters drawn by chance; the tag of each is the character before it."""
    chance = random.Random(seed)
    characters = [chance.choices("abcd", k=chance.randint(2, 9)) for _ in range(count)]
    return characters, [["a", *row[:-1]] for row in characters]


def as_batch(characters, tags):
    lengths = torch.tensor([len(row) for row in characters])
    numbers = [
        [["abcd".index(one) for one in row] + [0] * (9 - len(row)) for row in rows] for rows in (characters, tags)
    ]
    return LabelledBatch(torch.tensor(numbers[0]) + 1, valid_from_lengths(lengths, 9), torch.tensor(numbers[1]))


@pytest.mark.spec("B03", "R06")
def test_a_lag_of_one_is_beyond_a_network_that_sees_one_step_and_easy_for_a_recurrent_one():
    """The previous character is independent of the current: no function of it beats 1/4 (the first tag is a)."""
    characters, tags = lagged(200, seed=0)
    asked, truth = lagged(200, seed=1)
    answers = FeedForwardTagger().fit(characters, tags).predict(asked)
    later = [
        (said, tag)
        for row, tags_ in zip(answers, truth, strict=True)
        for said, tag in zip(row[1:], tags_[1:], strict=True)
    ]
    assert sum(said == tag for said, tag in later) / len(later) < 0.32
    torch.manual_seed(0)
    model = build_tagger(ModelRecipe(name="rnn", hidden=16, directions=1, dropout=0.0), 5, LabelHead, 4)
    optimiser, batch = torch.optim.Adam(model.parameters(), lr=0.02, fused=True), as_batch(characters, tags)
    for _ in range(120):
        optimiser.zero_grad()
        model.loss(batch).mean.backward()
        optimiser.step()
    unseen = as_batch(asked, truth)
    assert (model.head.predict(model(unseen)) == unseen.truth[unseen.valid]).all()


def test_a_network_that_sees_one_step_learns_what_one_step_tells():
    characters, _ = lagged(100, seed=0)
    tags = [["vowel" if character == "a" else "consonant" for character in row] for row in characters]
    assert FeedForwardTagger().fit(characters, tags).predict([["a", "d", "b"]]) == [["vowel", "consonant", "consonant"]]


@pytest.mark.spec("R06")
def test_the_next_value_at_every_step():
    """A sine of unknown phase: two values tell the next, x_{t+1} = 2 cos(w) x_t − x_{t−1}."""

    def waves(count):
        times = 0.7 * torch.arange(13.0) + 6.28 * torch.rand(count, 1)
        series = times.sin().unsqueeze(-1)
        return LabelledBatch(series[:, :-1], torch.ones(count, 12, dtype=torch.bool), series[:, 1:])

    torch.manual_seed(0)
    encoder = RecurrentNumberEncoder(Stack(ElmanCell, 1, 12), SUMMARIES["last"])
    model = Tagger(encoder, RegressionHead(12, 1))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02, fused=True)
    for _ in range(300):
        optimiser.zero_grad()
        model.loss(waves(32)).mean.backward()
        optimiser.step()
    batch = waves(50)
    errors = (model(batch) - batch.truth[batch.valid]).square().view(50, 12).mean(0)
    assert errors[0] > 0.05  # one value does not tell whether it rises or falls
    assert errors[3:].max() < 0.01


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="encoder of size 6, head of size 5"):
        Tagger(RecurrentNumberEncoder(Stack(ElmanCell, 1, 6), SUMMARIES["last"]), LabelHead(5, 2))
