"""Trackers: each of the real libraries, offline, holds the numbers of the run's own events, and none can stop a run."""

import math
import socket
import struct
import sys
import warnings

import pytest
import torch
from torch import nn

import atento
from atento.errors import InputError, MachineError
from atento.training import read_events, trackers
from atento.training.callbacks import CallbackError
from atento.training.trackers import TrackedRun, numbers_of, require_trackers, tracked

SETTINGS = {
    "train.steps": 12, "train.validations": 6, "train.batch_tokens": 7, "train.patience": 50, "train.threads": 1,
    "train.checkpoint_every": 2, "data.split": "80/10/10",
}  # fmt: skip


class Fails(atento.Callback):
    """Fails after the third validation."""

    def on_validation_end(self, training):
        if training.step == 6:
            raise RuntimeError("no more")


def learn(folder, *, track=(), callbacks=(), resume=False, on_event=lambda event: None):
    torch.manual_seed(5)
    inputs = torch.randn(25, 3)
    module = nn.Sequential(nn.Linear(3, 11), nn.Dropout(0.3), nn.Linear(11, 1))
    return atento.fit(
        (inputs, inputs.sum(dim=1, keepdim=True)), model=module, loss=nn.MSELoss(), out=folder, settings=SETTINGS,
        track=track, callbacks=list(callbacks), resume=resume, seed=3, on_event=on_event,
    )  # fmt: skip


def refuse_to_connect(self, address):
    if self.family != socket.AF_UNIX:  # by which wandb speaks to a process of its own
        raise AssertionError(f"a connection to {address}")
    return REAL_CONNECT(self, address)


REAL_CONNECT = socket.socket.connect


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that was ended in the middle, and resumed, tracked by all three all the time, without a network."""
    place = tmp_path_factory.mktemp("tracked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WANDB_MODE", "offline")
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setattr(socket.socket, "connect", refuse_to_connect)
        with pytest.raises(CallbackError):
            learn(place / "run", track="tensorboard,mlflow,wandb", callbacks=[Fails()])
        said = []
        found = learn(place / "run", track=["tensorboard", "mlflow", "wandb"], resume=True, on_event=said.append)
    told = [event["text"].partition(": ") for event in said if event["event"] == "note"]
    where = {name: text for name, _, text in told if name in trackers.TRACKERS}
    assert where["tensorboard"] == f"tensorboard --logdir {place / 'run' / 'tensorboard'}"
    assert where["mlflow"] == f"recorded in {place / 'run' / 'mlflow.db'}" and "not sent" in where["wandb"]
    assert not [event["text"] for event in said if "failed" in event.get("text", "")]
    return found


def expected(run):
    """name -> step -> value, from the log of the run, with the scores of the test at its last step."""
    found = {}
    for event in read_events(run.folder / "events.jsonl"):
        for name, value in numbers_of(event).items():
            found.setdefault(name, {})[event["step"]] = value
    for name, (value, *_) in run.metrics["scores"].items():
        found[f"test/{name}"] = {12: value}
    assert {"train/loss", "train/learning_rate", "validation/mean_loss", "gradient_norm/0", "test/mean_loss"} <= set(
        found
    )
    assert sorted(found["validation/mean_loss"]) == [2, 4, 6, 8, 10, 12]
    return found


def assert_same(found, run):
    """The same names and steps; values as far as single precision goes."""
    wanted = expected(run)
    assert {name: sorted(values) for name, values in found.items()} == {
        name: sorted(values) for name, values in wanted.items()
    }
    for name, values in wanted.items():
        for step, value in values.items():
            assert math.isclose(found[name][step], value, rel_tol=1e-6, abs_tol=1e-12)


def test_tensorboard_shows_the_events(run):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    held = EventAccumulator(str(run.folder / "tensorboard"))
    held.Reload()
    lists = {name: held.Scalars(name) for name in held.Tags()["scalars"]}
    assert all(len({one.step for one in values}) == len(values) for values in lists.values()), "nothing is shown twice"
    assert_same({name: {one.step: one.value for one in values} for name, values in lists.items()}, run)
    text = held.Tensors("recipe/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "| train.steps | 12 |" in text


def test_mlflow_shows_the_events(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlflow import MlflowClient

        client = MlflowClient(tracking_uri=f"sqlite:///{run.folder / 'mlflow.db'}")
        (experiment,) = [one for one in client.search_experiments() if one.name == "atento"]
        (held,) = client.search_runs([experiment.experiment_id])
        lists = {name: client.get_metric_history(held.info.run_id, name) for name in held.data.metrics}
    assert (held.info.status, held.info.run_name) == ("FINISHED", "run")
    assert held.data.params["train.steps"] == "12"
    assert str(run.folder) in experiment.artifact_location, "not in the folder where it was started"
    found = {name: {one.step: one.value for one in values} for name, values in lists.items()}
    held_steps = sorted(one.step for one in lists["validation/mean_loss"])
    assert held_steps == [2, 4, 6, 8, 10, 12], "nothing is recorded twice"
    validated = {name: values for name, values in expected(run).items() if not name.startswith(("train", "gradient"))}
    assert {name: found[name] for name in validated} == validated
    assert set(found) == set(expected(run)), "steps told by the clock may differ in number after a resume"


def test_wandb_shows_the_events(run):
    from wandb.proto.wandb_internal_pb2 import Record

    found = {}
    for path in sorted((run.folder / "wandb").glob("offline-run-*/run-*.wandb")):
        for content in wandb_records(path.read_bytes()):
            record = Record()
            record.ParseFromString(content)
            items = {item.key or "/".join(item.nested_key): item.value_json for item in record.history.item}
            step = int(items.pop("_step", -1))
            for name, value in items.items():
                if not name.startswith("_"):
                    assert step not in found.setdefault(name, {})
                    found[name][step] = float(value)
    folders = (run.folder / "wandb").glob("offline-run-*")  # offline-run-TIME-ID, and -1 behind it within one second
    assert len({path.name.split("-")[3] for path in folders}) == 1, "one id"
    wanted = expected(run)
    assert set(found) == set(wanted)
    for name in ("validation/mean_loss", "test/mean_loss"):
        assert (name, sorted(found[name])) == (name, sorted(wanted[name]))
        assert found[name] == pytest.approx(wanted[name])


def wandb_records(content):
    """The records of a file of wandb: a header of 7 bytes, then LevelDB's log of blocks of 32 KiB."""
    at, whole = 7, b""
    while at + 7 <= len(content):
        left = 2**15 - at % 2**15
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack("<IHB", content[at : at + 7])
        whole += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # full, last
            yield whole
            whole = b""


