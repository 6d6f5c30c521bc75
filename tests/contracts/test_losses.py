"""Laws of every loss: parts add up to the whole, order and precision do not matter, nothing costs nothing."""

import typing

import pytest
import torch

from atento.errors import InputError
from atento.layers import (
    Loss,
    binary_cross_entropy,
    kl_divergence,
    losses,
    sequence_cross_entropy,
    squared_error,
    token_cross_entropy,
)

ITEMS, CLASSES, STEPS = 11, 5, 3
LENGTHS = [3, 1, 2, 3, 1, 1, 2, 3, 2, 1, 3]
PARTS = (slice(0, 2), slice(2, 7), slice(7, 7), slice(7, 11))  # micro-batches of 2, 5, 0 and 4 items


class Case(typing.NamedTuple):
    """A loss, and what it judges; outputs and truth have the items first."""

    loss: typing.Callable[..., Loss]
    outputs: typing.Callable[[], torch.Tensor]
    truth: typing.Callable[[], torch.Tensor]


def over_sequences(outputs, truth):
    """Sequences of three steps; the truth of padding is −1."""
    return sequence_cross_entropy(outputs, truth, valid=truth >= 0)


CASES = {
    "token_cross_entropy": Case(
        token_cross_entropy, lambda: torch.randn(ITEMS, CLASSES), lambda: torch.randint(CLASSES, (ITEMS,))
    ),
    "sequence_cross_entropy": Case(
        over_sequences,
        lambda: torch.randn(ITEMS, STEPS, CLASSES),
        lambda: torch.randint(CLASSES, (ITEMS, STEPS)).masked_fill(
            torch.arange(STEPS) >= torch.tensor(LENGTHS)[:, None], -1
        ),
    ),
    "binary_cross_entropy": Case(
        binary_cross_entropy, lambda: torch.randn(ITEMS, CLASSES), lambda: torch.randint(2, (ITEMS, CLASSES))
    ),
    "kl_divergence": Case(
        kl_divergence, lambda: torch.randn(ITEMS, CLASSES), lambda: torch.rand(ITEMS, CLASSES).softmax(dim=-1)
    ),
    "squared_error": Case(squared_error, lambda: torch.randn(ITEMS, CLASSES), lambda: torch.randn(ITEMS, CLASSES)),
}
every_loss = pytest.mark.parametrize("name", CASES)


def test_no_loss_escapes():
    found = {
        name
        for name, part in vars(losses).items()
        if callable(part) and not isinstance(part, type) and typing.get_type_hints(part).get("return") is Loss
    }
    assert found == {
        *CASES,
        "pinball_loss",
        "sampled_cross_entropy",
    }  # tests/layers has their laws


@pytest.mark.spec("L02", "L05")
@every_loss
def test_micro_batches_add_up_to_one_batch(name):
    """Not the mean of means: totals and items are summed first. The gradients too."""
    case = CASES[name]
    outputs, truth = case.outputs().requires_grad_(), case.truth()
    whole = case.loss(outputs, truth)
    parts = [case.loss(outputs[part], truth[part]) for part in PARTS]
    summed = Loss(sum(part.total for part in parts), sum(part.items for part in parts))
    assert summed.items == whole.items
    torch.testing.assert_close(summed.mean, whole.mean, rtol=1e-13, atol=0)
    slopes = [torch.autograd.grad(loss.mean, outputs)[0] for loss in (summed, whole)]
    torch.testing.assert_close(*slopes, rtol=1e-13, atol=1e-15)
    of_means = sum(part.mean for part in parts) / len(parts)
    assert (of_means - whole.mean).abs() > 1e-3  # what it must not be


@every_loss
def test_the_order_of_items_does_not_matter(name):
    case = CASES[name]
    outputs, truth, order = case.outputs(), case.truth(), torch.randperm(ITEMS)
    moved, stayed = case.loss(outputs[order], truth[order]), case.loss(outputs, truth)
    torch.testing.assert_close(moved.total, stayed.total, rtol=1e-13, atol=0)
    assert moved.items == stayed.items


@every_loss
def test_gradients_are_those_of_the_formula(name):
    case = CASES[name]
    outputs, truth = case.outputs().requires_grad_(), case.truth()
    assert torch.autograd.gradcheck(lambda values: case.loss(values, truth).mean, (outputs,))


@every_loss
def test_nothing_costs_nothing(name):
    case = CASES[name]
    outputs = case.outputs().requires_grad_()
    loss = case.loss(outputs[:0], case.truth()[:0])
    assert (loss.items, loss.mean.item()) == (0, 0.0)
    (slope,) = torch.autograd.grad(loss.mean, outputs)
    assert (slope == 0).all()


@every_loss
def test_sums_have_the_digits_of_float32_at_least(name):
    case = CASES[name]
    for given in (torch.bfloat16, torch.float32, torch.float64):
        outputs, truth = case.outputs().to(given), case.truth()
        total = case.loss(outputs, truth).total
        assert total.dtype == (torch.float64 if given == torch.float64 else torch.float32)
        torch.testing.assert_close(total.double(), case.loss(outputs.double(), truth).total, rtol=1e-5, atol=0)


@every_loss
def test_nothing_is_broadcast(name):
    case = CASES[name]
    with pytest.raises(InputError, match="one entry for each output"):
        case.loss(case.outputs(), case.truth()[:1])
