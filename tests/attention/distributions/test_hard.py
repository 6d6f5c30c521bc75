"""Hard attention: what is drawn, how often, and what its two gradients are on average."""

import itertools
import math

import pytest
import torch

from atento.attention import Attention, Everything, General, Hard, Similarity, Softmax, recorded_draws
from atento.attention import score_function_loss as loss_of
from atento.attention.distributions import hard as module
from atento.attention.scores.similarity import unit
from atento.errors import InputError

KEYS = 5


def everything(scores):
    return torch.ones_like(scores, dtype=torch.bool)


@pytest.mark.spec("A17")
def test_keys_are_drawn_as_often_as_softmax_says():
    scores = torch.randn(3, KEYS)
    visible = torch.tensor([[True] * 5, [True, False, True, True, False], [False, False, True, False, False]])
    draws = 40_000
    weights = Hard()(scores.expand(draws, 3, KEYS), visible)
    assert ((weights == 0) | (weights == 1)).all() and (weights.sum(-1) == 1).all()
    shares = Softmax()(scores, visible)
    error = (shares * (1 - shares) / draws).sqrt()
    assert ((weights.mean(dim=0) - shares).abs() <= 4 * error).all()


@pytest.mark.spec("A17")
def test_afterwards_the_most_probable_key_is_taken():
    scores = torch.tensor([[0.1, 2.0, -1.0], [3.0, 0.0, 1.0]])
    visible = torch.tensor([[True] * 3, [False, True, True]])
    for gradient in module.GRADIENTS:
        assert Hard(gradient).eval()(scores, visible).tolist() == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.spec("A17")
@pytest.mark.parametrize("number", [0.0, 1 - 2**-53, 1.0])
def test_no_number_draws_a_hidden_key(monkeypatch, number):
    """Not even one that rounding lifts to the whole."""
    monkeypatch.setattr(torch, "rand_like", lambda like: torch.full_like(like, number))
    visible = torch.tensor([[False, True, True, False, True, False]])
    weights = Hard()(torch.randn(101, 1, 6), visible)
    assert (weights.sum(-1) == 1).all() and (weights[..., ~visible[0]] == 0).all()
    assert (weights[..., 1 if number == 0 else 4] == 1).all()


@pytest.mark.spec("A17")
@pytest.mark.parametrize("training", [True, False])
def test_straight_through_is_one_hot_forward_and_softmax_backward(training):
    scores = torch.randn(2, 3, KEYS, requires_grad=True)
    visible = torch.rand(2, 3, KEYS) < 0.7
    weights = Hard().train(training)(scores, visible)
    assert ((weights == 0) | (weights == 1)).all()
    upstream = torch.randn(2, 3, KEYS)
    found, wanted = (torch.autograd.grad(side, scores, upstream)[0] for side in (weights, Softmax()(scores, visible)))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-15)


@pytest.mark.spec("A17")
def test_a_draw_tells_its_log_probability():
    scores = torch.randn(2, 3, KEYS, requires_grad=True)
    visible = torch.rand(2, 3, KEYS) < 0.7
    visible[0, 1] = False
    drawn = Hard("score-function").draw(scores, visible)
    assert not drawn.weights.requires_grad
    for row, at in itertools.product(range(2), range(3)):
        if not visible[row, at].any():
            assert drawn.log_probability[row, at] == 0 and (drawn.weights[row, at] == 0).all()
            continue
        chosen = drawn.weights[row, at].argmax().item()
        seen = scores[row, at, visible[row, at]].tolist()
        expected = scores[row, at, chosen].item() - math.log(sum(math.exp(one) for one in seen))
        assert drawn.log_probability[row, at].item() == pytest.approx(expected, abs=1e-14)
    (gradient,) = torch.autograd.grad(drawn.log_probability.sum(), scores)
    torch.testing.assert_close(gradient, drawn.weights - Softmax()(scores, visible).detach())
    assert (gradient[0, 1] == 0).all()


def every_draw(monkeypatch, scores, reward, baseline):
    """For each pair of keys two queries may draw: its probability, and the estimate it gives of the gradient."""
    part, shares = Hard("score-function"), scores.detach().softmax(dim=-1)
    probabilities, gradients = [], []
    for keys in itertools.product(range(scores.size(-1)), repeat=2):
        monkeypatch.setattr(module, "sample_indices", lambda log_probs, keys=keys: torch.tensor(keys).unsqueeze(-1))
        drawn = part.draw(scores, everything(scores))
        loss = loss_of(drawn.log_probability, reward(drawn.weights), baseline)
        gradients.append(-torch.autograd.grad(loss, scores)[0])
        probabilities.append(shares[0, keys[0]] * shares[1, keys[1]])
    return torch.stack(probabilities), torch.stack(gradients)


@pytest.mark.spec("A17")
def test_the_mean_over_all_draws_is_the_exact_gradient(monkeypatch):
    """The reward depends on both draws at once; every one of the 9 outcomes is counted by its probability."""
    scores = torch.randn(2, 3, requires_grad=True)
    table = torch.randn(3, 3) + 3

    def reward(weights):
        return weights[0] @ table @ weights[1]

    shares = scores.softmax(dim=-1)
    expected = shares[0] @ table @ shares[1]  # the two draws are independent
    (exact,) = torch.autograd.grad(expected, scores)
    variances = {}
    for name, baseline in {"none": 0.0, "any": -7.5, "mean": expected.item()}.items():
        probabilities, gradients = every_draw(monkeypatch, scores, reward, baseline)
        assert probabilities.sum().item() == pytest.approx(1)
        mean = (probabilities[:, None, None] * gradients).sum(dim=0)
        torch.testing.assert_close(mean, exact, rtol=0, atol=1e-14)
        variances[name] = (probabilities[:, None, None] * (gradients - mean).square()).sum().item()
    assert variances["mean"] < variances["none"] < variances["any"]


