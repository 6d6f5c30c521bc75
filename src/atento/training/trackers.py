"""Trackers: TensorBoard, MLflow and Weights & Biases as mirrors of a run's own events. Read from `tracked` downwards.

The log of events in the folder of the run is the one source: what a tracker shows is in it, and a tracker that begins
late, as after a resume, is given all that the log holds. A tracker that fails is left out and never stops a training.
"""

import json
import logging
import math
import os
import re
import shlex
import shutil
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from atento.bundle import EVENTS, METRICS, is_finished, read_json, write_json
from atento.errors import Interrupted, unknown_name
from atento.extras import require_extra
from atento.lines import lines_of
from atento.training.events import Event, EventCallback, read_events

TRACKER_RUNS = "trackers.json"  # in the folder of a run: by which name each tracker knows it
PROJECT = "atento"  # where the user names no project or experiment of their own
MOST_PARAMETERS = 100  # that MLflow takes at once
MLFLOW_REFUSES = re.compile(r"[^\w\-./: ]")  # in the name of a number
RECORDED = ("start", "step", "validation", "finished", "trial")


class TrackedRun(NamedTuple):
    """A run as trackers know it."""

    folder: Path
    name: str
    parameters: Mapping[str, object]  # the recipe by key
    logged: int = -1  # the newest step in its log as tracking began

    def known_as(self, tracker: str) -> str:
        """The name that a tracker gave it before; empty: none did."""
        saved = self.folder / TRACKER_RUNS
        return str(json.loads(saved.read_text(encoding="utf-8")).get(tracker, "")) if saved.is_file() else ""

    def remember(self, tracker: str, known_as: str) -> None:
        """Write down the name that a tracker gave it, for a resume."""
        saved = self.folder / TRACKER_RUNS
        before = json.loads(saved.read_text(encoding="utf-8")) if saved.is_file() else {}
        write_json(saved, {**before, tracker: known_as})


class Tracker(Protocol):
    """One tool that shows runs."""

    newest: int  # the newest step that it already holds; -1: none
    said: str  # where to look, in words

    def __init__(self, run: TrackedRun) -> None: ...

    def add(self, values: Mapping[str, float], step: int) -> None:
        """Record numbers of a step by name."""

    def close(self, state: str) -> None:
        """The run is `finished`, `paused` or `failed`."""


class TensorBoardTracker:
    """Files of events in RUN/tensorboard: `tensorboard --logdir runs` shows every run."""

    def __init__(self, run: TrackedRun) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.newest = -1
        place = run.folder / "tensorboard"
        if (run.folder / EVENTS).exists():  # from which all is written anew
            shutil.rmtree(place, ignore_errors=True)
        self.writer: Any = SummaryWriter(str(place))
        self.said = shlex.join(["tensorboard", "--logdir", str(place)])
        table = "\n".join(f"| {key} | {value} |" for key, value in run.parameters.items())
        self.writer.add_text("recipe", f"| key | value |\n|---|---|\n{table}", 0)

    def add(self, values: Mapping[str, float], step: int) -> None:
        """Record numbers of a step by name."""
        for name, value in values.items():
            self.writer.add_scalar(name, value, step)

    def close(self, state: str) -> None:
        """Write what is left."""
        self.writer.close()


class MLflowTracker:
    """A run of MLflow, in the store that MLFLOW_TRACKING_URI names, else in RUN/mlflow.db."""

    def __init__(self, run: TrackedRun) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # nobody is told that it is used
        os.environ.setdefault(
            "MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2"
        )  # a server that is away costs seconds, not minutes
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException

        for name in ("mlflow", "alembic"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self.metric = Metric
        address = os.environ.get("MLFLOW_TRACKING_URI", "")
        self.client = MlflowClient(tracking_uri=address or f"sqlite:///{(run.folder / 'mlflow.db').absolute()}")
        self.id, self.newest = run.known_as("mlflow"), -1
        self.said = f"recorded in {address or run.folder / 'mlflow.db'}"
        with suppress(MlflowException):  # a store that does not know it
            latest = self.client.get_run(self.id).data.metrics if self.id else {}
            steps = [entry.step for name in latest for entry in self.client.get_metric_history(self.id, name)]
            self.newest = max(steps, default=-1)
        if self.newest >= 0:
            self.client.update_run(self.id, status="RUNNING")
            return
        artifacts = None if address else (run.folder / "mlflow-artifacts").absolute().as_uri()
        self.id = self.client.create_run(self.experiment(artifacts), run_name=run.name).info.run_id
        run.remember("mlflow", self.id)
        parameters = [Param(key, str(value)) for key, value in run.parameters.items()]
        for first in range(0, len(parameters), MOST_PARAMETERS):
            self.client.log_batch(self.id, params=parameters[first : first + MOST_PARAMETERS])

    def experiment(self, artifacts: str | None) -> str:
        """The experiment that runs belong to."""
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        found = self.client.get_experiment_by_name(name)
        return str(found.experiment_id if found else self.client.create_experiment(name, artifact_location=artifacts))

    def add(self, values: Mapping[str, float], step: int) -> None:
        """Record numbers of a step by name."""
        now = int(1000 * time.time())
        named = {MLFLOW_REFUSES.sub("_", name): value for name, value in values.items()}
        self.client.log_batch(self.id, metrics=[self.metric(name, value, now, step) for name, value in named.items()])

    def close(self, state: str) -> None:
        """Say how it ended."""
        self.client.set_terminated(self.id, {"finished": "FINISHED", "paused": "KILLED"}.get(state, "FAILED"))


class WandbTracker:
    """A run of Weights & Biases: sent where the user has logged in, else, or with WANDB_MODE=offline, in RUN/wandb."""

    def __init__(self, run: TrackedRun) -> None:
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # the user asked for a tracker, not for reports
        import wandb

        logged_in = "WANDB_MODE" in os.environ or wandb.login(prompt=False)
        known = run.known_as("wandb")
        self.newest = run.logged if known else -1  # a file of wandb cannot be asked what it holds
        self.run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=run.name,
            id=known or uuid.uuid4().hex[:8],
            resume="allow" if known else None,
            config=dict(run.parameters),
            dir=str(run.folder),
            mode=None if logged_in else "offline",
            reinit="create_new",
            settings=wandb.Settings(silent=True, console="off"),
        )
        run.remember("wandb", self.run.id)
        self.said = self.run.url or f"recorded in {run.folder / 'wandb'}, and not sent: `wandb sync` does so"

    def add(self, values: Mapping[str, float], step: int) -> None:
        """Record numbers of a step by name."""
        self.run.log(dict(values), step=step)

    def close(self, state: str) -> None:
        """Send or write what is left."""
        self.run.finish(exit_code=0 if state == "finished" else 1)


