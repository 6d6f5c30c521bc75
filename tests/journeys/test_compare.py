"""A comparison as a user makes it: one document, one split, a verdict; stopped, killed and gone on with."""

import json
import os
import shlex
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

import atento
from atento.api.comparison.contest import bound
from atento.bundle import read_json
from atento.errors import InputError, RunError
from atento.spec import Recipe

COLUMNS = {"model", "value", "low", "high", "baseline", "parameters", "seconds", "examples_per_second", "peak_mb"}
VALUES = (
    "model.hidden=16",
    "train.batch_tokens=400",
    "train.steps=100",
    "train.patience=20",
    "train.checkpoint_every=3",
)
SMALL = tuple(word for value in VALUES for word in ("--set", value))


class Stopped(NamedTuple):
    """A comparison that was asked to stop, and whom it had to stop in turn."""

    place: Path
    ended: tuple
    workers: list
    left: list
    saved: list


@pytest.fixture(scope="module")
def stopped(atento_command, processes, tiny_pairs, tmp_path_factory):
    """A comparison of three small models, asked to stop as soon as one of them has a checkpoint."""
    place = tmp_path_factory.mktemp("compared")
    options = ("--models", "rnn, lstm+additive, gru", *SMALL, "--out", place / "board")
    parent = atento_command.start("compare", tiny_pairs, *options, cwd=place)
    processes.until(lambda: list(place.glob("board/*/checkpoint.safetensors")), what="a checkpoint", child=parent)
    workers = processes.processes_about(place)
    parent.send(signal.SIGTERM)
    ended = parent.wait()
    left, saved = processes.processes_about(place), list(place.glob("board/*/checkpoint.safetensors"))
    return Stopped(place, ended, workers, left, saved)


@pytest.fixture(scope="module")
def compared(atento_command, processes, stopped):
    """The same comparison, gone on with by the very command that was printed; the worker of one model is killed, as
    the system does when memory runs out. Its folder, and how it ended."""
    arguments = shlex.split(stopped.ended.err.split("go on with: ")[1])[1:]
    parent = atento_command.start(*arguments, "--json", cwd=stopped.place)
    worker = lambda: processes.processes_about(stopped.place / "board" / "gru")  # noqa: E731
    for number in processes.until(worker, what="the third worker", child=parent):
        os.kill(number, signal.SIGKILL)
    return stopped.place, parent.wait()


def test_asked_to_stop_it_stops_its_workers(stopped):
    assert stopped.ended.code == 143
    assert stopped.ended.out == ""
    assert "go on with: atento compare" in stopped.ended.err
    assert 1 <= len(stopped.workers) <= min(3, len(os.sched_getaffinity(0)))  # on a busy machine one may have ended
    assert stopped.left == []
    assert stopped.saved


def test_one_document(compared):
    place, done = compared
    assert done.code == 0, done.err
    assert done.err == ""
    board = done.document
    assert set(board) >= {"metric", "rows", "winner", "report"}
    assert [row["model"] for row in board["rows"]] == ["nearest", "rewrite", "rnn", "lstm+additive", "gru"]
    nearest, _, *trained, _ = board["rows"]
    for row in (nearest, *trained):
        assert set(row) >= COLUMNS
        assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1
        assert row["failed"] == ""
    assert (nearest["baseline"], nearest["parameters"], nearest["steps"]) == (True, 0, 0)
    assert all(row["parameters"] > 1000 and row["examples_per_second"] > 0 and row["steps"] == 100 for row in trained)
    assert board["metric"] == "exact"
    assert (place / board["report"]).is_file()
    assert not list(place.rglob("*.tmp"))


def test_a_model_that_fails_keeps_its_reason_and_stops_nobody(compared):
    place, done = compared
    gru = done.document["rows"][-1]
    assert set(gru) >= COLUMNS
    assert gru["failed"] == "killed by SIGKILL"
    assert gru["value"] is None
    assert done.document["winner"] != "gru"
    assert "killed by SIGKILL" in (place / "board" / "report.html").read_text(encoding="utf-8")


def test_all_rows_answered_the_same_questions(compared):
    place, done = compared
    fingerprint = done.document["data"]["fingerprint"]
    asked = []
    for row in done.document["rows"][2:-1]:
        run = place / "board" / row["folder"]
        assert read_json(run, "metrics.json")["data"]["fingerprint"] == fingerprint
        asked.append([json.loads(line)["source"] for line in (run / "predictions.jsonl").read_text().splitlines()])
    assert asked[0] == asked[1]
    assert len(asked[0]) == done.document["data"]["parts"]["test"] == 12


def test_the_board_is_kept_and_read_again(atento_command, compared):
    place, done = compared
    kept = read_json(place / "board", "board.json")
    assert kept == done.document
    board = atento.Board.load(place / "board")
    best, network = board.best(), board.best_network()
    trained = [row for row in kept["rows"] if not row["baseline"] and not row["failed"]]
    assert next(row for row in kept["rows"] if row["model"] == kept["winner"])["baseline"]
    assert best.folder == atento.load(place / "board").folder == place / "board" / best.recipe.model.name
    assert best.recipe.model.name == kept["winner"]
    assert network.recipe.model.name == max(trained, key=lambda row: row["value"])["model"]
    assert len(best.predict(["abcd", "dcba"])) == len(network.predict(["abcd", "dcba"])) == 2

    entry, *inside = atento_command.run("runs", ".", "--json", cwd=place).document["runs"]
    assert (entry["kind"], entry["state"], entry["model"]) == ("comparison", "finished", kept["winner"])
    assert {one["model"] for one in inside if one["state"] == "finished"} == {
        row["model"] for row in kept["rows"] if not row["failed"]
    }
    (place / "board" / "report.html").unlink()
    drawn = atento_command.run("report", "board", "--json", cwd=place)
    assert drawn.document == {"report": "board/report.html"}
    assert (place / "board" / "report.html").read_text().startswith("<!")


