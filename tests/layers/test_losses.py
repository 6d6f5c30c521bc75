"""Losses against plain floats, scikit-learn and torch; a ridge regression reached by training."""

import math

import pytest
import torch
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss
from torch import nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers import (
    Loss,
    binary_cross_entropy,
    kl_divergence,
    l2_penalty,
    sequence_cross_entropy,
    squared_error,
    token_cross_entropy,
)

ITEMS, CLASSES, LABELS = 7, 5, 3
SEQUENCES, STEPS = 3, 11


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_sum_over_real_tokens(smoothing):
    logits, targets = torch.randn(ITEMS, CLASSES), torch.randint(CLASSES, (ITEMS,))
    expected = 0.0
    for row, truth in zip(logits.tolist(), targets.tolist(), strict=True):
        total = math.log(sum(math.exp(value) for value in row))
        smooth = sum(total - value for value in row) / CLASSES
        expected += (1 - smoothing) * (total - row[truth]) + smoothing * smooth
    loss = token_cross_entropy(logits, targets, smoothing=smoothing)
    assert loss.items == ITEMS
    assert loss.total.item() == pytest.approx(expected, rel=1e-13)
    assert loss.mean.item() == pytest.approx(expected / ITEMS, rel=1e-13)
    torch.testing.assert_close(loss.mean, functional.cross_entropy(logits, targets, label_smoothing=smoothing))


@pytest.mark.spec("L01")
def test_binary_cross_entropy_is_scikit_learn_s_and_its_slope_is_p_minus_y():
    logits, truth = torch.randn(ITEMS, requires_grad=True), torch.tensor([1, 0, 0, 1, 1, 0, 1])
    loss = binary_cross_entropy(logits, truth)
    probs = [1 / (1 + math.exp(-logit)) for logit in logits.tolist()]
    assert loss.mean.item() == pytest.approx(log_loss(truth.numpy(), probs), rel=1e-12)
    (slope,) = torch.autograd.grad(loss.total, logits)
    assert slope.tolist() == pytest.approx([p - y for p, y in zip(probs, truth.tolist(), strict=True)], rel=1e-12)


@pytest.mark.parametrize("logit, truth, expected", [(800.0, 1, 0.0), (800.0, 0, 800.0), (-800.0, 1, 800.0)])
def test_a_sure_answer_has_a_finite_cost(logit, truth, expected):
    assert binary_cross_entropy(torch.tensor([logit]), torch.tensor([truth])).total.item() == expected


@pytest.mark.spec("L04")
def test_several_labels_are_as_many_yes_or_no_questions():
    """One loss over all labels is the sum of the losses of each; scikit-learn's log loss of each column."""
    logits, truth = torch.randn(ITEMS, LABELS), torch.randint(2, (ITEMS, LABELS))
    together = binary_cross_entropy(logits, truth)
    each = [log_loss(truth[:, label].numpy(), logits[:, label].sigmoid().numpy(), labels=[0, 1]) for label in range(3)]
    assert together.items == ITEMS * LABELS
    assert together.total.item() == pytest.approx(ITEMS * sum(each), rel=1e-12)


def soft_labels():
    shares = torch.rand(ITEMS, CLASSES)
    shares[0, 1] = 0.0  # 0 ln 0 is 0
    return shares / shares.sum(dim=-1, keepdim=True)


@pytest.mark.spec("L03")
def test_divergence_is_cross_entropy_less_entropy():
    logits, shares = torch.randn(ITEMS, CLASSES, requires_grad=True), soft_labels()
    crossed = entropy = 0.0
    for row, wanted in zip(logits.tolist(), shares.tolist(), strict=True):
        total = math.log(sum(math.exp(value) for value in row))
        crossed += sum(-y * (value - total) for y, value in zip(wanted, row, strict=True))
        entropy += sum(-y * math.log(y) for y in wanted if y)
    loss = kl_divergence(logits, shares)
    assert loss.items == ITEMS
    assert loss.total.item() == pytest.approx(crossed - entropy, rel=1e-12)
    (slope,) = torch.autograd.grad(loss.total, logits)
    torch.testing.assert_close(slope, logits.softmax(-1) - shares)  # of the cross-entropy: p − y


