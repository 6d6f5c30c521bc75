"""Integrated gradients: exact where the model is linear, complete where it is not, and honest where it is neither."""

import pytest
import torch
from torch import nn

from atento.layers.embeddings import TokenEmbedding
from atento.models.diagnostics.attribution import graded_line, integrated_gradients

TOKENS = torch.tensor([[3, 1, 4, 1, 5]])


class Bag(nn.Module):
    """A function of the sum of embeddings."""

    def __init__(self, function):
        super().__init__()
        self.embedding, self.function = TokenEmbedding(11, 7), function
        self.weight = nn.Parameter(torch.randn(7))

    def score(self, values=None):
        return self.function(self.embedding(TOKENS)[0] @ self.weight)


def test_a_linear_model_gives_each_token_its_own_part():
    model = Bag(torch.sum)
    found = integrated_gradients(model, model.score)
    with torch.no_grad():
        own = model.embedding(TOKENS)[0] @ model.weight
    torch.testing.assert_close(found.tokens, own, atol=1e-12, rtol=0)
    assert found.baseline == 0.0 and found.remainder < 1e-9 and found.points == 32


def test_a_square_is_shared_by_products_with_the_sum():
    """f = (Σ a_i)²: attributions a_i Σ a_j, as ∫ 2 α da = 1."""
    model = Bag(lambda parts: parts.sum().square())
    found = integrated_gradients(model, model.score)
    with torch.no_grad():
        own = model.embedding(TOKENS)[0] @ model.weight
    torch.testing.assert_close(found.tokens, own * own.sum(), atol=1e-9, rtol=1e-9)


def test_numbers_start_from_zero_and_keep_their_shape():
    values, weight = torch.randn(1, 5, 3), torch.randn(5, 3)
    found = integrated_gradients(nn.Identity(), lambda numbers: (weight * numbers[0]).sum() + 2, values)
    torch.testing.assert_close(found.values[0], weight * values[0], atol=1e-12, rtol=0)
    assert found.baseline == pytest.approx(2.0) and len(found.tokens) == 0


def test_points_are_doubled_until_the_values_add_up_and_a_step_is_reported():
    steep = Bag(lambda parts: torch.tanh(40 * parts.sum()))
    assert integrated_gradients(steep, steep.score).remainder < 0.01
    assert integrated_gradients(steep, steep.score, tolerance=1e-7).points > 32
    jump = Bag(lambda parts: (parts.sum().abs() > 0.01).double() + 1e-9 * parts.sum())
    found = integrated_gradients(jump, jump.score, most=64)
    assert found.points == 64 and found.remainder > 0.9


def test_the_line_is_covered_once():
    parts = list(graded_line(17))
    assert sum(width for _, width in parts) == pytest.approx(1.0)
    assert parts[0][0] < parts[1][0] < parts[-1][0] < 1
