"""Kill a run at any moment: it goes on bit for bit."""

import json
import random
import shlex
import shutil
import signal

import pytest

SIZES = ("--set", "model.hidden=16", "--set", "model.dropout=0.2", "--set", "train.threads=1")
PACE = ("--set", "train.batch_tokens=400", "--set", "train.warmup=20", "--set", "train.checkpoint_every=3")
TO_THE_END = ("--set", "train.steps=45", "--set", "train.validations=1")  # the last weights are the ones kept
EARLY_BEST = ("--set", "train.steps=45", "--set", "train.validations=15", "--set", "train.patience=9")

MODELS = ("rnn", "lstm+additive", "gru+dot", "transformer")


@pytest.fixture(scope="session")
def words(tiny_pairs):
    """The arguments of a run."""
    return lambda model, bounds: ("train", tiny_pairs, "--model", model, *SIZES, *PACE, bounds)


@pytest.fixture(scope="session")
def whole(atento_command, words, tmp_path_factory):
    """The same run, never stopped: a folder by model and bounds."""
    made = {}

    def make(model, bounds):
        if (model, bounds) not in made:
            place = tmp_path_factory.mktemp("whole")
            done = atento_command.run(*words(model, bounds), "--out", "run", cwd=place)
            assert done.code == 0, done.err
            made[model, bounds] = place / "run"
        return made[model, bounds]

    return make


def kinds(folder):
    return [json.loads(line)["event"] for line in (folder / "events.jsonl").read_text().splitlines()]


def same_model(processes, run, whole):
    return processes.digest(run / "weights.safetensors") == processes.digest(whole / "weights.safetensors")


def same_run(processes, run, whole):
    """Not the weights alone: what was measured, when, and the events up to their clocks."""
    same = same_model(processes, run, whole)
    same &= (run / "predictions.jsonl").read_bytes() == (whole / "predictions.jsonl").read_bytes()
    for key in ("scores", "steps", "best_step", "ended", "epochs"):
        same &= measured(run)[key] == measured(whole)[key]
    return same and kinds(run).count("validation") == kinds(whole).count("validation")


def measured(run):
    return json.loads((run / "metrics.json").read_text())


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
    processes.time.sleep(delay)
    child.send(signal.SIGKILL)
    return child.wait().code == -signal.SIGKILL


@pytest.mark.parametrize("model, bounds", [*((model, TO_THE_END) for model in MODELS), ("rnn", EARLY_BEST)])
def test_killed_at_random_moments_ends_in_the_same_weights(
    atento_command, processes, tmp_path, words, whole, model, bounds
):
    chance, kills = random.Random(f"{model} {bounds}"), 0
    run, command = tmp_path / "run", (*words(model, bounds), "--out", "run", "--resume")

    while kills < 5:
        child = atento_command.start(*command, cwd=tmp_path)
        if not kill_after_checkpoints(processes, child, run, chance.randrange(3), chance.uniform(0, 0.03)):
            break
        kills += 1
        assert not (run / "manifest.json").exists()
    done = atento_command.run(*command, cwd=tmp_path)

    assert done.code == 0, done.err
    assert kills >= 2
    assert same_run(processes, run, whole(model, bounds))
    assert not leftovers(tmp_path)
    assert not (run / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("flush", [1, 3, 5, 6, 9, 11])
def test_killed_in_the_middle_of_a_write(atento_command, processes, tmp_path, words, whole, flush):
    """Each write is flushed twice, the file and its folder; the third write is of events, those after it of states."""
    run, command = tmp_path / "run", (*words("rnn", TO_THE_END), "--out", "run")

    died = atento_command.run(*command, cwd=tmp_path, fault=("die_at_flush", flush))
    assert died.code == -signal.SIGKILL
    assert bool(leftovers(run)) == bool(flush % 2)
    done = atento_command.run(*command, "--resume", cwd=tmp_path)

    assert done.code == 0, done.err
    assert same_run(processes, run, whole("rnn", TO_THE_END))
    assert not leftovers(tmp_path)


@pytest.fixture(scope="session")
def half_way(atento_command, words, tmp_path_factory):
    """A run killed in the middle of its second epoch or later: a folder by bounds."""
    made = {}

    def make(bounds):
        if bounds not in made:
            place = tmp_path_factory.mktemp("half")
            flushes = ("die_at_flush", 2 * (3 + 8))  # two files, the events, and the eighth checkpoint: step 24
            died = atento_command.run(*words("rnn", bounds), "--out", "run", cwd=place, fault=flushes)
            assert died.code == -signal.SIGKILL
            made[bounds] = place
        return made[bounds]

    return make


@pytest.mark.parametrize(
    "part, bounds",
    [
        ("nothing", TO_THE_END),
        ("nothing", EARLY_BEST),
        ("position", TO_THE_END),
        ("random", TO_THE_END),
        ("optimiser", TO_THE_END),
        ("step", TO_THE_END),
        ("best", EARLY_BEST),
        ("stale", EARLY_BEST),
    ],
)
def test_a_resume_that_forgets_is_found_out(atento_command, processes, tmp_path, words, whole, half_way, part, bounds):
    place, reference = tmp_path / "copy", whole("rnn", bounds)
    shutil.copytree(half_way(bounds), place)

    done = atento_command.run(
        *words("rnn", bounds),
        "--out",
        "run",
        "--resume",
        cwd=place,
        fault=() if part == "nothing" else ("forget", part),
    )

    assert done.code == 0, done.err
    if bounds is EARLY_BEST:
        assert measured(reference)["best_step"] < 24, (
            "the best is to come before the kill, or forgetting it is harmless"
        )
    assert same_run(processes, place / "run", reference) == (part == "nothing")
    if part != "stale":  # it trains on for longer and yet keeps the best, as it should
        assert same_model(processes, place / "run", reference) == (part == "nothing")


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_says_how_to_go_on_and_does(atento_command, processes, tmp_path, words, whole, number, code):
    run = tmp_path / "a run"
    child = atento_command.start(*words("rnn", TO_THE_END), "--out", "a run", cwd=tmp_path)
    processes.until(lambda: (run / "checkpoint.safetensors").exists(), what="a checkpoint")
    child.send(number)
    stopped = child.wait()

    assert stopped.code == code
    assert stopped.err.count("Traceback") == 0
    printed = stopped.err.split("go on with: ")[1].strip()
    program, *arguments = shlex.split(printed)
    assert program == "atento"
    asked = json.loads((run / "events.jsonl").read_text().splitlines()[-1])
    assert asked["event"] != "finished"
    done = atento_command.run(*arguments, cwd=tmp_path)

    assert done.code == 0, done.err
    assert same_run(processes, run, whole("rnn", TO_THE_END))
