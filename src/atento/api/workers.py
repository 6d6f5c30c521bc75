"""Several runs at once, each in a process of its own; one that fails neither stops the others nor hides its reason.

A process trains one model of a comparison: python -m atento.api.workers RECIPE FOLDER DEVICE PARENT.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from atento.api.fit import fit
from atento.bundle import EVENTS
from atento.data.files.memory import borrow
from atento.errors import AtentoError, Interrupted
from atento.lines import lines_of
from atento.spec import read_recipe
from atento.training.events import Event, EventCallback, InterruptHandler

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_TO_SAVE = 20.0
SECONDS_WITHOUT_PARENT = 0.7


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


def run_all(jobs: Sequence[Job], *, slots: int, device: str, watcher: EventCallback) -> None:
    """Start each job as a slot becomes free, pass its events on, and note why any failed."""
    waiting, running = list(jobs), list[Job]()
    with InterruptHandler() as asked:
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
                if asked.signal:
                    raise Interrupted(asked.signal, "the comparison was stopped; everything is saved.")
        finally:
            stop_all(running)  # whatever went wrong here, nobody trains on unseen


def start(job: Job, *, slots: int, device: str) -> Job:
    """A new process; side by side, each gets one thread."""
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} if slots > 1 else {}
    job.errors = job.recipe.with_suffix(".log").open("wb")
    job.process = subprocess.Popen(
        [sys.executable, "-m", "atento.api.workers", str(job.recipe), str(job.folder), device, str(os.getpid())],
        env={**os.environ, **threads},
        stdout=subprocess.DEVNULL,
        stderr=job.errors,
        start_new_session=True,  # Ctrl-C reaches us alone; we tell the workers
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
    if job.errors is not None:
        job.errors.close()
    code = job.process.returncode if job.process is not None else 0
    if code:
        log = job.recipe.with_suffix(".log").read_text(encoding="utf-8", errors="replace").strip()
        lines = lines_of(log)
        how = f"exit code {code}" if code > 0 else f"killed by {signal.Signals(-code).name}"
        job.failed = f"{how}: {lines[-1].strip() if 'Traceback' in log else lines[0]}" if lines else how
        watcher({"event": "failed", "model": job.name, "text": job.failed})


def stop_all(running: Sequence[Job]) -> None:
    """Ask every process to save and stop; insist only when it does not."""
    for job in running:
        if job.process is not None:
            job.process.terminate()
    for job in running:
        if job.process is not None:
            try:
                job.process.wait(timeout=SECONDS_TO_SAVE)
            except subprocess.TimeoutExpired:
                job.process.kill()
                job.process.wait()
        if job.errors is not None:
            job.errors.close()


def stop_with_parent(parent: int) -> None:
    """When the comparison dies, save and stop too, within a second; what takes longer ends at its last checkpoint."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_WITHOUT_PARENT)
    os._exit(128 + signal.SIGTERM)


def main(recipe: str, folder: str, device: str, parent: str) -> int:
    """Begin or resume, and say in one line what went wrong."""
    threading.Thread(target=stop_with_parent, args=(int(parent),), daemon=True).start()
    try:
        data = read_recipe(Path(recipe)).data
        held = borrow((data.train, data.valid, data.test), Path(recipe).parent)  # as long as it is trained
        fit(recipe, out=folder, device=device, resume=True)
        del held
    except AtentoError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
