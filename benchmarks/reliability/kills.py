"""F2: no acknowledged checkpoint is lost by a kill, none is unreadable, and no temporary file outlives the next start.

    python benchmarks/reliability/kills.py [--count 1000] [--seed 0]

A process saves checkpoints of a small model one after the other and acknowledges each on a pipe when it is safe; it is
killed with `kill -9` at a random moment. The checkpoint in the folder must then be whole, and not older than the last
acknowledged one; the next start takes the folder and removes what a killed write left.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from measure import options, verdict, workshop
from torch import nn

from atento.api.folders import held
from atento.bundle import RECIPE, VOCABULARY
from atento.errors import AtentoError
from atento.spec import Recipe
from atento.training import new_learner, save_checkpoint
from atento.training.checkpoints import check_checkpoint


def save_for_ever(folder: Path, first: int, pipe: int) -> None:
    """Take the folder, as a start does, and save checkpoints until the end comes."""
    learner = new_learner(nn.Linear(61, 67), Recipe())
    with held(folder):
        if any(folder.glob("*.tmp")):
            os._exit(3)
        for step in range(first, first + 10**9):
            learner.progress.step = step
            save_checkpoint(folder, learner, fingerprint="f")
            os.write(pipe, step.to_bytes(8, "little"))


def killed(folder: Path, first: int, delay: float) -> tuple[int, int]:
    """Save, kill after a while; the last acknowledged step, and how the process ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        save_for_ever(folder, first, writing)
    os.close(writing)
    acknowledged = os.read(reading, 8)  # it has begun
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    content = acknowledged
    while more := os.read(reading, 2**16):
        content += more
    os.close(reading)
    last = content[len(content) // 8 * 8 - 8 :][:8]
    return int.from_bytes(last, "little"), ended


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=1000)
    chance, threads = random.Random(given.seed), torch.get_num_threads()
    torch.set_num_threads(1)
    lost, unreadable, left, mid_write, step = 0, 0, 0, 0, 0
    with workshop() as folder:
        (folder / RECIPE).write_text("")
        (folder / VOCABULARY).write_text("{}")
        for _ in range(given.count):
            acknowledged, ended = killed(folder, step + 1, chance.uniform(0.0, 0.02))
            left += ended == 3
            mid_write += any(folder.glob("*.tmp"))
            try:
                step = int(json.loads(check_checkpoint(folder)["progress"])["step"])
            except AtentoError as error:
                unreadable += 1
                print(error, file=sys.stderr)
                continue
            lost += step < acknowledged
        with held(folder):
            left += any(folder.glob("*.tmp"))
    torch.set_num_threads(threads)
    figure = f"{given.count} kills ({mid_write} in the middle of a write): {lost} lost, {unreadable} unreadable"
    figure += f", {left} left a file"
    return verdict("F2", figure, "1,000 kills, 0 lost, 0 unreadable, 0 left", met=not (lost or unreadable or left))


if __name__ == "__main__":
    sys.exit(main())
