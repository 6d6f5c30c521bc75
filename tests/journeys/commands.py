"""The command `atento`, in processes of its own or in this one.

`python -m atento` spends seconds on loading torch. Here a server loads it once and forks: each command is a real
process with its own memory, files and signals, and dies as any other does. A command that only refuses or lists needs
none of these, and runs in the process of the tests.
"""

import contextlib
import hashlib
import io
import itertools
import json
import multiprocessing
import os
import runpy
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple
from unittest import mock

HERE = Path(__file__).parent
PATIENCE = 300.0  # seconds that no command here ever needs, on a machine that does other work too

SIZES = ("--set", "model.hidden=16", "--set", "model.dropout=0.2", "--set", "train.threads=1")
PACE = ("--set", "train.batch_tokens=400", "--set", "train.warmup=20", "--set", "train.checkpoint_every=3")
TO_THE_END = ("--set", "train.steps=33", "--set", "train.validations=1")  # the last weights are the ones kept
EARLY_BEST = (
    "--set",
    "train.steps=33",
    "--set",
    "train.validations=11",
    "--set",
    "train.patience=6",
    "--set",
    "train.ema=0",
    "--set",
    "train.lr=1e-4",
)
OUT_OF_PATIENCE = (  # ends before its last step
    *("--set", "train.steps=33", "--set", "train.validations=11", "--set", "train.patience=7", "--set", "train.ema=0"),
    *("--set", "train.lr=3e-5", "--seed", "2"),
)
ON_ITS_OWN = (
    *TO_THE_END,
    "--set",
    "train.teacher_forcing=linear",
    "--set",
    "train.teacher_forcing_end=0.2",
    "--set",
    "train.sampled_tokens=sampled",
)
IN_STRETCHES = (*ON_ITS_OWN, "--set", "train.bptt_steps=2")
BY_THE_CLOCK = (*TO_THE_END, "--set", "train.checkpoint_every=0")
ENDLESS = ("--set", "train.steps=1000000", "--set", "train.validations=1")

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "atento.cli.app",
        "atento.api.predict",
        "atento.api.report",
        "atento.api.check",
        "atento.api.compare",
        "atento.api.trials",
        "torch._dynamo",
        "pyarrow.parquet",
        "matplotlib.backends.backend_agg",
    ]
)


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        """The one JSON document on standard output; anything else there is an error."""
        return json.loads(self.out)


class Child:
    """A running command."""

    def __init__(self, process, out, err):
        self.process, self.out, self.err = process, out, err

    @property
    def pid(self):
        return self.process.pid

    @property
    def running(self):
        return self.process.is_alive()

    def send(self, number):
        """A signal, if there is still anyone to get it."""
        if self.running:
            os.kill(self.pid, number)

    def wait(self):
        """Until it ends by itself."""
        self.process.join(PATIENCE)
        if self.running:
            self.send(signal.SIGKILL)
            self.process.join()
            raise TimeoutError(f"still running after {PATIENCE:.0f} s; it said {self.err.read_text()!r}")
        return Done(self.process.exitcode, self.out.read_text(encoding="utf-8"), self.err.read_text(encoding="utf-8"))


class Commands:
    """Runs commands and keeps what they say in a folder apart from where they work."""

    def __init__(self, folder):
        self.folder = folder
        self.numbers = itertools.count()
        self.children = []

    def start(self, *arguments, cwd, stdin=os.devnull, terminal="", fault=(), env=None, forks=False):
        """Begin `atento ARGUMENTS`; `fault` names a function of faults.py and its arguments, called first. With `forks`
        the workers of a comparison are forked, too, and cannot be told by their command lines.
        """
        number = next(self.numbers)
        out, err = self.folder / f"{number}.out", self.folder / f"{number}.err"
        out.touch()
        err.touch()
        order = {
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(cwd),
            "env": {"COLUMNS": "120", **(env or {})},
            "files": (str(stdin), str(out), terminal or str(err)),
            "fault": [str(part) for part in fault],
            "forks": forks,
        }
        process = CONTEXT.Process(target=runpy.run_path, args=(str(HERE / "child.py"), {"order": order}))
        process.start()
        self.children.append(Child(process, out, err))
        return self.children[-1]

    def run(self, *arguments, cwd, **options):
        """`atento ARGUMENTS` from start to end."""
        return self.start(*arguments, cwd=cwd, forks=not options.get("fault"), **options).wait()

    def here(self, *arguments, cwd, env=None):
        """`atento ARGUMENTS` in this process; an exception that is no exit escapes."""
        from atento.cli.app import main

        out, err, code = io.StringIO(), io.StringIO(), 0
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with (
                contextlib.chdir(cwd),
                mock.patch.object(sys, "argv", ["atento", *map(str, arguments)]),
                mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())),
                mock.patch.dict(os.environ, {"COLUMNS": "120", **(env or {})}),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return Done(code, out.getvalue(), err.getvalue())

    def close(self):
        """Nobody is left behind."""
        for child in self.children:
            child.send(signal.SIGKILL)
            child.process.join()


def snapshot(folder):
    """Every file in a folder with its content's SHA-256: equal before and after means nothing was written."""
    return {str(path.relative_to(folder)): digest(path) if path.is_file() else "" for path in folder.rglob("*")}


def digest(path):
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def until(condition, *, what, child=None):
    """Wait for something to become true, at most as long as the child runs that is to bring it about; its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ended = child is not None and not child.running
        found = condition()
        if found:
            return found
        if ended:
            raise RuntimeError(f"ended before {what}: {child.wait()}")
        time.sleep(0.005)
    raise TimeoutError(f"waited {PATIENCE:.0f} s for {what}")


def processes_about(folder):
    """The numbers of running processes whose command names this folder."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            words = (place / "cmdline").read_bytes().split(b"\0") if place.name.isdigit() else []
        except OSError:  # it has just ended
            continue
        if any(word.decode(errors="replace").startswith(str(folder)) for word in words):
            found.append(int(place.name))
    return found
