"""N-gram features: the sum by a loop, independent of padding, zero at first, and quick to learn."""

import math

import pytest
import torch

from atento.errors import InputError
from atento.models import LabelHead, LabelledBatch, NGramFeatures
from atento.models.builders import build_classifier
from atento.models.classifier import HASH_FACTORS, NGRAM_SCALE, WIDEST_NGRAM
from atento.spec import ModelRecipe

BATCH, STEPS, SIZE, BUCKETS = 3, 7, 5, 101


def some_features(longest=3):
    torch.manual_seed(0)
    ngrams = NGramFeatures(longest, SIZE, buckets=BUCKETS)
    torch.nn.init.normal_(ngrams.table.weight)
    return ngrams


def by_loop(ngrams, row):
    found = []
    for length in range(1, ngrams.longest + 1):
        for first in range(len(row) - length + 1):
            hashed = sum(
                token * factor for token, factor in zip(row[first : first + length], HASH_FACTORS, strict=False)
            )
            found.append(ngrams.table.weight[(hashed + length) % (BUCKETS - 1) + 1])
    return NGRAM_SCALE * torch.stack(found).sum(0) / math.sqrt(len(found)) if found else torch.zeros(SIZE)


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_the_sum_over_all_ngrams(longest):
    ngrams = some_features(longest)
    tokens = torch.randint(1, 1000, (BATCH, STEPS))
    valid = torch.rand(BATCH, STEPS) < 0.6
    valid[2] = False
    expected = [by_loop(ngrams, row[real].tolist()) for row, real in zip(tokens, valid, strict=True)]
    torch.testing.assert_close(ngrams(tokens, valid), torch.stack(expected))
    noisy = tokens.masked_fill(~valid, 77)
    assert torch.equal(ngrams(noisy, valid), ngrams(tokens, valid))


def test_a_text_shorter_than_an_ngram():
    ngrams = some_features(3)
    tokens, valid = torch.tensor([[9]]), torch.tensor([[True]])
    torch.testing.assert_close(ngrams(tokens, valid)[0], by_loop(ngrams, [9]))


def test_nothing_is_said_at_first_and_some_ngrams_are_dropped_while_training():
    ngrams = NGramFeatures(2, SIZE, dropout=0.5)
    tokens, valid = torch.randint(1, 50, (BATCH, STEPS)), torch.ones(BATCH, STEPS, dtype=torch.bool)
    assert not ngrams(tokens, valid).any()
    torch.nn.init.ones_(ngrams.table.weight)
    several = torch.stack([ngrams(tokens, valid) for _ in range(20)])
    assert several.unique().numel() > 1
    assert ngrams.eval()(tokens, valid).unique().numel() == 1


def test_what_words_cannot_tell_apart_pairs_can():
    """5 6 against 6 5, anywhere: the bag of single words is the same."""
    torch.manual_seed(0)
    for longest, learned in ((1, False), (2, True)):
        recipe = ModelRecipe(name="rnn", hidden=2, dropout=0.0, ngrams=longest)
        model = build_classifier(recipe, 13, LabelHead, 2)
        for weight in model.encoder.parameters():
            weight.requires_grad_(False)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
        for _ in range(60):
            optimiser.zero_grad()
            model.loss(turned_batch()).mean.backward()
            optimiser.step()
        batch = turned_batch()
        right = (model.eval()(batch).argmax(-1) == batch.truth).double().mean()
        assert (right > 0.95) == learned, (longest, right)


def turned_batch():
    truth = torch.randint(2, (64,))
    source = torch.randint(7, 13, (64, 6))
    place = torch.randint(0, 5, (64,))
    source[torch.arange(64), place] = 5 + truth
    source[torch.arange(64), place + 1] = 6 - truth
    return LabelledBatch(source, torch.ones(64, 6, dtype=torch.bool), truth)


def test_ngrams_have_a_length():
    with pytest.raises(InputError, match="1 to 3 words"):
        NGramFeatures(4, SIZE)


def test_the_table_does_not_grow_with_the_labels():
    """5,003 labels: a vector of so many numbers for each of 50,021 buckets would be a gigabyte, four with Adam."""
    torch.manual_seed(0)
    ngrams = NGramFeatures(2, 5003)
    assert sum(part.numel() for part in ngrams.parameters()) <= WIDEST_NGRAM * (50_021 + 5003)
    tokens, valid = torch.randint(1, 50, (BATCH, STEPS)), torch.ones(BATCH, STEPS, dtype=torch.bool)
    assert ngrams(tokens, valid).shape == (BATCH, 5003) and not ngrams(tokens, valid).any()
    ngrams(tokens, valid)[:, 4999].sum().backward()
    assert ngrams.table.weight.grad.any()
