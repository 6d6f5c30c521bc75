"""The workers of a Ray cluster, in the place of processes of this machine: `--cluster auto` or `--cluster HOST:PORT`.

Each job is a task of one core or one GPU. Recipes, data, runs and events lie on a disk that all nodes share: what
crosses the network is names of files. A job whose node dies is started again, and goes on from its last checkpoint.
"""

import logging
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from atento.api.comparison.workers import Job, LocalWorkers, Workers
from atento.api.folders import in_use
from atento.errors import AtentoError, InputError, MachineError, RunError, failure_of
from atento.extras import require_extra
from atento.node import run_worker
from atento.version import __version__
from atento.writing import write_atomically

AUTO = "auto"
ADDRESS = re.compile(r"[^\s:/]+:\d+")
SECONDS_TO_ANSWER = 5.0
RESTARTS = 3  # of one job, whose nodes died
SECONDS_TO_END = 120.0  # within which the process of a dead node lets go of its folder
QUIET = {  # what Ray reads when it is imported
    "RAY_USAGE_STATS_ENABLED": "0",  # it would send them to its makers
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # what its own processes say would stand in the middle of a result
}
ALIKE = "install the same atento on every node, and choose an --out on a disk that all of them see"
START = "start one: ray start --head --disable-usage-stats"


@contextmanager
def workers_for(cluster: str, device: str, *, tell: Callable[[str], None]) -> Iterator[Workers]:
    """The workers of a cluster, for as long as it is asked; without an address, processes of this machine."""
    if not cluster:
        yield LocalWorkers(device)
        return
    with connected(cluster) as ray:
        yield RayWorkers(ray, cluster, device, tell)


@contextmanager
def connected(cluster: str) -> Iterator[ModuleType]:
    """A connection to a Ray cluster; one that the caller's program has already is used and kept."""
    if cluster != AUTO and not ADDRESS.fullmatch(cluster):
        raise InputError(
            f"--cluster {cluster}: this is no address.", found=cluster, fix="--cluster auto, or --cluster HOST:PORT"
        )
    require_extra("ray", "a comparison or search over a cluster", instead="leave --cluster out")
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        yield ray
        return
    require_answer(os.environ.get("RAY_ADDRESS", "") if cluster == AUTO else cluster)
    main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(address=cluster, log_to_driver=False, logging_level=logging.CRITICAL)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise no_cluster("on this machine", f"{type(error).__name__}, and no RAY_ADDRESS") from None
    finally:
        if main:  # Ray sets its own
            for number, handler in handlers.items():
                signal.signal(number, handler)
    try:
        yield ray
    finally:
        ray.shutdown()


def require_answer(address: str) -> None:
    """Something must listen there: Ray itself would wait for it for minutes."""
    if not ADDRESS.fullmatch(address):
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise no_cluster(f"at {address}", error.strerror or str(error)) from None


def no_cluster(where: str, found: str) -> MachineError:
    """The one message for a cluster that does not answer."""
    return MachineError(f"there is no Ray cluster {where}.", found=found, fix=START)


class RayWorkers:
    """The nodes of a cluster: a job for each core, or for each GPU."""

    def __init__(self, ray: Any, cluster: str, device: str, tell: Callable[[str], None]) -> None:
        self.ray, self.name, self.device, self.tell = ray, cluster, device, tell
        kind = "GPU" if device == "cuda" else "CPU"
        self.capacity = int(ray.cluster_resources().get(kind, 0))
        if not self.capacity:
            raise MachineError(
                f"the cluster {cluster} has no {kind}.",
                found=f"{len(ray.nodes())} nodes",
                fix="choose another --device" if kind == "GPU" else "add a node with cores",
            )
        share = {"num_gpus": 1} if kind == "GPU" else {}
        self.task = ray.remote(num_cpus=1, max_retries=0, **share)(run_worker)

    def start(self, job: Job, *, slots: int) -> "RayWorker":
        """A task of the cluster, wherever there is room."""
        return RayWorker(self, job)


class RayWorker:
    """A job on a node of the cluster."""

    def __init__(self, workers: RayWorkers, job: Job) -> None:
        self.workers, self.job, self.restarts, self.until = workers, job, 0, 0.0
        self.task: Any = None  # while its folder is waited for
        self.submit()

    def submit(self) -> None:
        """Hand the job to the cluster."""
        words = self.job.words(self.workers.device)
        absolute = [str(Path(words[0]).absolute()), str(Path(words[1]).absolute()), *words[2:]]
        self.task = self.workers.task.remote(absolute, str(self.job.log.absolute()), __version__)

    def exit_code(self) -> int | None:
        """How it ended; None while it runs. Where its node died it is handed to the cluster again."""
        ray = self.workers.ray
        if self.task is None:
            self.submit_when_free()
            return None
        done, _ = ray.wait([self.task], timeout=0)
        if not done:
            return None
        try:
            code, problem = ray.get(self.task)
            return self.explain(MachineError(problem, fix=ALIKE)) if problem else int(code)
        except ray.exceptions.RayTaskError as error:  # it ran, and failed
            if "failed to import" in str(error.cause):
                return self.explain(MachineError("a node of the cluster has no atento.", fix=ALIKE))
            return self.explain(failure_of(error.cause))
        except ray.exceptions.RayError as error:  # what it ran on failed
            if self.restarts == RESTARTS:
                return self.explain(RunError(f"its node died {RESTARTS + 1} times.", found=type(error).__name__))
            self.restarts += 1
            self.workers.tell(f"{self.job.name}: its node died; it goes on from its last checkpoint on another one")
            self.task, self.until = None, time.monotonic() + SECONDS_TO_END
            self.submit_when_free()
            return None

    def submit_when_free(self) -> None:
        """Hand it over again as soon as its process on the other node is gone too: a node that is only cut off, or that
        is busy, ends a moment later than the cluster gives it up.
        """
        if not in_use(self.job.folder) or time.monotonic() > self.until:
            self.submit()

    def explain(self, failure: AtentoError) -> int:
        """Leave the reason where a process would have left it; its exit code."""
        write_atomically(self.job.log, str(failure).encode())
        return failure.exit_code

    def ask_to_save(self) -> None:
        """Cancel the task, which passes that on to its process as a signal."""
        if self.task is not None:
            self.workers.ray.cancel(self.task, force=False)

    def wait(self, seconds: float) -> None:
        """Wait for its end, and insist on it after so long."""
        ray = self.workers.ray
        if self.task is None:
            return
        done, _ = ray.wait([self.task], timeout=seconds)
        if not done:
            with suppress(ray.exceptions.RayError):
                ray.cancel(self.task, force=True)
