"""One vector of many states, against a loop over each row's real tokens."""

import pytest
import torch

from atento.layers import masked_mean
from atento.models.summaries import SUMMARIES, end_states, first_state, last_state, masked_max, mean_and_max

BATCH, TIME, SIZE = 5, 7, 6

VALID = torch.tensor(
    [
        [True] * 7,
        [True] * 3 + [False] * 4,
        [False] * 2 + [True] * 4 + [False],
        [True, False, True, False, True, False, False],
        [False] * 7,
    ]
)


def last(real):
    return real[-1]


def first(real):
    return real[0]


def both_ends(real):
    return torch.cat([real[-1][: SIZE // 2], real[0][SIZE // 2 :]])


def mean(real):
    return sum(real) / len(real)


def largest(real):
    return torch.tensor([max(float(state[feature]) for state in real) for feature in range(SIZE)])


@pytest.mark.spec("E01")
@pytest.mark.parametrize(
    "summary, by_hand",
    [
        (last_state, last),
        (first_state, first),
        (end_states, both_ends),
        (masked_mean, mean),
        (masked_max, largest),
        (mean_and_max, lambda real: torch.cat([mean(real), largest(real)])),
    ],
)
def test_a_summary_is_of_the_real_states_alone(summary, by_hand):
    states = torch.randn(BATCH, TIME, SIZE) - 3  # below zero, where a padded zero would be the largest
    spoiled = states.masked_fill(~VALID.unsqueeze(-1), torch.nan)
    found = summary(spoiled, VALID)
    for row in range(BATCH - 1):
        real = [states[row, at] for at in range(TIME) if VALID[row, at]]
        torch.testing.assert_close(found[row], by_hand(real))
    assert (found[-1] == 0).all()


@pytest.mark.parametrize("summary", [*SUMMARIES.values(), end_states])
def test_no_gradient_reaches_padding(summary):
    states = torch.randn(BATCH, TIME, SIZE, requires_grad=True)
    summary(states, VALID).square().sum().backward()
    assert states.grad.isfinite().all()
    assert (states.grad[~VALID] == 0).all()
    assert (states.grad[0].abs().sum() > 0).all()
    assert torch.autograd.gradcheck(lambda values: summary(values, VALID), states.detach().requires_grad_())
