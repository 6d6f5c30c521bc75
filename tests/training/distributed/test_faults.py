import os
import shutil
import signal
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import atento
from atento.errors import InputError

SETTINGS = {"train.steps": 120, "train.validations": 2, "model.hidden": 16, "train.checkpoint_every": 5,
            "data.length": 5, "train.batch_tokens": 2000, "train.baselines": False, "model.dropout": 0.1}  # fmt: skip
OPTIONS = [
    "copy",
    "--model",
    "gru",
    *(word for pair in SETTINGS.items() for word in ("--set", "=".join(map(str, pair)))),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing disturbs, by two processes that `atento.fit` starts."""
    seen = []
    out = tmp_path_factory.mktemp("faults") / "whole"
    run = atento.fit("copy", model="gru", settings=SETTINGS, devices=2, strategy="fsdp", out=out, on_event=seen.append)
    assert [event["step"] for event in seen if event["event"] == "validation"] == [60, 120]
    assert seen[-1]["event"] == "finished" and run.metrics["steps"] == 120
    return run


def wait_for(found, *, what, seconds=300):
    """Until something is there; what it is."""
    until = time.monotonic() + seconds
    while not (it := found()):
        assert time.monotonic() < until, f"there was never {what}"
        time.sleep(0.005)
    return it


def process_of_rank(parent, rank):
    """The process that another one started as this rank, once there is one."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
            started = f"\0RANK={rank}\0" in f"\0{(entry / 'environ').read_text()}"
            if int(words[1]) == parent and started:
                return int(entry.name)
        except (OSError, ValueError, IndexError):
            continue
    return None


def same_weights(one, other):
    found = load_file(other / "weights.safetensors")
    return all(torch.equal(tensor, found[name]) for name, tensor in load_file(one / "weights.safetensors").items())


def test_a_killed_rank_is_named_and_torchrun_resumes_bit_for_bit(whole, processes, tmp_path):
    words = [
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        2,
        "--max-restarts",
        1,
        "-m",
        "atento",
        "train",
        *OPTIONS,
    ]
    started = processes(*words, "--strategy", "fsdp", "--out", "cut", cwd=tmp_path)
    number = wait_for(lambda: process_of_rank(started.pid, 1), what="a rank 1")
    wait_for((tmp_path / "cut" / "checkpoint.safetensors").exists, what="a checkpoint")
    os.kill(number, signal.SIGKILL)
    out, errors = started.communicate(timeout=300)
    assert "rank 1 of 2 has ended; this is rank 0" in errors
    again = (
        "torchrun --standalone --nproc-per-node 2 -m atento train cut/recipe.toml --out cut --resume --strategy fsdp"
    )
    assert f"go on with: {again}" in errors
    assert started.returncode == 0, errors[-2000:]
    assert out.count("saved in cut") == 1  # one process speaks
    assert same_weights(whole.folder, tmp_path / "cut")


def test_ctrl_c_saves_shards_that_one_process_resumes_from(whole, processes, tmp_path):
    words = ["train", *OPTIONS, "--devices", 2, "--strategy", "fsdp", "--out", "stopped"]
    started = processes("atento", *words, cwd=tmp_path)
    wait_for((tmp_path / "stopped" / "checkpoint.safetensors").exists, what="a checkpoint")
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=300)
    assert started.returncode == 130
    again = "atento train stopped/recipe.toml --out stopped --resume --devices 2 --strategy fsdp"
    assert "everything is saved" in errors and again in errors
    shutil.copytree(tmp_path / "stopped", tmp_path / "damaged")
    recipe = tmp_path / "stopped" / "recipe.toml"
    run = atento.fit(recipe, out=tmp_path / "stopped", resume=True)
    assert run.metrics["steps"] == 120  # with dropout of its own from there on
    assert not list(run.folder.glob("shards-*"))

    (shard, *_) = sorted((tmp_path / "damaged").glob("shards-*/*"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"\1")
    with pytest.raises(InputError, match=shard.name):
        atento.fit(recipe, out=tmp_path / "damaged", resume=True)
