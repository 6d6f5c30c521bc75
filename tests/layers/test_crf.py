"""The linear-chain CRF against sums and maxima over all paths, written out, and by finite differences."""

import math
from itertools import pairwise, product

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn import functional

from atento.errors import InputError
from atento.layers import LinearChainCRF, Transitions, valid_from_lengths

BATCH, TIME, LABELS = 3, 5, 4
LENGTHS = (5, 3, 1)


def some_chain(allowed=None, labels=LABELS):
    chain = LinearChainCRF(labels, allowed=allowed)
    for weight in chain.parameters():
        torch.nn.init.normal_(weight)
    return chain


def some_scores():
    return torch.randn(BATCH, TIME, LABELS), valid_from_lengths(torch.tensor(LENGTHS), TIME)


def some_allowed():
    """Label 3 never begins, never follows 1, and 0 never ends."""
    start, between, end = torch.ones(LABELS), torch.ones(LABELS, LABELS), torch.ones(LABELS)
    start[3] = between[1, 3] = end[0] = 0
    return Transitions(start.bool(), between.bool(), end.bool())


def is_allowed(path, allowed):
    if allowed is None:
        return True
    steps = all(allowed.between[one, other] for one, other in pairwise(path))
    return bool(allowed.start[path[0]] and steps and allowed.end[path[-1]])


def every_path(chain, scores, length, allowed=None):
    """Each allowed path of a row and its score, by the formula."""
    found = {}
    for path in product(range(LABELS), repeat=length):
        if is_allowed(path, allowed):
            emitted = sum(scores[time, label] for time, label in enumerate(path))
            steps = sum(chain.between[one, other] for one, other in pairwise(path))
            found[path] = (chain.start[path[0]] + emitted + steps + chain.end[path[-1]]).item()
    return found


every_choice = pytest.mark.parametrize("allowed", [None, some_allowed()], ids=["free", "constrained"])


@pytest.mark.spec("K04")
@every_choice
def test_log_z_is_the_sum_over_all_paths(allowed):
    chain, (scores, valid) = some_chain(allowed), some_scores()
    expected = [
        math.log(sum(map(math.exp, every_path(chain, row, length, allowed).values())))
        for row, length in zip(scores, LENGTHS, strict=True)
    ]
    torch.testing.assert_close(chain.log_partition(scores, valid=valid), torch.tensor(expected), rtol=0, atol=1e-12)


@pytest.mark.spec("K04")
@every_choice
def test_the_best_path_is_the_largest_of_all(allowed):
    chain, (scores, valid) = some_chain(allowed), some_scores()
    best = chain.viterbi(scores, valid=valid)
    for row, length in enumerate(LENGTHS):
        paths = every_path(chain, scores[row], length, allowed)
        wanted = max(paths, key=paths.get)
        assert best.labels[row].tolist() == [*wanted, *[0] * (TIME - length)]
        assert best.score[row].item() == pytest.approx(paths[wanted], abs=1e-12)


