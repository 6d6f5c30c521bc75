"""The EMA of the weights against one written out by hand, and through a checkpoint."""

import copy
import math

import pytest
import torch
from torch import nn

import atento
from atento.training import WeightEMA, load_checkpoint, loop, new_learner, save_checkpoint


def written_out(values, decay):
    """Each step's share of the mean, term by term."""
    shares = []
    for step in range(1, len(values) + 1):
        kept = min(decay, (step - 1) / (step + 9))
        shares = [share * kept for share in shares] + [1 - kept]
    assert math.isclose(sum(shares), 1.0, rel_tol=1e-12)
    return sum(share * value for share, value in zip(shares, values, strict=True))


@pytest.mark.parametrize("decay", [0.0, 0.3, 0.99])
def test_the_mean_is_the_one_written_out(decay):
    torch.manual_seed(0)
    module = nn.Linear(3, 2).double()
    mean, seen = WeightEMA(module, decay), []
    for step in range(1, 41):
        with torch.no_grad():
            module.weight.copy_(torch.randn(2, 3, dtype=torch.float64))
        mean.add(module, step)
        seen.append(module.weight.detach().clone())
    torch.testing.assert_close(mean.weights["weight"], written_out(seen, decay), rtol=0, atol=1e-12)


def test_inside_stands_the_mean_and_after_it_the_weights_bit_for_bit():
    torch.manual_seed(0)
    module = nn.Linear(3, 2)
    mean = WeightEMA(module, 0.9)
    own, first = copy.deepcopy(module.state_dict()), module.weight
    with torch.no_grad():
        mean.weights["weight"].add_(1.0)
    with pytest.raises(KeyError), mean.applied_to(module):
        torch.testing.assert_close(module.weight, own["weight"] + 1)
        raise KeyError
    assert module.weight is first
    assert all(torch.equal(tensor, own[name]) for name, tensor in module.state_dict().items())


def test_no_memory_asked_no_mean_kept(whole_recipe):
    assert new_learner(nn.Linear(3, 2), whole_recipe()).ema is None


def test_what_was_never_validated_ends_as_the_mean(whole_recipe):
    learner = new_learner(nn.Linear(3, 2), whole_recipe(ema=0.9))
    learner.ema.weights["bias"].fill_(7.0)
    learner.restore_best()
    assert learner.module.bias.tolist() == [7.0, 7.0]


def test_a_checkpoint_holds_the_mean(tmp_path, whole_recipe):
    recipe = whole_recipe(ema=0.9)
    torch.manual_seed(1)
    learner = new_learner(nn.Linear(3, 2), recipe)
    learner.ema.weights["bias"].fill_(7.0)
    save_checkpoint(tmp_path, learner, fingerprint="f")
    other = new_learner(nn.Linear(3, 2), recipe)
    load_checkpoint(tmp_path, other, fingerprint="f")
    assert all(torch.equal(other.ema.weights[name], tensor) for name, tensor in learner.ema.weights.items())
    assert not torch.equal(other.ema.weights["bias"], other.module.bias)


class Stop(Exception):
    """The machine went down."""


def test_a_resumed_run_ends_as_an_uninterrupted_one(tmp_path, monkeypatch, tiny_pairs):
    """Killed after its first checkpoint, mid-epoch: the same mean in the end, bit for bit."""
    settings = {
        "model.hidden": 8,
        "train.steps": 24,
        "train.checkpoint_every": 10,
        "train.validations": 1,  # at the end: what is kept is the last mean
        "train.ema": 0.9,
        "train.threads": 1,
        "train.batch_tokens": 256,
    }
    whole = atento.fit(
        tiny_pairs, task="translate", model="rnn", settings=settings, device="cpu", out=tmp_path / "whole"
    )

    def save_and_stop(*given, **named):
        save_checkpoint(*given, **named)
        raise Stop

    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr(loop, "save_checkpoint", save_and_stop)
        atento.fit(tiny_pairs, task="translate", model="rnn", settings=settings, device="cpu", out=tmp_path / "again")
    again = atento.fit(
        tiny_pairs, task="translate", model="rnn", settings=settings, device="cpu", out=tmp_path / "again", resume=True
    )
    plain = atento.fit(
        tiny_pairs,
        task="translate",
        model="rnn",
        settings={**settings, "train.ema": 0},
        device="cpu",
        out=tmp_path / "plain",
    )

    weights = again.module.state_dict()
    assert all(torch.equal(weights[name], tensor) for name, tensor in whole.module.state_dict().items())
    assert any(not torch.equal(weights[name], tensor) for name, tensor in plain.module.state_dict().items())
    assert [point["chrf"] for point in again.metrics["curve"]] == [point["chrf"] for point in whole.metrics["curve"]]