@pytest.mark.spec("L03")
def test_divergence_from_one_hot_labels_is_the_cross_entropy_with_its_gradient_in_any_parameter():
    network, targets = nn.Linear(LABELS, CLASSES), torch.randint(CLASSES, (ITEMS,))
    inputs = torch.randn(ITEMS, LABELS)
    found = []
    for loss in (
        kl_divergence(network(inputs), functional.one_hot(targets, CLASSES)),
        token_cross_entropy(network(inputs), targets),
    ):
        found.append([loss.total, *torch.autograd.grad(loss.total, list(network.parameters()))])
    torch.testing.assert_close(*found)
    assert (
        kl_divergence(network(inputs), network(inputs).softmax(-1)).total.abs() < 1e-13
    )  # nothing diverges from itself


def padded_sequences():
    logits, targets = torch.randn(SEQUENCES, STEPS, CLASSES), torch.randint(CLASSES, (SEQUENCES, STEPS))
    return logits, targets, torch.arange(STEPS) < torch.tensor([[11], [2], [5]])


@pytest.mark.spec("L05")
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_a_sequence_loss_is_summed_over_time_and_averaged_over_sequences(smoothing):
    logits, targets, valid = padded_sequences()
    smooth = (1 - smoothing) * functional.one_hot(targets, CLASSES) + smoothing / CLASSES  # what each class should get
    expected = [
        sum(-(logits[row, at].log_softmax(-1) * smooth[row, at]).sum().item() for at in range(length))
        for row, length in enumerate([11, 2, 5])
    ]
    loss = sequence_cross_entropy(logits, targets, valid=valid, smoothing=smoothing)
    assert loss.items == SEQUENCES
    assert loss.mean.item() == pytest.approx(sum(expected) / SEQUENCES, rel=1e-13)
    tokens = token_cross_entropy(logits[valid], targets[valid], smoothing=smoothing)
    assert tokens.mean.item() == pytest.approx(sum(expected) / 18, rel=1e-13)  # a long sequence weighs more


@pytest.mark.spec("L05")
@pytest.mark.parametrize("filling", [0.0, math.nan, math.inf])
def test_padding_a_sequence_changes_neither_its_loss_nor_its_gradient(filling):
    logits, targets, valid = padded_sequences()
    logits.requires_grad_()
    expected = sequence_cross_entropy(logits, targets, valid=valid)
    more = (SEQUENCES + 1, STEPS + 2)  # two steps before the first one, a row of nothing at the end
    wider = torch.full((*more, CLASSES), filling)
    wider[:-1, 2:] = torch.where(valid.unsqueeze(-1), logits.detach(), filling)
    wider.requires_grad_()
    real, wanted = torch.zeros(more, dtype=torch.bool), torch.full(more, -1)
    real[:-1, 2:] = valid
    wanted[:-1, 2:] = targets.masked_fill(~valid, CLASSES)
    loss = sequence_cross_entropy(wider, wanted, valid=real)
    assert loss.items == expected.items
    assert torch.equal(loss.total, expected.total)
    (slope,), (expected_slope,) = torch.autograd.grad(loss.mean, wider), torch.autograd.grad(expected.mean, logits)
    assert torch.equal(slope[:-1, 2:], expected_slope)
    assert (slope[~real] == 0).all()


@pytest.mark.spec("L06")
def test_squared_error_in_plain_numbers():
    outputs, truth = (
        torch.tensor([[1.0, -2.0], [0.5, 3.0], [0.0, 0.0]]),
        torch.tensor([[2.0, -2.0], [0.0, 1.0], [0, 3]]),
    )
    loss = squared_error(outputs, truth)
    assert (loss.total.item(), loss.items) == (1 + 0 + 0.25 + 4 + 0 + 9, 6)
    assert loss.mean.item() == pytest.approx(14.25 / 6)


