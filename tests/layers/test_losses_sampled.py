"""The sampled softmax against its formula (Bengio & Senécal, 2008), and against the exact one with many samples."""

import math

import pytest
import torch

from atento.layers.losses import log_draws, sampled_cross_entropy, token_cross_entropy


def parts(items, classes, size):
    torch.manual_seed(0)
    features = torch.randn(items, size, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(classes, size, dtype=torch.float64, requires_grad=True)
    return features, torch.randint(1, classes, (items,)), weight, torch.randn(classes, dtype=torch.float64)


def test_as_the_formula_says():
    """−ln of exp(s_y) over exp(s_y) + 1/S Σ exp(s_k) / Q(k) of the drawn tokens but y."""
    features, targets, weight, bias = parts(5, 29, 3)
    torch.manual_seed(7)
    found = sampled_cross_entropy(features, targets, weight, bias, samples=11)
    torch.manual_seed(7)
    drawn = [max(1, min(28, int(math.exp(one * math.log(29))))) for one in torch.rand(11, dtype=torch.float64).tolist()]
    total = 0.0
    for item, target in enumerate(targets.tolist()):
        scores = (features[item] @ weight.T + bias).detach().exp().tolist()
        others = [scores[token] / math.log((token + 1) / token) * math.log(29) for token in drawn if token != target]
        total -= math.log(scores[target] / (scores[target] + sum(others) / 11))
    assert found.items == 5 and found.total.item() == pytest.approx(total, rel=1e-5)


def test_with_many_samples_it_is_the_exact_loss():
    features, targets, weight, bias = parts(13, 17, 3)
    bias[0] = -50.0  # padding is never drawn
    exact = token_cross_entropy(features @ weight.T + bias, targets)
    sampled = sampled_cross_entropy(features, targets, weight, bias, samples=60_000)
    assert sampled.mean.item() == pytest.approx(exact.mean.item(), rel=0.02)
    ours, theirs = (torch.autograd.grad(loss.total, features, retain_graph=True)[0] for loss in (sampled, exact))
    assert torch.nn.functional.cosine_similarity(ours.flatten(), theirs.flatten(), dim=0) > 0.999


def test_the_draws_are_a_distribution():
    tokens = torch.arange(1, 101)
    assert log_draws(tokens, 101, 1).exp().sum().item() == pytest.approx(1.0, abs=1e-5)
    assert log_draws(tokens, 101, 7)[0].item() == pytest.approx(math.log(7 * math.log(2) / math.log(101)), abs=1e-6)