@pytest.mark.spec("K04")
@every_choice
def test_the_score_and_the_loss_of_given_labels(allowed):
    chain, (scores, valid) = some_chain(allowed), some_scores()
    paths = [list(every_path(chain, row, length, allowed)) for row, length in zip(scores, LENGTHS, strict=True)]
    chosen = [some[len(some) // 3] for some in paths]
    labels = torch.tensor([[*path, *[-7] * (TIME - len(path))] for path in chosen])
    total = 0.0
    for row, length in enumerate(LENGTHS):
        every = every_path(chain, scores[row], length, allowed)
        assert chain.score(scores, labels, valid=valid)[row].item() == pytest.approx(every[chosen[row]], abs=1e-12)
        total += math.log(sum(map(math.exp, every.values()))) - every[chosen[row]]
    loss = chain.loss(scores, labels, valid=valid)
    assert (loss.total.item(), loss.items) == (pytest.approx(total, abs=1e-11), sum(LENGTHS))


@pytest.mark.spec("K04")
@every_choice
def test_marginals_are_shares_of_all_paths(allowed):
    chain, (scores, valid) = some_chain(allowed), some_scores()
    with torch.no_grad():
        probs = chain.marginals(scores, valid=valid)
    assert not probs.requires_grad
    for row, length in enumerate(LENGTHS):
        paths = every_path(chain, scores[row], length, allowed)
        whole = sum(map(math.exp, paths.values()))
        for time, label in product(range(length), range(LABELS)):
            share = sum(math.exp(score) for path, score in paths.items() if path[time] == label) / whole
            assert probs[row, time, label].item() == pytest.approx(share, abs=1e-12)
    torch.testing.assert_close(probs.sum(-1), valid.double())


def test_gradients():
    chain, (scores, valid) = some_chain(), some_scores()
    labels = torch.randint(LABELS, (BATCH, TIME))
    weights = [weight.detach().requires_grad_() for weight in chain.parameters()]

    def total(scores, *weights):
        named = dict(zip([name for name, _ in chain.named_parameters()], weights, strict=True))
        return torch.func.functional_call(Judged(chain), {f"chain.{name}": one for name, one in named.items()}, scores)

    class Judged(torch.nn.Module):
        def __init__(self, chain):
            super().__init__()
            self.chain = chain

        def forward(self, scores):
            return self.chain.loss(scores, labels, valid=valid).total

    assert gradcheck(total, (scores.requires_grad_(), *weights))


def test_padding_never_matters():
    chain, (scores, valid) = some_chain(), some_scores()
    labels = torch.randint(LABELS, (BATCH, TIME))
    expected = chain.loss(scores, labels, valid=valid).total
    spoilt = scores.masked_fill(~valid.unsqueeze(-1), torch.nan)
    leaf = spoilt.clone().requires_grad_()
    loss = chain.loss(leaf, labels.masked_fill(~valid, 99), valid=valid).total
    assert torch.equal(loss, expected)
    loss.backward()
    assert (leaf.grad[~valid] == 0).all() and leaf.grad.isfinite().all()
    assert torch.equal(chain.viterbi(spoilt, valid=valid).labels, chain.viterbi(scores, valid=valid).labels)
    assert torch.equal(chain.marginals(spoilt, valid=valid), chain.marginals(scores, valid=valid))
    left = [  # three items of padding on the left and, within, two more
        torch.cat([part[:, :2], part[:, :2], part[:, 2:]], dim=1) for part in (scores, labels)
    ]
    gaps = torch.cat([valid[:, :2] & False, valid], dim=1)[:, [0, 2, 1, 3, 4, 5, 6]]
    moved = torch.cat([left[0][:, :2] * 9, scores], dim=1)[:, [0, 2, 1, 3, 4, 5, 6]]
    tags = torch.cat([left[1][:, :2], labels], dim=1)[:, [0, 2, 1, 3, 4, 5, 6]]
    torch.testing.assert_close(chain.loss(moved, tags, valid=gaps).total, expected, rtol=0, atol=1e-12)
    assert torch.equal(chain.viterbi(moved, valid=gaps).labels[gaps], chain.viterbi(scores, valid=valid).labels[valid])


def test_neighbours_in_a_batch_never_matter():
    chain, (scores, valid) = some_chain(), some_scores()
    together = chain.log_partition(scores, valid=valid)
    alone = torch.cat([chain.log_partition(scores[[row]], valid=valid[[row]]) for row in range(BATCH)])
    torch.testing.assert_close(alone, together, rtol=0, atol=1e-12)


def test_a_row_of_nothing_costs_nothing():
    chain, scores = some_chain(), torch.randn(1, TIME, LABELS, requires_grad=True)
    nothing = torch.zeros(1, TIME, dtype=torch.bool)
    loss = chain.loss(scores, torch.zeros(1, TIME, dtype=torch.long), valid=nothing)
    loss.total.backward()
    assert (loss.total.item(), loss.items) == (0.0, 0)
    assert (scores.grad == 0).all()
    assert all((weight.grad == 0).all() for weight in chain.parameters())
    assert chain.viterbi(scores, valid=nothing).score.tolist() == [0.0]


def test_what_is_not_allowed_is_never_said_and_its_gradient_is_finite():
    allowed = Transitions(
        torch.tensor([True, False]), torch.tensor([[True, True], [False, True]]), torch.ones(2).bool()
    )
    chain, valid = some_chain(allowed, labels=2), torch.ones(1, 3, dtype=torch.bool)
    scores = torch.tensor([[[0.0, 50.0], [50.0, 0.0], [50.0, 0.0]]], requires_grad=True)
    best = chain.viterbi(scores, valid=valid)
    assert best.labels.tolist() == [[0, 0, 0]]  # 1 may not begin, though it is far likelier
    loss = chain.loss(scores, torch.tensor([[1, 0, 0]]), valid=valid)  # a sequence that cannot be
    loss.total.backward()
    assert loss.total > 9000 and scores.grad.isfinite().all()


def test_a_chain_of_no_memory_is_a_softmax_each():
    chain, (scores, valid) = LinearChainCRF(LABELS), some_scores()
    labels = torch.randint(LABELS, (BATCH, TIME))
    expected = functional.cross_entropy(scores[valid], labels[valid], reduction="sum")
    torch.testing.assert_close(chain.loss(scores, labels, valid=valid).total, expected)
    torch.testing.assert_close(chain.marginals(scores, valid=valid)[valid], scores[valid].softmax(-1))


def test_a_chain_learns_what_follows_what():
    """Scores say nothing; labels go 0 1 2 0 1 2: after learning, only the first label is open."""
    torch.manual_seed(0)
    chain = LinearChainCRF(3)
    labels = (torch.arange(7) + torch.arange(3).unsqueeze(1)) % 3
    valid, optimiser = torch.ones(3, 7, dtype=torch.bool), torch.optim.Adam(chain.parameters(), lr=0.3, fused=True)
    for _ in range(80):
        optimiser.zero_grad()
        chain.loss(torch.zeros(3, 7, 3), labels, valid=valid).total.backward()
        optimiser.step()
    nudge = torch.zeros(3, 7, 3)
    nudge[range(3), 0, range(3)] = 3.0
    assert torch.equal(chain.viterbi(nudge, valid=valid).labels, labels)


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: LinearChainCRF(0), "labels=0"),
        (lambda: LinearChainCRF(2).log_partition(torch.zeros(1, 3, 5), valid=torch.ones(1, 3).bool()), r"\(1, 3, 5\)"),
        (
            lambda: LinearChainCRF(
                2, allowed=Transitions(torch.ones(3).bool(), torch.ones(2, 2).bool(), torch.ones(2).bool())
            ),
            r"\(3,\)",
        ),
        (
            lambda: LinearChainCRF(
                2, allowed=Transitions(torch.ones(2), torch.ones(2, 2).bool(), torch.ones(2).bool())
            ),
            "float64",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, found):
    with pytest.raises(InputError, match=found):
        make()