@pytest.mark.spec("L06")
@pytest.mark.parametrize("strength", [0.0, 0.03, 2.0])
def test_training_with_the_penalty_in_the_cost_reaches_the_closed_form_of_ridge_regression(strength):
    """min ‖y − Xw − b‖² / n + λ ‖w‖²: w = (X̃ᵀX̃ + nλ I)⁻¹ X̃ᵀỹ with centred X̃, ỹ; scikit-learn's α is nλ."""
    items, features = 31, 5
    inputs = torch.randn(items, features) @ torch.randn(features, features) + 3
    truth = inputs @ torch.randn(features, 1) + torch.randn(items, 1) - 7
    network = nn.Linear(features, 1)
    descent = torch.optim.LBFGS(
        network.parameters(), max_iter=500, tolerance_grad=1e-12, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def cost():
        descent.zero_grad()
        value = squared_error(network(inputs), truth).mean + strength * l2_penalty(network)
        value.backward()
        return value

    descent.step(cost)
    centred, centred_truth = inputs - inputs.mean(0), truth - truth.mean(0)
    gram = centred.T @ centred + items * strength * torch.eye(features)
    weights = torch.linalg.solve(gram, centred.T @ centred_truth)
    bias = truth.mean(0) - inputs.mean(0) @ weights
    torch.testing.assert_close(network.weight.detach(), weights.T, rtol=1e-7, atol=1e-8)
    torch.testing.assert_close(network.bias.detach(), bias, rtol=1e-7, atol=1e-7)
    theirs = Ridge(alpha=items * strength, tol=1e-12).fit(inputs.numpy(), truth.numpy()[:, 0])
    torch.testing.assert_close(network.weight.detach()[0], torch.tensor(theirs.coef_), rtol=1e-6, atol=1e-7)


def test_the_penalty_spares_biases_and_gains():
    network = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Linear(3, 1))
    expected = sum(value**2 for weight in (network[0].weight, network[2].weight) for value in weight.flatten().tolist())
    assert l2_penalty(network).item() == pytest.approx(expected, rel=1e-13)
    assert l2_penalty(nn.LayerNorm(3)).item() == 0.0


def test_a_total_may_be_averaged_over_other_items():
    loss = Loss(torch.tensor(6.0), 3)
    assert (loss.mean.item(), loss.averaged_over(2).mean.item(), loss.averaged_over(0).mean.item()) == (2.0, 3.0, 6.0)


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: token_cross_entropy(torch.zeros(3, 2), torch.zeros(4, dtype=torch.long)), r"targets of shape \(4,\)"),
        (lambda: token_cross_entropy(torch.zeros(1, 2), torch.tensor([1]), smoothing=1.1), "smoothing=1.1"),
        (lambda: binary_cross_entropy(torch.zeros(3), torch.zeros(3, 1)), r"targets of shape \(3, 1\)"),
        (lambda: binary_cross_entropy(torch.zeros(2), torch.tensor([0.0, 1.5])), "numbers from 0 to 1.5"),
        (lambda: binary_cross_entropy(torch.zeros(2), torch.tensor([0.0, math.nan])), "nan"),
        (lambda: kl_divergence(torch.zeros(1, 2), torch.tensor([[0.5, 0.6]])), "to 1.1"),
        (lambda: kl_divergence(torch.zeros(1, 2), torch.tensor([[1.5, -0.5]])), "probability of -0.5"),
        (lambda: kl_divergence(torch.zeros(1, 2), torch.tensor([[1.0, math.nan]])), "nan"),
        (lambda: squared_error(torch.zeros(3, 1), torch.zeros(3)), r"targets of shape \(3,\)"),
        (
            lambda: sequence_cross_entropy(
                torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.long), valid=torch.ones(3, dtype=torch.bool)
            ),
            r"valid of shape \(3,\)",
        ),
    ],
)
def test_what_cannot_be_judged_is_refused(make, found):
    with pytest.raises(InputError, match=found):
        make()


def test_classes_and_labels_may_weigh_more():
    """Σ w_y (−ln p_y) over as many items; of a label −w y ln p − (1 − y) ln(1 − p), by a loop."""
    torch.manual_seed(0)
    logits, targets = torch.randn(7, 3), torch.randint(3, (7,))
    weights = torch.tensor([0.5, 2.0, 3.0])
    loss = token_cross_entropy(logits, targets, weights=weights)
    by_loop = sum(-weights[target] * row.log_softmax(0)[target] for row, target in zip(logits, targets, strict=True))
    torch.testing.assert_close(loss.total, by_loop)
    assert loss.items == 7
    truth = torch.randint(2, (7, 3)).double()
    probs = logits.sigmoid()
    each = -weights * truth * probs.log() - (1 - truth) * (1 - probs).log()
    found = binary_cross_entropy(logits, truth, positive_weight=weights)
    torch.testing.assert_close(found.total, each.sum())
    assert found.items == 21
