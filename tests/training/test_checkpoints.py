import dataclasses
import json
import random
from itertools import pairwise

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import nn

from atento.errors import InputError
from atento.training import EventLog, Progress, load_checkpoint, new_learner, save_checkpoint
from atento.training.checkpoints import CheckpointClock, with_checksum
from atento.training.validation import is_tie_of_lower_loss

FILES = {
    "recipe.toml": "[train]\nlr = 0.1\n",
    "vocabulary.json": '{"tokens": ["a", "b"]}',
    "events.jsonl": '{"step": 1}\n',
}


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


@pytest.fixture
def saved(tmp_path, whole_recipe):
    """A folder with a checkpoint and the other files that a run resumes from."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    learner = learner_at_work(whole_recipe(), 1)
    learner.keep_best()
    learner.progress.best, learner.progress.best_step = 0.5, 3
    save_checkpoint(tmp_path, learner, fingerprint="f")
    return tmp_path


def test_a_checkpoint_of_an_older_version_knows_no_loss_of_its_best(saved, whole_recipe):
    """Its best step is that of its last gain, and no tie is decided against weights of unknown loss."""
    path = saved / "checkpoint.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors, facts = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    progress = json.loads(facts["progress"])
    del progress["best_loss"], progress["gain_step"]
    path.write_bytes(with_checksum(save(tensors, metadata=facts | {"progress": json.dumps(progress)})))
    learner = learner_at_work(whole_recipe(), 2)
    load_checkpoint(saved, learner, fingerprint="f")
    assert (learner.progress.best_step, learner.progress.gain_step) == (3, 3)
    assert learner.progress.best_loss is None and not is_tie_of_lower_loss(learner.progress, 0.5, 0.1)


def refusal(folder, recipe):
    """What is said of a folder that cannot be resumed; nothing but an InputError may be raised."""
    threads, random_state = torch.get_num_threads(), torch.get_rng_state()
    learner = learner_at_work(recipe, 2)
    torch.set_rng_state(random_state)
    with pytest.raises(InputError, match="is damaged") as caught:
        load_checkpoint(folder, learner, fingerprint="f")
    assert (torch.get_num_threads(), caught.value.exit_code) == (threads, 2)
    assert torch.equal(torch.get_rng_state(), random_state)
    assert caught.value.found and "another --out" in caught.value.fix
    return caught.value


def test_a_flipped_bit_anywhere_is_damage(saved, whole_recipe):
    path, chance = saved / "checkpoint.safetensors", random.Random(0)
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    places = [*range(8), *chance.sample(range(8, header), 26), *chance.sample(range(header, len(whole)), 26)]
    for place in places:
        content = bytearray(whole)
        content[place] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        assert "checkpoint.safetensors is damaged" in refusal(saved, whole_recipe()).problem, place
    path.write_bytes(whole)
    load_checkpoint(saved, learner_at_work(whole_recipe(), 2), fingerprint="f")


@pytest.mark.parametrize("sealed", [False, True], ids=["as it was", "checksum made anew"])
@pytest.mark.parametrize(
    "key, value",
    [
        ("step", -5), ("step", 2.0), ("step", True), ("step", 10**30), ("epoch", 10**18), ("epoch", 1e18),
        ("position", 4), ("best_step", 4), ("best", float("nan")), ("best", float("inf")), ("best", "good"),
        ("elapsed", -1.0), ("elapsed", float("inf")), ("loss_sum", float("nan")), ("stale", None), ("moved", 1),
        ("gain_step", 4), ("best_loss", "low"), ("stop_reason", 7), ("unheard_of", 1),
        ("threads", 100000), ("threads", 0), ("threads", "many"),
        ("progress", "[]"), ("progress", "{"), ("files", "[]"), ("files", '{"recipe.toml": 3}'),
        ("files", '{"../secret": [0, ""]}'), ("random.cpu", torch.zeros(3)), ("optimizer.x.step", torch.zeros(3)),
    ],
)  # fmt: skip
def test_values_that_no_run_can_have_are_refused_even_with_a_checksum(saved, whole_recipe, key, value, sealed):
    path = saved / "checkpoint.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors, facts = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    if isinstance(value, torch.Tensor):
        tensors[key] = value
    elif key in facts:
        facts[key] = str(value)
    else:
        facts["progress"] = json.dumps(json.loads(facts["progress"]) | {key: value})
    content = save(tensors, metadata=facts)
    path.write_bytes(with_checksum(content) if sealed else content)
    refusal(saved, whole_recipe())


@pytest.mark.parametrize(
    "name, change",
    [
        ("recipe.toml", lambda path: path.write_text(path.read_text().replace("0.1", "0.2"))),
        ("vocabulary.json", lambda path: path.write_text(path.read_text().replace("a", "c"))),
        ("vocabulary.json", lambda path: path.unlink()),
        ("recipe.toml", lambda path: path.write_text(path.read_text() + "# more")),
        ("events.jsonl", lambda path: path.write_text("")),
        ("events.jsonl", lambda path: path.write_text(path.read_text().replace("1", "2"))),
    ],
)
def test_every_other_file_that_a_run_resumes_from_is_vouched_for(saved, whole_recipe, name, change):
    EventLog(saved).add("step", step=9)  # after the checkpoint: it happens again
    load_checkpoint(saved, learner_at_work(whole_recipe(), 2), fingerprint="f")
    change(saved / name)
    assert f"{name} is damaged" in refusal(saved, whole_recipe()).problem


@pytest.mark.parametrize("step, cost", [(0.01, 0.002), (0.3, 0.1), (7.0, 0.1), (0.1, 4.0)])
def test_by_the_clock_a_kill_costs_little_work_and_saving_little_time(step, cost):
    time, saves = 0.0, [0.0]
    clock = CheckpointClock(lambda: time)
    while time < 400.0:
        time += step
        if clock.due():
            with clock.saving():
                time += cost
            saves.append(time)
    lost = [later - sooner for sooner, later in pairwise(saves)]
    slow = 20 * cost  # where saving takes a twentieth of the time
    assert lost[0] <= 1.0 + step + cost, "the first one comes early"
    for gap, sooner in zip(lost, saves, strict=False):
        assert gap <= min(max(1.0, sooner, slow), max(20.0, slow)) + step + cost
    assert max(lost) <= 30.0 or cost > 1
    assert cost * len(lost) <= 0.05 * time + cost, "the first one"