TRACKERS: dict[str, type[Tracker]] = {
    "tensorboard": TensorBoardTracker,
    "mlflow": MLflowTracker,
    "wandb": WandbTracker,
}


def require_trackers(track: str | Sequence[str]) -> tuple[str, ...]:
    """The names of trackers, each known and installed."""
    listed = track.split(",") if isinstance(track, str) else track
    names = tuple(dict.fromkeys(name.strip().lower() for name in listed if name.strip()))
    for name in names:
        if name not in TRACKERS:
            raise unknown_name("tracker", name, TRACKERS, where="--track")
        require_extra(name, f"--track {name}")
    return names


@contextmanager
def tracked(names: Sequence[str], runs: Mapping[str, TrackedRun], on_event: EventCallback) -> Iterator[EventCallback]:
    """Who is told of events while runs are tracked: `on_event`, and a mirror of each run; runs are told apart by the
    `model` of an event, which is empty where there is one.
    """
    if not names:
        yield on_event
        return
    mirrors = {model: Mirror(names, run, on_event) for model, run in runs.items()}

    def tell(event: Event) -> None:
        on_event(event)
        if event["event"] in RECORDED and event.get("model", "") in mirrors:
            mirrors[event.get("model", "")].show(event)

    state = "failed"
    try:
        yield tell
        state = "finished"
    except Interrupted:
        state = "paused"
        raise
    finally:
        for mirror in mirrors.values():
            mirror.close(state)


class Mirror:
    """Shows the events of one run in every tracker that was asked for."""

    def __init__(self, names: Sequence[str], run: TrackedRun, on_event: EventCallback) -> None:
        logged = max((event.get("step", -1) for event in read_events(run.folder / EVENTS)), default=-1)
        self.run, self.on_event = run._replace(logged=logged), on_event
        self.waiting = list(names)  # to be opened with the first event
        self.open: dict[str, Tracker] = {}
        self.shown: dict[tuple[str, str], int] = {}  # the newest step of a tracker's event of a kind

    def show(self, event: Event) -> None:
        """Show an event, and first all that the log holds already."""
        if self.waiting:
            for name in self.waiting:
                with self.left_out_if_it_fails(name):
                    self.open[name] = TRACKERS[name](self.run)
                    self.on_event({"event": "note", "text": f"{name}: {self.open[name].said}"})
            self.waiting = []
            for earlier in read_events(self.run.folder / EVENTS):
                self.add(earlier)
        self.add(event)

    def add(self, event: Event) -> None:
        """Give the numbers of an event to each tracker that has not got them yet."""
        values, step, kind = numbers_of(event), event.get("number", event.get("step", 0)), event["event"]
        for name, tracker in list(self.open.items()):
            if values and step > self.shown.get((name, kind), tracker.newest):
                with self.left_out_if_it_fails(name):
                    tracker.add(values, step)
                self.shown[name, kind] = step

    def close(self, state: str) -> None:
        """Show the scores of the test, where there are some, and close every tracker."""
        ended = state == "finished" and is_finished(self.run.folder)
        metrics = read_json(self.run.folder, METRICS) if ended else {}
        scores = {f"test/{name}": value for name, (value, *_) in metrics.get("scores", {}).items() if value is not None}
        for name, tracker in list(self.open.items()):
            with self.left_out_if_it_fails(name):
                if scores and metrics["steps"] >= tracker.newest:
                    tracker.add(scores, metrics["steps"])
                tracker.close(state)

    @contextmanager
    def left_out_if_it_fails(self, name: str) -> Iterator[None]:
        """Whatever goes wrong in a tracker is said once, and the training goes on without it."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of other people's code
                yield
        except Exception as error:  # noqa: BLE001  # of a library that is not ours
            self.open.pop(name, None)
            why = lines_of(f"{type(error).__name__}: {error}")[0]
            self.on_event({"event": "note", "text": f"{name} failed, and the run goes on without it: {why}"})


def numbers_of(event: Event) -> dict[str, float]:
    """The finite numbers of an event, by the names that trackers show."""
    found: dict[str, float | None] = {}
    if event["event"] == "step":
        found = {f"train/{name}": event.get(name) for name in ("loss", "learning_rate", "examples_per_second", "epoch")}  # type: ignore[misc]
        found |= {f"gradient_norm/{part}": norm for part, norm in event.get("gradient_norms", {}).items()}
    elif event["event"] == "validation":
        found = {f"validation/{name}": value for name, value in event["metrics"].items()}
        found |= {"validation/loss": event.get("validation_loss"), "validation/best_step": event.get("best_step")}
    elif event["event"] == "trial":
        found = {"search/merit": event.get("merit")}
    return {name: float(value) for name, value in found.items() if value is not None and math.isfinite(value)}
