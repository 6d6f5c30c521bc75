"""Kill a run at any moment: it goes on bit for bit."""

import json
import random
import shutil
import signal
import time

import pytest

MODELS = ("rnn", "lstm+additive", "gru+dot", "transformer")


def measured(run):
    return json.loads((run / "metrics.json").read_text())


def history(run):
    """Events without what depends on the clock: validations with their values, and how it began and ended."""
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    keep = ("event", "step", "metrics", "best_step", "why")
    return [{key: event.get(key) for key in keep} for event in events if event["event"] != "step"]


def same_model(processes, run, whole):
    return processes.digest(run / "weights.safetensors") == processes.digest(whole / "weights.safetensors")


def same_run(processes, run, whole):
    """Not the weights alone: what it answers, what was measured, and what happened when."""
    same = same_model(processes, run, whole) and history(run) == history(whole)
    same &= (run / "predictions.jsonl").read_bytes() == (whole / "predictions.jsonl").read_bytes()
    return same and all(
        measured(run)[key] == measured(whole)[key] for key in ("scores", "steps", "best_step", "epochs")
    )


def leftovers(folder):
    return [path.name for path in folder.rglob("*") if path.suffix == ".tmp"]


def kill_after_checkpoints(processes, child, run, number, delay):
    """`kill -9` a random moment after so many new checkpoints; whether it still ran."""
    path, seen = run / "checkpoint.safetensors", set()

    def enough():
        if path.exists():
            try:
                seen.add(path.stat().st_mtime_ns)
            except FileNotFoundError:
                return True  # the run has just ended
        return len(seen) > number or not child.running

    processes.until(enough, what="checkpoints")
    time.sleep(delay)
    child.send(signal.SIGKILL)
    return child.wait().code == -signal.SIGKILL


RUNS = [
    *((model, "TO_THE_END") for model in MODELS if model != "gru+dot"),
    ("gru+dot", "BY_THE_CLOCK"),
    ("rnn", "EARLY_BEST"),
    ("transformer", "ON_ITS_OWN"),
    ("lstm+additive", "IN_STRETCHES"),
]


