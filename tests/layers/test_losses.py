"""Cross-entropy in plain floats, and torch's own with smoothing."""

import math

import pytest
import torch
from torch.nn import functional

from atento.layers.losses import Loss, token_cross_entropy

ITEMS, CLASSES = 7, 5


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_sum_over_real_tokens(smoothing):
    logits, targets = torch.randn(ITEMS, CLASSES), torch.randint(CLASSES, (ITEMS,))
    expected = 0.0
    for row, truth in zip(logits.tolist(), targets.tolist(), strict=True):
        total = math.log(sum(math.exp(value) for value in row))
        spread = sum(total - value for value in row) / CLASSES
        expected += (1 - smoothing) * (total - row[truth]) + smoothing * spread
    loss = token_cross_entropy(logits, targets, smoothing=smoothing)
    assert loss.items == ITEMS
    assert loss.total.item() == pytest.approx(expected, rel=1e-5)
    assert loss.mean.item() == pytest.approx(expected / ITEMS, rel=1e-5)
    torch.testing.assert_close(loss.mean, functional.cross_entropy(logits.float(), targets, label_smoothing=smoothing))


def test_micro_batches_add_up_to_one_batch():
    logits, targets = torch.randn(ITEMS, CLASSES, requires_grad=True), torch.randint(CLASSES, (ITEMS,))
    whole = token_cross_entropy(logits, targets)
    parts = [token_cross_entropy(logits[place], targets[place]) for place in (slice(0, 2), slice(2, 7))]
    summed = Loss(parts[0].total + parts[1].total, parts[0].items + parts[1].items)
    torch.testing.assert_close(summed.mean, whole.mean)
    gradients = [torch.autograd.grad(loss.mean, logits)[0] for loss in (summed, whole)]
    torch.testing.assert_close(*gradients)


def test_products_in_bfloat16_are_summed_in_float32():
    logits, targets = torch.randn(ITEMS, CLASSES, dtype=torch.bfloat16), torch.randint(CLASSES, (ITEMS,))
    assert token_cross_entropy(logits, targets).total.dtype == torch.float32


def test_no_items_no_loss():
    loss = token_cross_entropy(torch.zeros(0, CLASSES), torch.zeros(0, dtype=torch.long))
    assert loss.items == 0
    assert loss.mean.item() == 0.0
