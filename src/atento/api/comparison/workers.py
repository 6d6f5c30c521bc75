"""Several runs at once, each in a process of its own (`atento.worker`), here or on a cluster; one that fails neither
stops the others nor hides its reason.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from atento.api.folders import in_use
from atento.bundle import EVENTS, is_finished
from atento.errors import Interrupted
from atento.lines import lines_of
from atento.system import ENDS_GENTLY, own_session, usable_cores
from atento.training.events import FINISH, PAUSE, REQUEST, Event, EventCallback, InterruptHandler
from atento.writing import write_atomically

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_TO_SAVE = 20.0
NOT_BEGUN = "stopped before it began"


class Worker(Protocol):
    """A job that was started somewhere."""

    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""

    def ask_to_save(self) -> None:
        """Ask it to save and stop."""

    def wait(self, seconds: float) -> None:
        """Wait for its end, insist on it after so long, and let go of what it used."""


@dataclass
class Job:
    """One run to be made: its name, recipe and folder."""

    name: str
    recipe: Path
    folder: Path
    trial: bool = False  # of a search: validated, never tested
    failed: str = ""
    worker: Worker | None = None
    events: int = 0  # which file of events is read: a resumed run writes a new one
    read: int = 0  # bytes of it already passed on
    told: bool = False  # to finish

    @property
    def log(self) -> Path:
        """Where its process says what went wrong."""
        return self.recipe.with_suffix(".log")

    def words(self, device: str) -> list[str]:
        """What `python -m atento.worker` is told."""
        return [str(self.recipe), str(self.folder), device, *(["trial"] if self.trial else [])]


class Workers(Protocol):
    """Where jobs run: processes of this machine, or a cluster."""

    name: str  # of the cluster; empty: this machine
    capacity: int  # how many jobs run side by side at most
    device: str  # the type of the device that each has

    def start(self, job: Job, *, slots: int) -> Worker:
        """Start a job, one of so many side by side."""


class LocalWorkers:
    """Processes of this machine: one for each core, or one at a time on a GPU."""

    def __init__(self, device: str) -> None:
        self.name, self.device = "", device
        self.capacity = 1 if device == "cuda" else usable_cores()

    def start(self, job: Job, *, slots: int) -> "LocalWorker":
        """A new process; side by side, each gets one thread."""
        return LocalWorker(job, self.device, threads=1 if slots > 1 else 0)


class LocalWorker:
    """A process of this machine."""

    def __init__(self, job: Job, device: str, *, threads: int) -> None:
        one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} if threads == 1 else {}
        self.folder = job.folder
        self.errors: IO[bytes] = job.log.open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "atento.worker", *job.words(device)],
            env={**os.environ, **one_thread},
            stdin=subprocess.PIPE,  # by which it sees that we have died
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            **own_session(),  # Ctrl-C reaches us alone; we tell the workers
        )

    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self.process.poll()

    def ask_to_save(self) -> None:
        """By a signal, or, where a signal would kill it, by a request in its folder; one that has not begun has nothing
        to save.
        """
        if not ENDS_GENTLY and in_use(self.folder):
            write_atomically(self.folder / REQUEST, PAUSE.encode())
        else:
            self.process.terminate()

    def wait(self, seconds: float) -> None:
        """Wait for its end, insist on it after so long, and close our ends of what it read and said."""
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.errors.close()


def run_all(
    jobs: Sequence[Job], folder: Path, workers: Workers, *, slots: int, watcher: EventCallback, what: str = "comparison"
) -> None:
    """Start each job as a slot becomes free, pass its events on, and note why any failed.

    A request in the folder of the comparison to pause stops them all, one to finish ends those that run and starts no
    other.
    """
    waiting, running = list(jobs), list[Job]()
    with InterruptHandler(folder) as asked:
        try:
            while waiting or running:
                while waiting and len(running) < slots:
                    running.append(waiting.pop(0))
                    running[-1].worker = workers.start(running[-1], slots=slots)
                time.sleep(SECONDS_BETWEEN_LOOKS)
                for job in list(running):
                    pass_on(job, watcher)
                    code = job.worker.exit_code() if job.worker is not None else None
                    if code is not None:
                        running.remove(job)
                        end(job, code, watcher)
                asked.look()
                if asked.finish:
                    waiting = leave_out(waiting, watcher)
                    finish_all(running)
                if asked.signal:
                    raise Interrupted(asked.signal, f"the {what} was stopped; everything is saved.")
        finally:
            stop_all(running)  # whatever went wrong here, nobody trains on unseen


def pass_on(job: Job, watcher: EventCallback) -> None:
    """Whole new lines of the job's event file."""
    path = job.folder / EVENTS
    if not path.exists():
        return
    with path.open("rb") as file:
        number = os.fstat(file.fileno()).st_ino
        if number != job.events:
            job.events, job.read = number, 0
        file.seek(job.read)
        new = file.read()
    whole = new[: new.rfind(b"\n") + 1]
    job.read += len(whole)
    for line in lines_of(whole.decode()):
        event: Event = json.loads(line)
        watcher({**event, "model": job.name})


def end(job: Job, code: int, watcher: EventCallback) -> None:
    """Note how a job ended."""
    pass_on(job, watcher)
    if job.worker is not None:
        job.worker.wait(SECONDS_TO_SAVE)
    if code:
        log = job.log.read_text(encoding="utf-8", errors="replace").strip() if job.log.exists() else ""
        lines = lines_of(log)
        how = f"exit code {code}" if code > 0 else f"killed by {signal.Signals(-code).name}"
        job.failed = f"{how}: {lines[-1].strip() if 'Traceback' in log else lines[0]}" if lines else how
        watcher({"event": "failed", "model": job.name, "text": job.failed})


def leave_out(waiting: Sequence[Job], watcher: EventCallback) -> list[Job]:
    """Note that jobs are not begun; those that remain have a model already."""
    for job in waiting:
        if not is_finished(job.folder):
            job.failed = NOT_BEGUN
            watcher({"event": "failed", "model": job.name, "text": job.failed})
    return [job for job in waiting if not job.failed]


def finish_all(running: Sequence[Job]) -> None:
    """Pass a request to finish on, once to each process that has begun."""
    for job in running:
        if not job.told and in_use(job.folder):
            write_atomically(job.folder / REQUEST, FINISH.encode())
            job.told = True


def stop_all(running: Sequence[Job]) -> None:
    """Ask every job to save and stop; insist only when it does not."""
    for job in running:
        if job.worker is not None:
            job.worker.ask_to_save()
    for job in running:
        if job.worker is not None:
            job.worker.wait(SECONDS_TO_SAVE)