def test_tracking_changes_no_weight(run, tmp_path):
    plain = learn(tmp_path / "plain")
    for name, weight in plain.module.state_dict().items():
        assert torch.equal(weight, run.module.state_dict()[name])
    assert not [path.name for path in plain.folder.iterdir() if path.name.startswith(("tens", "mlf", "wan", "track"))]


class Broken:
    """A tracker that fails in one of its functions."""

    newest, said = -1, "nowhere"
    opened = added = 0

    def __init__(self, run):
        type(self).opened += 1
        self.fail("open")

    def add(self, values, step):
        type(self).added += 1
        self.fail("add")

    def close(self, state):
        self.fail("close")

    def fail(self, where):
        if where == self.where:
            raise OSError(28, "No space left on device")


@pytest.mark.parametrize("where", ["open", "add", "close"])
def test_a_tracker_that_fails_is_said_once_and_stops_nothing(tmp_path, monkeypatch, where):
    broken = type("Broken", (Broken,), {"where": where, "opened": 0, "added": 0})
    monkeypatch.setitem(trackers.TRACKERS, "tensorboard", broken)
    said = []
    run = learn(tmp_path / "run", track="tensorboard", on_event=said.append)
    assert run.metrics["steps"] == 12 and broken.opened == 1
    assert broken.added == {"open": 0, "add": 1}.get(where, broken.added)
    notes = [event["text"] for event in said if event.get("text", "").startswith("tensorboard failed")]
    assert notes == ["tensorboard failed, and the run goes on without it: OSError: [Errno 28] No space left on device"]


def test_names_of_trackers(monkeypatch):
    assert require_trackers("") == require_trackers(()) == ()
    assert require_trackers("TensorBoard, mlflow,tensorboard") == ("tensorboard", "mlflow")
    with pytest.raises(InputError, match="--track: there is no tracker 'tensorbord'") as caught:
        require_trackers("tensorbord")
    assert "did you mean 'tensorboard'" in caught.value.fix
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MachineError, match="--track mlflow needs sqlalchemy") as caught:
        require_trackers(["mlflow"])
    assert caught.value.fix == 'pip install "atento[mlflow]"'


class Kept:
    """A tracker that keeps what it is given."""

    newest, said = -1, "here"
    all = ()

    def __init__(self, run):
        self.run, self.added, self.state = run, [], ""
        Kept.all = (*Kept.all, self)

    def add(self, values, step):
        self.added.append((step, values))

    def close(self, state):
        self.state = state


def test_each_model_of_a_comparison_is_a_run_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setitem(trackers.TRACKERS, "wandb", Kept)
    monkeypatch.setattr(Kept, "all", ())
    runs = {name: TrackedRun(tmp_path / name, f"board/{name}", {}) for name in ("rnn", "gru", "lstm")}
    with pytest.raises(KeyError), tracked(["wandb"], runs, lambda event: None) as watch:
        watch({"event": "note", "text": "no run of a model"})
        watch({"event": "step", "step": 3, "loss": 0.5, "model": "gru"})
        watch({"event": "step", "step": 3, "loss": 0.5, "model": "gru"})  # told again after a resume
        watch({"event": "step", "step": 1, "loss": math.nan, "model": "rnn"})
        watch({"event": "validation", "step": 3, "metrics": {"accuracy": None}, "model": "gru"})
        raise KeyError
    assert [(one.run.name, one.added, one.state) for one in Kept.all] == [
        ("board/gru", [(3, {"train/loss": 0.5})], "failed"),
        ("board/rnn", [], "failed"),
    ]


def test_a_comparison_and_its_command(atento_command, tiny_pairs, tmp_path):
    options = "--models rnn,gru --set train.steps=2 --set model.hidden=4 --track tensorboard --out board"
    done = atento_command.here("compare", tiny_pairs, *options.split(), cwd=tmp_path)
    assert done.code == 0, done.err
    assert all(list((tmp_path / "board" / name / "tensorboard").iterdir()) for name in ("rnn", "gru"))
    assert "--track tensorboard" in (tmp_path / "board" / "recipes" / "command.txt").read_text()
