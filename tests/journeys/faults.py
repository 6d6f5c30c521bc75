"""What may befall a command: each function is called in its process before it begins."""

import importlib
import os
import resource
import signal
import sys
from pathlib import Path

import torch


def forget(part):
    """Resume as a careless program would: all is put back but one part."""
    fit = importlib.import_module("atento.api.fit")  # `atento.api.fit` is the function of that name
    whole = fit.load_checkpoint

    def careless(folder, learner, **options):
        fresh = torch.get_rng_state()
        whole(folder, learner, **options)
        if part == "position":
            learner.progress.position = 0
        elif part == "random":
            torch.set_rng_state(fresh)
        elif part == "optimizer":
            learner.optimizer.state.clear()
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


def die_at_removal(name):
    """`kill -9` just before a file of that name is removed."""
    unlink = os.unlink

    def deadly(path, **options):
        if Path(path).name == name and Path(path).exists():
            os.kill(os.getpid(), signal.SIGKILL)
        unlink(path, **options)

    os.unlink = deadly


def save_often():
    """The clock asks for checkpoints all the time."""
    checkpoints = importlib.import_module("atento.training.checkpoints")
    checkpoints.FIRST_SECONDS = checkpoints.MOST_SECONDS = 0.01
    checkpoints.SAVING_TIME = 1.0


def full_disk(size):
    """No file may grow beyond so many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))


def close_input():
    """`<&-`: there is no standard input."""
    os.close(0)
    sys.stdin = None


def full_output():
    """`> /dev/full`: nothing more can be written to standard output."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
