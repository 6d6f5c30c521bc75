"""The wide part of a text classifier: a table found by key, the linear formula by a loop, and what both parts add."""

import math

import pytest
import torch

from atento.errors import InputError
from atento.models import Classifier, LabelHead, LabelledBatch
from atento.models.builders import build_classifier
from atento.models.wide import START, FeatureTable, WideNGrams, best_weights
from atento.spec import ModelRecipe

BATCH, STEPS, LABELS, WORDS = 3, 11, 5, 13


def filled(longest=2, capacity=101):
    torch.manual_seed(0)
    wide = WideNGrams(WORDS, longest, LABELS, capacity=capacity).double()
    ngrams = [(word,) for word in range(START + 1, WORDS)] + [(3, 4), (4, 3), (7, 7), (5, 12)]
    ngrams += [(START, 7), (START, 4), (START, 7, 7), (START, 9, 4)]
    weights, scales = torch.randn(len(ngrams), LABELS).double(), torch.rand(len(ngrams)).double() + 0.5
    bias = torch.randn(LABELS).double()
    wide.fill(torch.tensor([wide.key(ngram) for ngram in ngrams]), weights, scales, bias)
    return wide, dict(zip(ngrams, zip(weights, scales, strict=True), strict=True)), bias


def by_loop(row, known, bias):
    """W x + b with x = s / |s| over the distinct n-grams that are known."""
    had = {tuple(row[at : at + size]) for size in (1, 2) for at in range(len(row) - size + 1)}
    had = (had | {(START, *row[:size]) for size in (1, 2) if size <= len(row)}) & known.keys()
    length = math.sqrt(sum(float(known[one][1]) ** 2 for one in had)) if had else 1.0
    return bias + sum((known[one][0] * known[one][1] / length for one in had), torch.zeros_like(bias))


@pytest.mark.parametrize("capacity", [1, 2, 7, 8, 31])
def test_a_table_finds_the_keys_it_holds_and_no_other(capacity):
    torch.manual_seed(0)
    table = FeatureTable(capacity, 2)
    held = torch.randperm(97)[: max(1, capacity - 1)]
    table.fill(held, torch.stack([held, -held], dim=1).float())
    asked = torch.arange(-3, 101)
    found = table.rows[table.find(asked)]
    expected = [[key, -key] if key in held.tolist() else [0, 0] for key in asked.tolist()]
    assert found.tolist() == expected


def test_a_table_refuses_more_than_it_holds_and_a_key_twice():
    for keys in (torch.arange(6), torch.tensor([1, 1])):
        with pytest.raises(InputError, match="5 features holds each of them once"):
            FeatureTable(5, 1).fill(keys, torch.zeros(len(keys), 1))


def test_the_linear_formula_over_distinct_ngrams_whatever_the_padding():
    wide, known, bias = filled()
    tokens, valid = torch.randint(START + 1, WORDS, (BATCH, STEPS)), torch.rand(BATCH, STEPS) < 0.7
    tokens[0], valid[2] = 7, False  # one word again and again; no word at all
    tokens[1, :2], valid[1, :2] = torch.tensor([9, 4]), True
    expected = [by_loop(row[real].tolist(), known, bias) for row, real in zip(tokens, valid, strict=True)]
    torch.testing.assert_close(wide(tokens, valid), torch.stack(expected))
    noisy = tokens.masked_fill(~valid, 3)
    assert torch.equal(wide(noisy, valid), wide(tokens, valid))


def test_a_row_of_the_table_is_an_ngram_again():
    wide, known, _ = filled()
    held = {tuple(wide.tokens_of(row)) for row in range(len(known))}
    assert held == known.keys()
    assert WideNGrams(30_000, 9, 2, capacity=3).longest == 3  # more digits than a key has
    assert WideNGrams(30, 6, 2, capacity=3).longest == 6


def test_the_network_learns_alone_and_answers_are_made_of_both():
    torch.manual_seed(0)
    recipe = ModelRecipe(name="gru+wide", hidden=8, dropout=0.0)
    model = build_classifier(recipe, WORDS, LabelHead, LABELS)
    assert isinstance(model, Classifier)
    wide = model.wide
    wide.fill(torch.tensor([2, 3]), torch.randn(2, LABELS), torch.ones(2), torch.randn(LABELS))
    tokens = torch.randint(1, WORDS, (BATCH, STEPS))
    batch = LabelledBatch(tokens, torch.ones_like(tokens, dtype=torch.bool), torch.zeros(BATCH, dtype=torch.long))
    assert not model.train()(batch).any()  # the network adds nothing at first
    torch.testing.assert_close(model.eval()(batch), wide(*batch[:2]))
    torch.nn.init.normal_(model.head.map.weight)
    wide.weights_of_both.copy_(torch.tensor([0.5, 3.0]))
    network = model.train()(batch)
    torch.testing.assert_close(model.eval()(batch), 0.5 * wide(*batch[:2]) + 3.0 * network)
    model.train().loss(batch).mean.backward()
    assert all("wide" not in name for name, _ in model.named_parameters())


def test_the_weights_of_both_parts_are_where_no_other_has_a_smaller_cost():
    torch.manual_seed(0)
    truth = torch.randint(0, 3, (41,))
    sure = torch.nn.functional.one_hot(truth, 3).double()
    linear, network = sure + torch.randn(41, 3), 4 * sure + 6 * torch.randn(41, 3)

    def loss(a, b):
        return torch.nn.functional.cross_entropy(a * linear + b * network, truth)

    def cost(logs):
        return float(loss(*logs.exp()) + logs.square().sum() / (2 * 41))

    found = best_weights(loss, examples=41).log()
    steps = torch.cartesian_prod(torch.linspace(-2, 2, 41), torch.linspace(-2, 2, 41)).double()
    assert cost(found) <= min(cost(one) for one in steps) + 1e-6
    assert found.exp()[1] < found.exp()[0]


def test_without_the_suffix_there_is_no_wide_part():
    assert build_classifier(ModelRecipe(name="gru", hidden=8), WORDS, LabelHead, LABELS).wide is None
