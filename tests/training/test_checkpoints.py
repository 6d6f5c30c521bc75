import dataclasses

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.training import Progress, load_checkpoint, new_learner, save_checkpoint


def learner_at_work(recipe, seed):
    torch.manual_seed(seed)
    learner = new_learner(nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.Linear(5, 2)), recipe)
    for step in range(3):
        take_step(learner)
        learner.progress.step = step + 1
    return learner


def take_step(learner):
    learner.optimizer.zero_grad()
    learner.module(torch.randn(4, 3)).square().sum().backward()
    learner.optimizer.step()


@pytest.mark.parametrize("optimizer", ["adamw", "adam"])
def test_everything_is_put_back(tmp_path, whole_recipe, optimizer):
    recipe = whole_recipe(optimizer=optimizer)
    learner = learner_at_work(recipe, 1)
    learner.keep_best()
    take_step(learner)
    learner.progress = Progress(4, 1, 2, 16, 1.5, best=0.75, best_step=3, stale=2, stop_reason="")
    save_checkpoint(tmp_path, learner, fingerprint="f")
    for _ in range(3):
        take_step(learner)
    other = learner_at_work(recipe, 2)
    load_checkpoint(tmp_path, other, fingerprint="f")

    assert dataclasses.asdict(other.progress) == dataclasses.asdict(learner.progress)
    assert set(other.best_weights) == set(other.module.state_dict())
    for _ in range(3):
        take_step(other)
    for name, tensor in learner.module.state_dict().items():
        assert torch.equal(other.module.state_dict()[name], tensor), name
    for name, tensor in learner.best_weights.items():
        assert torch.equal(other.best_weights[name], tensor), name
    other.restore_best()
    assert all(torch.equal(other.module.state_dict()[name], tensor) for name, tensor in learner.best_weights.items())
    assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint.safetensors"]


def test_other_data_is_refused(tmp_path, whole_recipe):
    save_checkpoint(tmp_path, learner_at_work(whole_recipe(), 1), fingerprint="these texts")
    with pytest.raises(InputError, match="the data has changed"):
        load_checkpoint(tmp_path, learner_at_work(whole_recipe(), 1), fingerprint="those texts")


def test_a_checkpoint_of_another_model_is_refused_by_name(tmp_path, whole_recipe):
    save_checkpoint(tmp_path, learner_at_work(whole_recipe(), 1), fingerprint="f")
    other = new_learner(nn.Linear(7, 2), whole_recipe())
    with pytest.raises(InputError, match=r"checkpoint\.safetensors is damaged"):
        load_checkpoint(tmp_path, other, fingerprint="f")


@pytest.mark.parametrize("prefix", ["model", "best"])
@pytest.mark.parametrize(
    "change", [lambda one: one.fill_(float("nan")), lambda one: one.double()], ids=["NaN", "dtype"]
)
def test_weights_that_are_not_finite_or_of_another_dtype_are_not_resumed(tmp_path, whole_recipe, prefix, change):
    learner = learner_at_work(whole_recipe(), 1)
    learner.keep_best()
    if prefix == "model":
        learner.module.load_state_dict({key: change(one) for key, one in learner.module.state_dict().items()})
        learner.module = learner.module.to(change(torch.zeros(1)).dtype)
    else:
        learner.best_weights = {key: change(one) for key, one in learner.best_weights.items()}
    save_checkpoint(tmp_path, learner, fingerprint="f")
    with pytest.raises(InputError, match=r"checkpoint\.safetensors is damaged"):
        load_checkpoint(tmp_path, learner_at_work(whole_recipe(), 2), fingerprint="f")
