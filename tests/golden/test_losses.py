"""Losses worked on paper."""

import pytest
import torch

from atento.layers.losses import token_cross_entropy
from atento.metrics.translation import EXACT


@pytest.mark.spec("L02")
@pytest.mark.parametrize(
    "probabilities, summed, averaged",
    [
        ([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]], 4.135, 1.378),
        ([[0.3, 0.4, 0.3], [0.1, 0.7, 0.2], [0.1, 0.2, 0.7]], 1.917, 0.639),
    ],
)
def test_cross_entropy_is_not_accuracy(probabilities, summed, averaged):
    """Softmax of log-probabilities gives them back; the two models are right equally often."""
    probabilities = torch.tensor(probabilities)
    loss = token_cross_entropy(probabilities.log() + 7, torch.tensor([0, 1, 2]))
    assert round(loss.total.item(), 3) == summed
    assert round(loss.mean.item(), 3) == averaged
    answers = [str(answer) for answer in probabilities.argmax(-1).tolist()]
    assert EXACT.value(answers, [["0"], ["1"], ["2"]]) == pytest.approx(2 / 3)


def test_the_loss_of_a_sequence_is_the_sum_over_its_steps():
    right = torch.tensor([0.9, 0.8, 0.6, 0.3, 0.5, 0.6])
    logits = torch.stack([right, 1 - right], dim=-1).log()
    padded = torch.cat([logits, torch.full((5, 2), torch.nan)])
    real = torch.arange(11) < 6
    for rows in (logits, padded[real]):
        loss = token_cross_entropy(rows, torch.zeros(6, dtype=torch.long))
        assert round(loss.total.item(), 4) == 3.2473
        assert loss.items == 6