@pytest.mark.parametrize("model, bounds", RUNS)
def test_killed_at_random_moments_ends_in_the_same_weights(
    atento_command, processes, tmp_path, words, whole, model, bounds
):
    chance, kills, bounds = random.Random(f"{model} {bounds}"), 0, getattr(processes, bounds)
    run, command = tmp_path / "run", (*words(model, bounds), "--out", "run", "--resume")
    fault = ("save_often",) if bounds == processes.BY_THE_CLOCK else ()

    while kills < 3:
        child = atento_command.start(*command, cwd=tmp_path, fault=fault)
        if not kill_after_checkpoints(processes, child, run, chance.randrange(3), chance.uniform(0, 0.03)):
            break
        kills += 1
    done = atento_command.run(*command, cwd=tmp_path)

    assert done.code == 0, done.err
    assert kills >= 2
    assert same_run(processes, run, whole(model, bounds))
    assert not leftovers(tmp_path)
    assert not (run / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("flush", [1, 3, 6, 11])
def test_killed_in_the_middle_of_a_write(atento_command, processes, tmp_path, words, whole, flush):
    """An odd flush is of a file that is not yet in its place, an even one of the folder it was just put in."""
    run, command = tmp_path / "run", (*words("rnn", processes.TO_THE_END), "--out", "run")

    died = atento_command.run(*command, cwd=tmp_path, fault=("die_at_flush", flush))
    assert died.code == -signal.SIGKILL
    assert bool(leftovers(run)) == bool(flush % 2)
    done = atento_command.run(*command, "--resume", cwd=tmp_path)

    assert done.code == 0, done.err
    assert same_run(processes, run, whole("rnn", processes.TO_THE_END))
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(
    "part, bounds",
    [
        ("nothing", "TO_THE_END"),
        ("nothing", "EARLY_BEST"),
        ("position", "TO_THE_END"),
        ("random", "TO_THE_END"),
        ("optimizer", "TO_THE_END"),
        ("step", "TO_THE_END"),
        ("best", "EARLY_BEST"),
        ("stale", "OUT_OF_PATIENCE"),
    ],
)
def test_a_resume_that_forgets_is_found_out(atento_command, processes, tmp_path, words, whole, half_way, part, bounds):
    early, patient, bounds = bounds == "EARLY_BEST", bounds == "OUT_OF_PATIENCE", getattr(processes, bounds)
    run, reference = tmp_path / "run", whole("rnn", bounds)
    shutil.copytree(half_way("rnn", bounds), run)
    if early:
        assert measured(reference)["best_step"] < 24, "only a best one from before the kill can be forgotten"
    if patient:
        assert 24 < measured(reference)["steps"] < 33, "only patience that ends a run after the kill can be forgotten"

    fault = () if part == "nothing" else ("forget", part)
    done = atento_command.run(*words("rnn", bounds), "--out", "run", "--resume", cwd=tmp_path, fault=fault)

    assert done.code == 0, done.err
    assert same_run(processes, run, reference) == (part == "nothing")
    if part != "stale":  # which learns for longer, and in the end goes back to the same best weights
        assert same_model(processes, run, reference) == (part == "nothing")


def test_no_checkpoint_yet_starts_afresh(atento_command, processes, tmp_path, words, whole):
    done = atento_command.run(*words("rnn", processes.TO_THE_END), "--out", "run", "--resume", cwd=tmp_path)
    assert done.code == 0, done.err
    assert same_run(processes, tmp_path / "run", whole("rnn", processes.TO_THE_END))


def test_a_finished_run_is_left_as_it_is(atento_command, processes, tmp_path, words, whole):
    shutil.copytree(whole("rnn", processes.TO_THE_END), tmp_path / "run")
    before = processes.snapshot(tmp_path)
    done = atento_command.run(*words("rnn", processes.TO_THE_END), "--out", "run", "--resume", cwd=tmp_path)
    assert done.code == 0
    assert "already finished" in done.err
    assert processes.snapshot(tmp_path) == before


def test_killed_between_the_end_of_training_and_the_manifest(
    atento_command, processes, tmp_path, words, whole, half_way
):
    """The eleventh checkpoint is the last; after it come predictions, weights, metrics, card and manifest."""
    reference = whole("rnn", processes.TO_THE_END)
    command = (*words("rnn", processes.TO_THE_END), "--out", "run")
    last = 2 * (3 + 11)
    for number in (last + 1, last + 8):
        died = atento_command.run(*command, cwd=tmp_path, fault=("die_at_flush", number))
        assert died.code == -signal.SIGKILL
        assert (tmp_path / "run" / "checkpoint.safetensors").exists()
        assert not (tmp_path / "run" / "manifest.json").exists()
        done = atento_command.run(*command, "--resume", cwd=tmp_path)
        assert done.code == 0, done.err
        assert same_run(processes, tmp_path / "run", reference)
        assert not leftovers(tmp_path)
        shutil.rmtree(tmp_path / "run")


@pytest.mark.parametrize(
    "fault, again",
    [(("die_at_flush", 2 * (3 + 11) + 10), "train"), (("die_at_removal", "checkpoint.safetensors"), "evaluate")],
)
def test_killed_after_the_manifest_is_finished(
    atento_command, processes, tmp_path, words, whole, tiny_pairs, fault, again
):
    """The checkpoint had no time to go: the model is whole all the same, and its first use removes it."""
    command = (*words("rnn", processes.TO_THE_END), "--out", "run")
    died = atento_command.run(*command, cwd=tmp_path, fault=fault)
    assert died.code == -signal.SIGKILL
    left = tmp_path / "run" / "checkpoint.safetensors"
    assert left.exists() and (tmp_path / "run" / "manifest.json").exists()
    use = (*command, "--resume") if again == "train" else ("evaluate", "run", tiny_pairs)
    done = atento_command.here(*use, cwd=tmp_path)
    assert done.code == 0, done.err
    assert not left.exists()
    assert same_run(processes, tmp_path / "run", whole("rnn", processes.TO_THE_END))


def test_a_full_disk_leaves_the_last_checkpoint_whole(atento_command, processes, tmp_path, words, whole, half):
    before = processes.digest(half / "checkpoint.safetensors")
    command = (*words("rnn", processes.TO_THE_END), "--out", "run", "--resume")
    size = (half / "checkpoint.safetensors").stat().st_size
    refused = atento_command.run(*command, cwd=tmp_path, fault=("full_disk", size // 2))

    assert refused.code == 3
    assert "checkpoint.safetensors could not be written" in refused.err
    assert "Traceback" not in refused.err
    assert processes.digest(half / "checkpoint.safetensors") == before
    assert not leftovers(tmp_path)
    assert atento_command.run(*command, cwd=tmp_path).code == 0
    assert same_run(processes, half, whole("rnn", processes.TO_THE_END))
