"""Losses worked on paper."""

import pytest
import torch

from atento.layers import binary_cross_entropy, sequence_cross_entropy, token_cross_entropy
from atento.metrics import ACCURACY


@pytest.mark.spec("L02")
@pytest.mark.parametrize(
    "probabilities, summed, averaged",
    [
        ([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]], 4.135, 1.378),
        ([[0.3, 0.4, 0.3], [0.1, 0.7, 0.2], [0.1, 0.2, 0.7]], 1.917, 0.639),
    ],
)
def test_cross_entropy_is_not_accuracy(probabilities, summed, averaged):
    """Softmax of log-probabilities gives them back. Both models are right twice in three, by narrow margins or wide
    ones; only the cross-entropy tells them apart, and only it has a slope to follow."""
    probabilities = torch.tensor(probabilities)
    loss = token_cross_entropy(probabilities.log() + 7, torch.tensor([0, 1, 2]))
    assert round(loss.total.item(), 3) == summed
    assert round(loss.mean.item(), 3) == averaged
    answers = [str(answer) for answer in probabilities.argmax(-1).tolist()]
    assert ACCURACY.value(answers, [["0"], ["1"], ["2"]]) == pytest.approx(2 / 3)


@pytest.mark.spec("L01")
def test_binary_cross_entropy_case_by_case():
    """−ln(1 − .744) is 1.3626."""
    chances, truth = torch.tensor([0.775, 0.116, 0.884, 0.744, 0.320]), torch.tensor([1, 0, 1, 0, 0])
    logits = (chances / (1 - chances)).log()
    each = [binary_cross_entropy(*case) for case in zip(logits.split(1), truth.split(1), strict=True)]
    assert [round(loss.total.item(), 4) for loss in each] == [0.2549, 0.1233, 0.1233, 1.3626, 0.3857]
    assert round(binary_cross_entropy(logits, truth).mean.item(), 2) == 0.45


@pytest.mark.spec("L05")
@pytest.mark.parametrize("padding", [0, 1, 5])
def test_the_loss_of_a_sequence_is_the_sum_over_its_steps(padding):
    """Six steps of two classes; its double beside it changes no mean, nor does padding."""
    right = torch.tensor([0.9, 0.8, 0.6, 0.3, 0.5, 0.6])
    logits = torch.cat([torch.stack([right, 1 - right], dim=-1).log(), torch.full((padding, 2), torch.nan)])
    valid = torch.arange(6 + padding) < 6
    targets = torch.zeros(6 + padding, dtype=torch.long)
    for copies in (1, 2):
        batch = [part.expand(copies, *part.shape) for part in (logits, targets, valid)]
        loss = sequence_cross_entropy(batch[0], batch[1], valid=batch[2])
        assert loss.items == copies
        assert round(loss.mean.item(), 4) == 3.2473
    assert round(token_cross_entropy(logits[valid], targets[valid]).mean.item(), 4) == round(3.2473 / 6, 4)