@pytest.mark.spec("A17")
def test_the_mean_of_samples_nears_the_exact_gradient():
    scores, rewards, draws = torch.randn(KEYS), torch.randn(KEYS) + 3, 40_000
    shares = scores.softmax(dim=-1)
    exact = shares * (rewards - shares @ rewards)
    variances = []
    for baseline in (0.0, shares @ rewards):
        rows = scores.expand(draws, 1, KEYS).clone().requires_grad_()
        drawn = Hard("score-function").draw(rows, everything(rows))
        loss = loss_of(drawn.log_probability, drawn.weights @ rewards, baseline)
        estimates = -torch.autograd.grad(loss, rows)[0].squeeze(1)  # one a row
        error = estimates.std(dim=0) / math.sqrt(draws)
        assert ((estimates.mean(dim=0) - exact).abs() < 4 * error).all()
        variances.append(error.square().sum())
    assert variances[1] < variances[0] / 4


@pytest.mark.spec("A17")
def test_a_model_learns_by_the_draws_of_its_passes():
    """Only the reward of the key it happened to look at is ever seen; it learns which key to look at."""
    attention = Attention(General(7, 7), Hard("score-function"), Everything())
    turn = torch.linalg.qr(torch.randn(7, 7)).Q
    optimiser, baseline = torch.optim.Adam(attention.parameters(), lr=0.03, fused=True), 0.0

    def some_questions():
        key = unit(torch.randn(64, KEYS, 7))
        right = torch.randint(KEYS, (64,))
        query = 5 * key[torch.arange(64), right] @ turn  # the right key, turned in a way to be learned
        return query.unsqueeze(1), key, torch.nn.functional.one_hot(right, KEYS).double().unsqueeze(-1)

    for _ in range(400):
        query, key, value = some_questions()
        with recorded_draws() as draws:
            reward = attention(query, key, value).squeeze(-1)  # 1 where the right key was drawn
        assert not reward.requires_grad
        (log_probability,) = draws
        optimiser.zero_grad()
        (loss_of(log_probability, reward, baseline) / 64).backward()
        optimiser.step()
        baseline = 0.9 * baseline + 0.1 * reward.mean()
    query, key, value = some_questions()
    assert attention.eval()(query, key, value).mean() > 0.95


def test_only_draws_while_training_in_the_block_are_recorded():
    scores, part = torch.randn(2, 3, KEYS), Hard("score-function")
    part(scores, everything(scores))
    with recorded_draws() as draws:
        part(scores, everything(scores))
        with recorded_draws() as inner:
            part(scores[:1], everything(scores[:1]))
        part.eval()(scores, everything(scores))
        Hard()(scores, everything(scores))
    part.train()(scores, everything(scores))
    assert [tuple(draw.shape) for draw in draws] == [(2, 3)]
    assert [tuple(draw.shape) for draw in inner] == [(1, 3)]


def test_padding_takes_no_chance_from_the_others():
    """The same seed draws the same keys, however many padded ones stand behind them."""
    query, key = torch.randn(2, 3, 7), torch.randn(2, KEYS, 7)
    attention = Attention(Similarity(sharpness=0.1), Hard(), Everything())
    torch.manual_seed(3)
    expected = attention.weights(query, key)
    padded = torch.cat([key, torch.full((2, 4, 7), math.nan)], dim=1)
    torch.manual_seed(3)
    weights = attention.weights(query, padded, valid=(torch.arange(KEYS + 4) < KEYS).expand(2, -1))
    assert torch.equal(weights[..., :KEYS], expected)


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="did you mean 'straight-through'"):
        Hard("straight")
    with pytest.raises(InputError, match=r"reward - baseline \(4,\), log_probability \(2, 3\)"):
        loss_of(torch.randn(2, 3), torch.randn(4))


@pytest.mark.spec("A17", "K07")
@pytest.mark.parametrize("gradient", module.GRADIENTS)
def test_some_queries_get_the_mean_of_their_draws(gradient):
    """Half of them while training, none afterwards; what they did not draw is not recorded."""
    scores = torch.randn(4001, 1, KEYS, requires_grad=True)
    visible = torch.tensor([True, True, False, True, True])
    part, soft = Hard(gradient, expected=0.5), Softmax()(scores, visible)
    with recorded_draws() as draws:
        weights = part(scores, visible)
    mean = (weights == soft).all(dim=-1)  # (4001, 1)
    assert ((weights == 0) | (weights == 1) | mean.unsqueeze(-1)).all()
    assert abs(mean.double().mean() - 0.5) < 4 * 0.5 / math.sqrt(4001)
    if gradient == "score-function":
        assert torch.equal(draws[0] == 0, mean)
    else:
        assert not draws
    upstream = torch.randn(4001, 1, KEYS)
    found, wanted = (torch.autograd.grad(side, scores, upstream, retain_graph=True)[0] for side in (weights, soft))
    learning = mean if gradient == "score-function" else torch.ones_like(mean)
    torch.testing.assert_close(found, wanted * learning.unsqueeze(-1), rtol=0, atol=1e-15)
    part.eval()
    assert torch.equal(part(scores, visible), Hard(gradient).eval()(scores, visible))
    with pytest.raises(InputError, match="expected is a probability"):
        Hard(expected=1.0)
