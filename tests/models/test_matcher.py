"""Two sequences judged together: the formulas, padding, and what only a look from one to the other can learn."""

import math

import pytest
import torch
from torch.nn import functional

from atento.errors import InputError
from atento.models import LabelHead, MatchBatch
from atento.models.builders import build_matcher
from atento.models.matcher import OVERLAPS
from atento.spec import ModelRecipe

BATCH, FIRST, SECOND, TOKENS, LABELS, SIZE = 3, 7, 5, 13, 2, 10
NAMES = ["rnn", "gru+additive", "lstm", "transformer", "lstm+co", "gru+additive+sparsemax+co", "transformer+co"]
TOGETHER = ["lstm+co", "gru+general+entmax15+co", "rnn+additive+sigmoid+co", "lstm+dot+local+co", "transformer+co"]


def build(name, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": SIZE, "heads": 2, "feed_forward": 7, "dropout": 0.0, **choices})
    return build_matcher(recipe, TOKENS, LabelHead, LABELS).double()


def some_batch():
    torch.manual_seed(1)
    lengths, others = torch.tensor([7, 4, 1]), torch.tensor([2, 5, 3])
    first, second = torch.randint(4, TOKENS, (BATCH, FIRST)), torch.randint(4, TOKENS, (BATCH, SECOND))
    overlap, other = torch.randint(1, 4, first.shape), torch.randint(1, 4, second.shape)
    valid, other_valid = torch.arange(FIRST) < lengths[:, None], torch.arange(SECOND) < others[:, None]
    return MatchBatch(first, valid, overlap, second, other_valid, other, torch.tensor([1, 0, 1]))


def row_of(batch, row, *, before=0, after=0):
    """One row without its padding, with so much of another around it."""
    parts = []
    for tokens, valid, overlap in (batch[0:3], batch[3:6]):
        length = int(valid[row].sum())
        around = (before, after)
        parts += [
            functional.pad(tokens[row : row + 1, :length], around, value=3),
            functional.pad(valid[row : row + 1, :length], around),
            functional.pad(overlap[row : row + 1, :length], around, value=2),
        ]
    return MatchBatch(*parts, batch.truth[row : row + 1])


@pytest.mark.parametrize("name", NAMES)
def test_neither_padding_nor_neighbours_matter(name):
    model, batch = build(name), some_batch()
    weights = list(model.parameters())
    expected = model(batch)
    slopes = torch.autograd.grad(model.loss(batch).total, weights, allow_unused=True)
    other = batch._replace(
        first=batch.first.masked_fill(~batch.first_valid, 3),
        first_overlap=batch.first_overlap.masked_fill(~batch.first_valid, 2),
        second=batch.second.masked_fill(~batch.second_valid, 3),
        second_overlap=batch.second_overlap.masked_fill(~batch.second_valid, 2),
    )
    assert torch.equal(model(other), expected)
    again = torch.autograd.grad(model.loss(other).total, weights, allow_unused=True)
    for ours, theirs in zip(again, slopes, strict=True):
        assert theirs is None or torch.equal(ours, theirs)
    for row in range(BATCH):
        alone = model(row_of(batch, row, before=2, after=1))  # before and after
        torch.testing.assert_close(alone, expected[row : row + 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_sequence_of_nothing_gives_finite_numbers(name):
    model, batch = build(name), some_batch()
    some = torch.tensor([[True], [False], [True]])
    loss = model.loss(batch._replace(first_valid=batch.first_valid & some, second_valid=batch.second_valid & some))
    slopes = torch.autograd.grad(loss.total, list(model.parameters()), allow_unused=True)
    assert loss.total.isfinite()
    assert all(slope is None or slope.isfinite().all() for slope in slopes)


@pytest.mark.parametrize("name", TOGETHER)
def test_weights_are_those_of_the_real_tokens(name):
    model, batch = build(name), some_batch()
    weights = model.weights(batch)
    assert weights.shape[0] == BATCH and weights.shape[3:] == (SECOND, FIRST)
    seen = batch.second_valid[:, None, None, :, None] & batch.first_valid[:, None, None, None, :]
    assert (weights.masked_select(~seen) == 0).all()
    assert (weights >= 0).all() and weights.sum() > 0
    for row in range(BATCH):
        alone = model.weights(row_of(batch, row))
        inside = weights[row : row + 1, :, :, : alone.size(3), : alone.size(4)]
        torch.testing.assert_close(inside, alone, rtol=0, atol=1e-12)
    if name in ("lstm+co", "gru+general+entmax15+co"):
        torch.testing.assert_close(weights.sum(-1)[:, 0, 0], batch.second_valid.double())


def by_hand(model, batch, row):
    """Outputs of one pair from the equations (Chen et al., 2017), loop by loop; torch's own LSTM walks."""
    alone = row_of(batch, row)
    walk, after = model.encoder.stack.to_torch(), model.after.to_torch()
    table, overlap = model.encoder.embedding.table.weight, model.overlap.weight
    states = []
    for tokens, overlaps in ((alone.first, alone.first_overlap), (alone.second, alone.second_overlap)):
        vectors = torch.stack(
            [table[token] + overlap[kind] for token, kind in zip(tokens[0], overlaps[0], strict=True)]
        )
        states.append(walk(vectors[None])[0][0])  # (T, D)
    summed = []
    for own, other in (states, states[::-1]):
        compared = []
        for state in own:
            scores = [math.exp(float(state @ key)) for key in other]
            found = sum(score / sum(scores) * value for score, value in zip(scores, other, strict=True))
            features = torch.cat([state, found, state - found, state * found])
            compared.append(torch.relu(model.compare.weight @ features + model.compare.bias))
        walked = after(torch.stack(compared)[None])[0][0]
        summed.append(torch.cat([walked.mean(0), walked.max(0).values]))
    u, v = summed
    together = model.pair_head.together
    inner = torch.relu(together.weight @ torch.cat([u, v, (u - v).abs(), u * v]) + together.bias)
    return model.head.map.weight @ inner + model.head.map.bias


@pytest.mark.spec("K09")
def test_co_attention_is_the_paper_s():
    model, batch = build("lstm+dot+co"), some_batch()
    with torch.no_grad():
        expected = torch.stack([by_hand(model, batch, row) for row in range(BATCH)])
        torch.testing.assert_close(model(batch), expected, rtol=0, atol=1e-12)


@pytest.mark.spec("K09")
def test_two_towers_are_the_paper_s():
    """u, v, |u − v|, u ∗ v of one encoder: Conneau et al., 2017, fig. 1."""
    model, batch = build("lstm", pooling="max"), some_batch()
    walk = model.encoder.stack.to_torch()
    table = model.encoder.embedding.table.weight
    alone = row_of(batch, 1)
    u, v = (walk(table[tokens])[0][0].max(0).values for tokens in (alone.first, alone.second))
    together = model.pair_head.together
    inner = torch.relu(together(torch.cat([u, v, (u - v).abs(), u * v])))
    torch.testing.assert_close(model(batch)[1], model.head.map(inner), rtol=0, atol=1e-12)


def test_a_transformer_reads_both_as_one():
    """Its states are those of the two sequences side by side, with vectors of side and overlap added."""
    model, batch = build("transformer+co", layers=2), some_batch()
    alone = row_of(batch, 1)  # four and five tokens
    embedding, (first, second) = model.embedding, (alone.first, alone.second)
    place = embedding.positions(torch.cat([torch.arange(4), torch.arange(5)])).double()
    side = model.side.weight[torch.tensor([0] * 4 + [1] * 5)]
    overlap = model.overlap.weight[torch.cat([alone.first_overlap, alone.second_overlap], dim=1)[0]]
    tokens = embedding.tokens.table.weight[torch.cat([first, second], dim=1)[0]]
    values = (tokens * SIZE**0.5 + place + side + overlap)[None]
    states = model.stack(values)[0]
    u, v = (torch.cat([part.mean(0), part.max(0).values]) for part in (states[:4], states[4:]))
    pair = torch.cat([u, v, (u - v).abs(), u * v])
    outputs = model.head.map(torch.relu(model.pair_head.together(pair)))
    torch.testing.assert_close(model(batch)[1], outputs, rtol=0, atol=1e-12)
    every = model.stack.weights(values)[0]
    torch.testing.assert_close(model.weights(alone)[0], every[..., 4:, :4], rtol=0, atol=1e-12)


def test_who_is_first_can_be_turned_round():
    batch = some_batch()
    assert all(torch.equal(one, other) for one, other in zip(batch.swapped().swapped(), batch, strict=True))
    assert torch.equal(batch.swapped().first_overlap, batch.second_overlap)
    assert len(OVERLAPS) == 4


def test_towers_say_what_their_pooling_took():
    model, batch = build("gru+additive"), some_batch()
    taken = model.pooling_weights(batch.first, batch.first_valid)
    torch.testing.assert_close(taken.sum(-1), torch.ones(BATCH).double())
    assert (taken[~batch.first_valid] == 0).all()
    assert model.weights(batch).numel() == 0
    with pytest.raises(InputError, match="does not pool by attention"):
        build("gru").pooling_weights(batch.first, batch.first_valid)
