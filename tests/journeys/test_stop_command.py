"""`atento stop`: a training that runs elsewhere is paused or finished through its folder alone."""

import shlex
import signal

import pytest

from atento.api.comparison.workers import NOT_BEGUN, Job, LocalWorkers, run_all
from atento.api.stop import ask
from atento.bundle import read_json
from atento.errors import InputError


def test_a_run_is_paused_and_resumed_to_the_same_weights(atento_command, processes, tmp_path, words, whole):
    run = tmp_path / "a run"
    never = ("--set", "train.checkpoint_every=1000")  # so that the only checkpoint is the one of the request
    child = atento_command.start(*words("rnn", processes.EARLY_BEST), *never, "--out", "a run", cwd=tmp_path)
    processes.until((run / "events.jsonl").exists, what="its events", child=child)
    child.send(signal.SIGSTOP)  # its 33 steps may be over before the other command has begun
    asking = atento_command.start("stop", "a run", "--pause", "--json", cwd=tmp_path)
    processes.until((run / "request").exists, what="the request", child=asking)
    child.send(signal.SIGCONT)
    stopped = asking.wait()
    assert stopped.code == 0, stopped.err
    assert child.wait().code == 130
    assert stopped.document["state"] == "can be resumed"
    assert 0 < stopped.document["step"] < 33
    assert not (run / "manifest.json").exists() and not (run / "request").exists()

    again = atento_command.run("stop", "a run", "--pause", cwd=tmp_path)
    assert (again.code, again.out) == (2, "")
    assert "a run is not running" in again.err and "can be resumed" in again.err
    assert stopped.document["go_on_with"] in again.err

    (run / "request").write_text("finish")  # of a process before the one that resumes: not obeyed
    program, *arguments = shlex.split(stopped.document["go_on_with"])
    done = atento_command.run(*arguments, cwd=tmp_path)
    assert program == "atento" and done.code == 0, done.err
    weights = run / "weights.safetensors"
    assert processes.digest(weights) == processes.digest(whole("rnn", processes.EARLY_BEST) / weights.name)
    assert not (run / "request").exists()


def test_a_run_is_finished_with_what_it_has(atento_command, processes, tmp_path, words):
    run = tmp_path / "run"
    child = atento_command.start(*words("rnn", processes.ENDLESS), "--out", "run", cwd=tmp_path)
    processes.until((run / "checkpoint.safetensors").exists, what="a checkpoint", child=child)
    stopped = atento_command.run("stop", "run", cwd=tmp_path)
    assert (stopped.code, child.wait().code) == (0, 0), stopped.err
    metrics = read_json(run, "metrics.json")
    assert metrics["ended"] == "stopped on request" and 3 <= metrics["best_step"] == metrics["steps"] < 1000000
    assert f"ended after step {metrics['steps']}: stopped on request" in stopped.out
    assert "exact 0." in stopped.out and "saved in run" in stopped.out and "next: atento try run" in stopped.out
    (tmp_path / "new.txt").write_text("abcd\nddda\ncbba\n")
    answered = atento_command.run("predict", "run", "new.txt", "--json", cwd=tmp_path)
    assert answered.code == 0, answered.err

    for folder, said in (("run", "finished"), ("nowhere", "no such folder"), (".", "no run in it")):
        refused = atento_command.here("stop", folder, cwd=tmp_path)
        assert (refused.code, refused.out) == (2, "")
        assert f"found: {said}" in refused.err and "fix:" in refused.err


@pytest.fixture
def comparison(atento_command, processes, tiny_pairs, tmp_path):
    """A comparison of two models that would go on for ever, each with a checkpoint; the process and its folder."""
    bounds = (*processes.SIZES, *processes.PACE, *processes.ENDLESS, "--models", "rnn,gru")
    child = atento_command.start("compare", tiny_pairs, *bounds, "--out", tmp_path / "board", cwd=tmp_path)
    begun = lambda: list(tmp_path.glob("board/*/checkpoint.safetensors"))  # noqa: E731
    processes.until(begun, what="a checkpoint", child=child)
    return child, tmp_path / "board"


def test_a_comparison_is_paused_resumed_and_finished(atento_command, processes, tmp_path, comparison):
    child, folder = comparison
    with pytest.raises(InputError, match="which are paused together"):
        ask(next(folder.glob("*/checkpoint.safetensors")).parent, "pause")
    paused = atento_command.run("stop", folder, "--pause", "--json", cwd=tmp_path)
    assert (paused.code, child.wait().code) == (0, 130), paused.err
    assert paused.document["state"] == "can be resumed"
    assert processes.processes_about(tmp_path) == []

    child = atento_command.start(*shlex.split(paused.document["go_on_with"])[1:], cwd=tmp_path)
    trains = lambda: processes.processes_about(folder / "rnn")  # noqa: E731
    processes.until(trains, what="a process that trains", child=child)
    finished = atento_command.run("stop", folder, "--json", cwd=tmp_path)
    assert (finished.code, child.wait().code) == (0, 0), finished.err
    rows = {row["model"]: row for row in finished.document["rows"] if not row["baseline"]}
    assert finished.document["state"] == "finished" and list(rows) == ["rnn", "gru"]
    assert read_json(folder / "rnn", "metrics.json")["ended"] == "stopped on request"
    assert rows["rnn"]["failed"] == "" and rows["gru"]["failed"] in ("", NOT_BEGUN)  # one core trains one at a time
    assert (folder / "report.html").exists() and not list(folder.rglob("request"))


def test_what_has_not_begun_is_not_begun(atento_command, processes, tmp_path, words):
    """One process at a time, and a request that comes with the first."""
    made = atento_command.run(*words("rnn", processes.TO_THE_END), "--out", "made", cwd=tmp_path)
    assert made.code == 0, made.err
    recipe = (tmp_path / "made" / "recipe.toml").read_text()
    jobs = [Job(name, tmp_path / f"{name}.toml", tmp_path / "board" / name) for name in ("first", "second")]
    for job in jobs:
        job.recipe.write_text(recipe.replace("steps = 33", "steps = 1000003"))
    jobs.append(Job("third", tmp_path / "third.toml", tmp_path / "made"))
    (tmp_path / "third.toml").write_text(recipe)
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "request").write_text("finish")
    seen = []
    run_all(jobs, tmp_path / "board", LocalWorkers("cpu"), slots=1, watcher=seen.append)
    assert [job.failed for job in jobs] == ["", NOT_BEGUN, ""]  # the third was made before
    assert read_json(tmp_path / "board" / "first", "metrics.json")["ended"] == "stopped on request"
    assert not (tmp_path / "board" / "second").exists()
    assert [event["model"] for event in seen if event["event"] == "failed"] == ["second"]
