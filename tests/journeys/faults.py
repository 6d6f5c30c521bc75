"""What may befall a command: each function is called in its process before it begins."""

import importlib
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from types import SimpleNamespace

import torch


def forget(part):
    """Resume as a careless program would: all is put back but one part."""
    fit = importlib.import_module("atento.api.fit")  # `atento.api.fit` is the function of that name
    whole = fit.load_checkpoint

    def careless(folder, learner, *, fingerprint):
        fresh = torch.get_rng_state()
        whole(folder, learner, fingerprint=fingerprint)
        if part == "position":
            learner.progress.position = 0
        elif part == "random":
            torch.set_rng_state(fresh)
        elif part == "optimiser":
            learner.optimiser.state.clear()
        elif part == "step":
            learner.progress.step = 0
        elif part == "best":
            learner.progress.best = -1.0
        elif part == "stale":
            learner.progress.stale = 0

    fit.load_checkpoint = careless


def die_at_flush(number):
    """`kill -9` in the middle of a write: the bytes are in the file beside, and not yet safe."""
    flush, left = os.fsync, [int(number)]

    def deadly(descriptor):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        flush(descriptor)

    os.fsync = deadly


def full_disk(size):
    """No file may grow beyond so many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))


def fork_workers():
    """The workers of a comparison are forked from it: `python -m atento.api.worker` loads torch for seconds each time.

    A fork is as much a process of its own, with its session, log, signals and code; the comparisons of test_compare.py
    and those called from Python start real ones.
    """
    importlib.import_module("atento.api.side_by_side").subprocess = SimpleNamespace(
        Popen=Forked, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired
    )


class Forked:
    """As much of `subprocess.Popen` as a comparison needs."""

    def __init__(self, command, *, env, stdout, stderr, start_new_session):
        python, option, module, *arguments = command
        assert (python, option, stdout, start_new_session) == (sys.executable, "-m", subprocess.DEVNULL, True)
        order = (module, arguments, env, stderr.fileno())
        self.process = multiprocessing.get_context("fork").Process(target=be_worker, args=order)
        self.process.start()
        self.terminate, self.kill = self.process.terminate, self.process.kill

    @property
    def returncode(self):
        return self.process.exitcode

    def poll(self):
        return self.process.exitcode

    def wait(self, timeout=None):
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("a worker", timeout)
        return self.process.exitcode


def be_worker(module, arguments, env, log):
    """`python -m MODULE ARGUMENTS`, what it says written to its log."""
    os.setsid()
    os.dup2(log, 2)
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.exit(importlib.import_module(module).main(*arguments))
