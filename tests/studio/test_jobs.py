"""Training as a process of its own: the same bits as from the command line, whoever dies, pauses or ends it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import atento
from atento.api.folders import in_use, list_runs
from atento.errors import InputError, RunError
from atento.studio import jobs

STARTER = "import sys, time; from pathlib import Path; from atento.studio import jobs; jobs.start(sys.argv[2:], Path(sys.argv[1])); print(flush=True); time.sleep(600)"  # noqa: E501
STEPS = ("--set", "train.steps=211", "--set", "train.validations=3")


@pytest.fixture
def command(processes, tiny_pairs, tmp_path, monkeypatch):
    """The command of a small training into a folder of runs, in the folder where it is typed."""
    monkeypatch.chdir(tmp_path)
    sizes = (*processes.SIZES, "--set", "train.batch_tokens=400", "--seed", "7")

    def words(name, *more):
        file = ("train", str(tiny_pairs), "--model", "gru+dot", *sizes, *more)
        return [sys.executable, "-m", "atento", *file, "--out", f"runs/{name}", "--quiet"]

    yield words
    for process in jobs.started.values():
        process.kill()
        process.wait()
    jobs.started.clear()


@pytest.fixture(scope="module")
def from_the_command_line(atento_command, tmp_path_factory):
    """The run of a recipe, made by `atento train recipe.toml`: its folder."""
    made = {}

    def make(recipe):
        text = recipe.read_text()
        if text not in made:
            made[text] = tmp_path_factory.mktemp("typed") / "run"
            done = atento_command.run("train", recipe.resolve(), "--out", made[text], cwd=made[text].parent)
            assert done.code == 0, done.err
        return made[text]

    return make


def until_over(processes, folder):
    processes.until(lambda: not in_use(folder), what="the end of the training")


def same_bits(processes, one, other):
    """Weights, vocabulary and recipe byte for byte, and every score."""
    names = ("weights.safetensors", "vocabulary.json", "recipe.toml", "predictions.jsonl")
    scores = [json.loads((folder / "metrics.json").read_text())["scores"] for folder in (one, other)]
    return scores[0] == scores[1] and all(
        processes.digest(one / name) == processes.digest(other / name) for name in names
    )


def test_it_outlives_its_starter_and_ends_with_the_bits_of_the_command(processes, command, from_the_command_line):
    folder = Path("runs/job")
    words = [sys.executable, "-c", STARTER, str(folder), *command("job", *STEPS)]
    starter = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert starter.stdout.readline() == b"\n"  # it has begun
        os.killpg(starter.pid, signal.SIGKILL)
        starter.wait()
        assert in_use(folder) and not (folder / "manifest.json").exists()
    finally:
        starter.kill()
        starter.communicate()

    until_over(processes, folder)

    assert (folder / "manifest.json").exists() and jobs.failure_of(folder) is None
    assert jobs.started_here(folder) and not jobs.started_here(Path("runs/other"))
    assert [entry["folder"] for entry in list_runs()] == ["runs/job"]  # and nothing of .studio
    assert same_bits(processes, folder, from_the_command_line(folder / "recipe.toml"))


def test_killed_paused_and_resumed_it_ends_with_the_same_bits(processes, command, from_the_command_line):
    folder = Path("runs/job")
    jobs.start(command("job", *STEPS, "--set", "train.checkpoint_every=3"), folder)
    with pytest.raises(InputError, match="in use by another run"):
        jobs.start(command("job", *STEPS), folder)
    processes.until((folder / "checkpoint.safetensors").exists, what="a checkpoint")
    jobs.started[folder].kill()
    until_over(processes, folder)
    jobs.started[folder].wait()
    assert jobs.failure_of(folder) == jobs.NO_REASON

    jobs.resume(folder)
    assert jobs.failure_of(folder) is None
    jobs.pause(folder)
    jobs.started[folder].wait()
    assert not in_use(folder) and not (folder / "manifest.json").exists() and not (folder / "request").exists()
    assert jobs.printed_error(folder)["exit_code"] == 130
    assert jobs.failure_of(folder) is None  # it was asked for

    jobs.resume(folder)
    until_over(processes, folder)
    assert same_bits(processes, folder, from_the_command_line(folder / "recipe.toml"))


def test_finished_in_the_middle_it_is_a_whole_model(processes, command):
    folder = Path("runs/job")
    jobs.start(command("job", "--set", "train.steps=1000003", "--set", "train.validations=2"), folder)
    jobs.finish(folder)
    until_over(processes, folder)
    run = atento.load(folder)
    assert run.metrics["ended"] == "stopped on request"
    assert 0 < run.metrics["steps"] == run.metrics["best_step"] < 1000003
    assert len(run.predict(["abcd", "ddab", "cbaa"])) == 3
    assert not (folder / "request").exists() and not (folder / "checkpoint.safetensors").exists()


def test_a_process_that_fails_says_why(processes, command):
    with pytest.raises(InputError, match="there is no model 'gur'") as caught:
        jobs.start([*command("none"), "--model", "gur"], Path("runs/none"))
    assert "gru" in caught.value.fix and not Path("runs/none").exists()

    folder = Path("runs/job")
    try:
        jobs.start(command("job", *STEPS, "--set", "train.lr=1e30", "--set", "train.clip=0"), folder)
    except RunError as error:  # on a quick machine it has ended by now
        assert "training diverged" in error.problem
    until_over(processes, folder)
    jobs.started[folder].wait()
    assert "training diverged" in jobs.failure_of(folder)
    assert "fix:   --set train.lr=" in jobs.failure_of(folder)