def test_its_folder_stands_for_its_best_model_and_every_baseline_is_a_run(atento_command, compared):
    place, done = compared
    winner = done.document["winner"]
    (file,) = {atento.load(place / "board").recipe.data.train}
    for command in (
        ("predict", "board", file),
        ("evaluate", "board", file),
        ("look", "board", "abcd"),
        ("check", "board"),
    ):
        told = atento_command.run(*command, cwd=place)
        assert told.code == 0, told.err
        assert f"board is a comparison: {winner} is taken, its best model" in told.err
    told = atento_command.run("look", "board", "abcd", "--what", "gradients", cwd=place)
    network = atento.Board.load(place / "board").best_network().recipe.model.name
    assert (told.code, f"{network} is taken, its best network; {winner}, the winner, is" in told.err) == (0, True)
    assert atento.load(place / "board").recipe.model.name == winner
    for row in done.document["rows"][:2]:
        run = atento.load(place / "board" / row["folder"])
        assert run.recipe.model.name == row["model"] and run.metrics["scores"]["exact"][0] == row["value"]
        assert run.check() and len(run.predict(["abcd", "dcba"])) == 2


def test_a_finished_comparison_is_neither_mixed_nor_written_over(atento_command, processes, compared, tiny_pairs):
    place, _ = compared
    before = processes.snapshot(place)
    options = ("--models", "rnn,lstm+additive,gru", *SMALL)
    again = atento_command.run("compare", tiny_pairs, *options, "--out", "board", cwd=place)
    assert (again.code, "already holds a finished comparison" in again.err) == (2, True)
    other = atento_command.run("compare", tiny_pairs, *options, "--seed", 3, "--out", "board", "--resume", cwd=place)
    assert (other.code, "train.seed is 3 now, was 0" in other.err) == (2, True)
    train = atento_command.run("train", tiny_pairs, "--out", "board", "--resume", cwd=place)
    assert (train.code, "already holds a finished comparison" in train.err) == (2, True)
    into = ("--out", "board/rnn", "--resume")
    inner = atento_command.run("compare", tiny_pairs, *options, *into, cwd=place)
    assert (inner.code, "already holds a finished run" in inner.err) == (2, True)
    assert processes.snapshot(place) == before


@pytest.mark.parametrize("moment", ["starting", "training"])
def test_killed_itself_it_leaves_no_worker_behind(atento_command, processes, tmp_path, tiny_pairs, moment):
    options = ("--models", "rnn", *SMALL, "--set", "train.steps=1000000")
    parent = atento_command.start("compare", tiny_pairs, *options, "--out", tmp_path / "b", cwd=tmp_path)
    workers = processes.until(lambda: processes.processes_about(tmp_path), what="a worker", child=parent)
    if moment == "training":
        processes.until(lambda: list(tmp_path.glob("b/*/checkpoint.*")), what="a checkpoint", child=parent)
    parent.send(signal.SIGKILL)
    try:  # by itself it would train on for hours
        processes.until(lambda: not processes.processes_about(tmp_path), what="the worker's end")
    finally:
        for number in processes.processes_about(tmp_path):
            os.kill(number, signal.SIGKILL)
    assert len(workers) == 1
    assert not list(tmp_path.rglob("manifest.json"))


def test_no_trained_model_is_no_best_one(tmp_path):
    rows = [{"model": "nearest", "baseline": True, "value": 0.5}]
    rows += [{"model": "rnn", "failed": "exit code 4: training diverged"}]
    board = {"title": "", "task": "translate", "metric": "exact", "metrics": {}, "rows": rows, "winner": "nearest"}
    with pytest.raises(RunError, match="no model of this comparison was trained"):
        atento.Board.from_json({**board, "folder": tmp_path}).best_network()
    with pytest.raises(RunError, match="no model of this comparison can be used"):
        atento.Board.from_json({**board, "folder": tmp_path}).best()


def test_limits_mean_the_same_as_in_train():
    assert bound({})["train.budget"] == 300
    assert bound({"train.budget": "90s"})["train.budget"] == 90
    assert bound({"train.steps": "40"})["train.budget"] == 0
    assert bound({"train.epochs": 2, "train.budget": "1m"}) == {"train.epochs": 2, "train.budget": 60}
    assert bound(Recipe().flat())["train.budget"] == 300


def test_nothing_begins_without_a_test_part(tmp_path, tiny_pairs):
    with pytest.raises(InputError, match="needs a test part") as caught:
        atento.compare(tiny_pairs, settings={"data.split": "90/10/0"}, out=tmp_path / "b")
    assert "data.split" in caught.value.found
    assert not (tmp_path / "b").exists()


def test_events_of_a_resumed_worker_are_read_from_its_new_file(tmp_path):
    """A resumed run writes its events anew, shorter; reading on at the old place would cut a line in two."""
    from atento.api.comparison.workers import Job, pass_on
    from atento.training.events import EventLog

    job, seen = Job("rnn", tmp_path / "rnn.toml", tmp_path), []
    log = EventLog(tmp_path)
    for step in range(1, 10):
        log.add("step", step=step, loss=1.5)
    pass_on(job, seen.append)
    log.rewind(3)
    for step in range(4, 14):
        log.add("step", step=10 * step, loss=1.25)
    pass_on(job, seen.append)
    assert [event["step"] for event in seen] == [*range(1, 10), 1, 2, 3, *range(40, 140, 10)]
    assert all(event["model"] == "rnn" for event in seen)
