"""Several runs at once, each in a process of its own (`atento.worker`); one that fails neither stops the others nor
hides its reason.
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
from typing import IO

from atento.api.folders import in_use
from atento.bundle import EVENTS, is_finished
from atento.errors import Interrupted
from atento.lines import lines_of
from atento.system import ENDS_GENTLY, own_session
from atento.training.events import FINISH, PAUSE, REQUEST, Event, EventCallback, InterruptHandler
from atento.writing import write_atomically

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_TO_SAVE = 20.0
NOT_BEGUN = "stopped before it began"


@dataclass
class Job:
    """One run to be made: its name, recipe and folder."""

    name: str
    recipe: Path
    folder: Path
    failed: str = ""
    process: "subprocess.Popen[bytes] | None" = None
    errors: IO[bytes] | None = None
    events: int = 0  # which file of events is read: a resumed run writes a new one
    read: int = 0  # bytes of it already passed on
    told: bool = False  # to finish


def run_all(jobs: Sequence[Job], folder: Path, *, slots: int, device: str, watcher: EventCallback) -> None:
    """Start each job as a slot becomes free, pass its events on, and note why any failed.

    A request in the folder of the comparison to pause stops them all, one to finish ends those that run and starts no
    other.
    """
    waiting, running = list(jobs), list[Job]()
    with InterruptHandler(folder) as asked:
        try:
            while waiting or running:
                while waiting and len(running) < slots:
                    running.append(start(waiting.pop(0), slots=slots, device=device))
                time.sleep(SECONDS_BETWEEN_LOOKS)
                for job in list(running):
                    pass_on(job, watcher)
                    if job.process is not None and job.process.poll() is not None:
                        running.remove(job)
                        end(job, watcher)
                asked.look()
                if asked.finish:
                    waiting = leave_out(waiting, watcher)
                    finish_all(running)
                if asked.signal:
                    raise Interrupted(asked.signal, "the comparison was stopped; everything is saved.")
        finally:
            stop_all(running)  # whatever went wrong here, nobody trains on unseen


def start(job: Job, *, slots: int, device: str) -> Job:
    """A new process; side by side, each gets one thread."""
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} if slots > 1 else {}
    job.errors = job.recipe.with_suffix(".log").open("wb")
    job.process = subprocess.Popen(
        [sys.executable, "-m", "atento.worker", str(job.recipe), str(job.folder), device],
        env={**os.environ, **threads},
        stdin=subprocess.PIPE,  # by which it sees that we have died
        stdout=subprocess.DEVNULL,
        stderr=job.errors,
        **own_session(),  # Ctrl-C reaches us alone; we tell the workers
    )
    return job


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


def end(job: Job, watcher: EventCallback) -> None:
    """Note how a process ended."""
    pass_on(job, watcher)
    close_streams(job)
    code = job.process.returncode if job.process is not None else 0
    if code:
        log = job.recipe.with_suffix(".log").read_text(encoding="utf-8", errors="replace").strip()
        lines = lines_of(log)
        how = f"exit code {code}" if code > 0 else f"killed by {signal.Signals(-code).name}"
        job.failed = f"{how}: {lines[-1].strip() if 'Traceback' in log else lines[0]}" if lines else how
        watcher({"event": "failed", "model": job.name, "text": job.failed})


def close_streams(job: Job) -> None:
    """Close our ends of what a process that has ended read and said."""
    if job.process is not None and job.process.stdin is not None:
        job.process.stdin.close()
    if job.errors is not None:
        job.errors.close()


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


def ask_to_save(job: Job) -> None:
    """Ask a process to save and stop: by a signal, or, where a signal would kill it, by a request in its folder; one
    that has not begun has nothing to save.
    """
    if job.process is None:
        return
    if not ENDS_GENTLY and in_use(job.folder):
        write_atomically(job.folder / REQUEST, PAUSE.encode())
    else:
        job.process.terminate()


def stop_all(running: Sequence[Job]) -> None:
    """Ask every process to save and stop; insist only when it does not."""
    for job in running:
        ask_to_save(job)
    for job in running:
        if job.process is not None:
            try:
                job.process.wait(timeout=SECONDS_TO_SAVE)
            except subprocess.TimeoutExpired:
                job.process.kill()
                job.process.wait()
        close_streams(job)
