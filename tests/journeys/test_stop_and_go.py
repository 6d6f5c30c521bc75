"""Asked to stop, a run saves and says how to go on; what does not belong to it is refused."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_says_how_to_go_on_and_does(atento_command, processes, tmp_path, words, whole, number, code):
    run = tmp_path / "a run"  # a name with a space is a name
    never = ("--set", "train.checkpoint_every=1000")  # so that the only checkpoint is the one of the signal
    child = atento_command.start(*words("rnn", processes.EARLY_BEST), *never, "--out", "a run", cwd=tmp_path)
    events = run / "events.jsonl"
    begun = lambda: events.exists() and "validation" in events.read_text()  # noqa: E731
    processes.until(begun, what="a validation", child=child)
    child.send(number)
    stopped = child.wait()
    assert stopped.code == code
    assert "Traceback" not in stopped.err
    assert not (run / "manifest.json").exists()
    with safe_open(run / "checkpoint.safetensors", framework="pt") as checkpoint:
        step = json.loads(checkpoint.metadata()["progress"])["step"]
    assert f"stopped at step {step}; everything is saved" in stopped.err

    program, *arguments = shlex.split(stopped.err.split("go on with: ")[1])
    done = atento_command.run(*arguments, cwd=tmp_path)

    assert program == "atento"
    assert done.code == 0, done.err
    weights = run / "weights.safetensors"
    assert processes.digest(weights) == processes.digest(whole("rnn", processes.EARLY_BEST) / weights.name)


def test_ctrl_c_from_the_very_command_line(atento_command, processes, tmp_path, words, whole):
    """The same, through `python -m atento` and a signal to the whole group, as a terminal sends it."""
    command = [sys.executable, "-m", "atento", *words("gru+dot", processes.TO_THE_END), "--out", "run"]
    child = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        processes.until(lambda: (tmp_path / "run" / "checkpoint.safetensors").exists(), what="a checkpoint")
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=processes.PATIENCE)
    finally:
        child.kill()
    assert (child.returncode, out) == (130, "")
    assert "everything is saved" in err

    done = atento_command.run(*shlex.split(err.split("go on with: ")[1])[1:], cwd=tmp_path)

    assert done.code == 0, done.err
    weights = tmp_path / "run" / "weights.safetensors"
    assert processes.digest(weights) == processes.digest(whole("gru+dot", processes.TO_THE_END) / weights.name)


def test_a_run_that_started_from_another_goes_on_by_itself(atento_command, processes, tmp_path, words, whole):
    """Its vocabulary came from the other run: the data at hand would make a smaller one."""
    shutil.copytree(whole("rnn", processes.TO_THE_END), tmp_path / "first")
    (tmp_path / "few.tsv").write_text("".join(f"a{'ab'[n % 2]}{'b' * n}\t{'a b ' * (n + 1)}\n" for n in range(40)))
    second = ("train", "few.tsv", "--from", "first", *processes.SIZES, *processes.PACE, *processes.TO_THE_END)
    done = atento_command.run(*second, "--out", "whole", cwd=tmp_path)
    assert done.code == 0, done.err

    died = atento_command.run(*second, "--out", "run", cwd=tmp_path, fault=("die_at_flush", 12))
    assert died.code == -signal.SIGKILL
    shutil.rmtree(tmp_path / "first")
    done = atento_command.run("train", "run/recipe.toml", "--out", "run", "--resume", cwd=tmp_path)

    assert done.code == 0, done.err
    name = "weights.safetensors"
    assert processes.digest(tmp_path / "run" / name) == processes.digest(tmp_path / "whole" / name)


def test_two_runs_in_one_folder(atento_command, processes, tmp_path, words):
    first = atento_command.start(*words("rnn", processes.ENDLESS), "--out", "run", cwd=tmp_path)
    processes.until((tmp_path / "run" / "checkpoint.safetensors").exists, what="a checkpoint", child=first)
    os.kill(first.pid, signal.SIGSTOP)  # so that whatever is written now, the second one wrote
    before = processes.snapshot(tmp_path)
    try:
        for more in ((), ("--resume",)):
            second = atento_command.run(*words("rnn", processes.ENDLESS), "--out", "run", *more, cwd=tmp_path)
            assert second.code == 2
            assert "run is in use by another run" in second.err
            assert "fix:" in second.err
            assert processes.snapshot(tmp_path) == before
        listed = atento_command.run("runs", ".", "--json", cwd=tmp_path).document["runs"]
        assert [entry["state"] for entry in listed] == ["running"]
    finally:
        first.send(signal.SIGCONT)
        first.send(signal.SIGTERM)
    assert first.wait().code == 143


def refused(atento_command, processes, folder, *arguments):
    """A command that must leave everything as it is; what it said."""
    before = processes.snapshot(folder)
    done = atento_command.run(*arguments, cwd=folder)
    assert (done.code, done.out) == (2, ""), done
    assert "Traceback" not in done.err
    assert processes.snapshot(folder) == before
    return done.err


def test_another_recipe_is_refused_by_its_key(atento_command, processes, tmp_path, words, half):
    command = (*words("rnn", processes.TO_THE_END), "--out", "run", "--resume")
    said = refused(atento_command, processes, tmp_path, *command, "--set", "train.lr=0.5")
    assert "train.lr is 0.5 now, was 0.00" in said
    said = refused(atento_command, processes, tmp_path, *command, "--model", "gru")
    assert "model.name is 'gru' now, was 'rnn'" in said
    assert "atento train run/recipe.toml --out run --resume" in said


def test_other_data_is_refused(atento_command, processes, tmp_path, tiny_pairs):
    path = tmp_path / "pairs.tsv"
    shutil.copy(tiny_pairs, path)
    command = ("train", "pairs.tsv", "--model", "rnn", *processes.SIZES, *processes.PACE, *processes.TO_THE_END)
    atento_command.run(*command, "--out", "run", cwd=tmp_path, fault=("die_at_flush", 10))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))

    said = refused(atento_command, processes, tmp_path, *command, "--out", "run", "--resume")

    assert "run: the data has changed since this run began" in said
    assert "fix:" in said


def test_a_run_is_not_written_over(atento_command, processes, tmp_path, words, half):
    said = refused(atento_command, processes, tmp_path, *words("rnn", processes.TO_THE_END), "--out", "run")
    assert "run already holds a run that can be resumed" in said
    assert "--resume" in said


@pytest.mark.parametrize("more", [(), ("--resume",)])
def test_a_folder_of_other_things_is_not_touched(atento_command, processes, tmp_path, words, more):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tmp").write_text("years of work")
    said = refused(atento_command, processes, tmp_path, *words("rnn", processes.TO_THE_END), "--out", "mine", *more)
    assert "mine is not empty" in said


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(b""),
        lambda path: save_file({"model.weight": torch.zeros(2)}, path),
        lambda path: save_file({"model.weight": torch.zeros(2)}, path, metadata={"progress": "{}"}),
        lambda path: torch.save({"model": torch.zeros(2)}, path),
    ],
    ids=["cut short", "empty", "no metadata", "other content", "a pickle"],
)
def test_a_damaged_checkpoint_is_refused_by_name(atento_command, processes, tmp_path, words, half, damage):
    damage(half / "checkpoint.safetensors")
    said = refused(atento_command, processes, tmp_path, *words("rnn", processes.TO_THE_END), "--out", "run", "--resume")
    assert "run/checkpoint.safetensors is damaged" in said
    assert "fix:" in said


@pytest.mark.parametrize(
    "name, change",
    [
        ("vocabulary.json", lambda text: text.replace("a", "q", 1)),
        ("vocabulary.json", lambda text: "[]"),
        ("recipe.toml", lambda text: text.replace("seed = 0", "seed = 1")),
        ("events.jsonl", lambda text: text.replace("0", "1", 1)),
    ],
)
def test_a_run_goes_on_from_its_own_files_alone(atento_command, processes, tmp_path, half, name, change):
    """An edited recipe would otherwise be compared with itself."""
    path = half / name
    assert change(path.read_text()) != path.read_text()
    path.write_text(change(path.read_text()))
    said = refused(atento_command, processes, tmp_path, "train", "run/recipe.toml", "--out", "run", "--resume")
    assert f"run/{name} is damaged" in said
    assert "fix:   restore the file from a copy, or train again with another --out" in said


def test_without_a_checkpoint_the_vocabulary_is_compared_with_the_data(atento_command, processes, tmp_path, words):
    command = (*words("rnn", processes.TO_THE_END), "--out", "run")
    atento_command.run(*command, cwd=tmp_path, fault=("die_at_flush", 6))  # as its events begin
    path = tmp_path / "run" / "vocabulary.json"
    path.write_text(path.read_text().replace("a", "q", 1))
    (tmp_path / "run" / "events.jsonl.tmp").unlink(missing_ok=True)
    said = refused(atento_command, processes, tmp_path, *command, "--resume")
    assert "run/vocabulary.json is damaged" in said


def test_the_state_of_a_run_is_listed(atento_command, tmp_path, half):
    (entry,) = atento_command.run("runs", ".", "--json", cwd=tmp_path).document["runs"]
    assert (entry["folder"], entry["kind"], entry["state"]) == ("run", "run", "can be resumed")
    assert json.dumps(entry)
