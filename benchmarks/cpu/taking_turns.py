"""Sides of a comparison in processes of their own that work in turn: what the parent does, and what a side does.

The parent starts a file with a task, waits for each line of JSON that the side writes, and answers with a line when
the side may go on. A side that waits uses no processor time, so that all can stand by, ready, while one works.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

Facts = dict[str, Any]  # a task, or what a side found

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
GROWTH = 1.15  # of the time of training, from one look at its quality to the next


class Side:
    """A process that runs one file of benchmarks/cpu/peers, seen from its parent."""

    def __init__(self, name: str, file: str, task: Mapping[str, Any], folder: Path) -> None:
        place = folder / f"{len(list(folder.iterdir()))}-{file}"
        place.mkdir()
        self.name, self.log = name, place / "log"
        paths = [str(ROOT / "src"), str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "OMP_NUM_THREADS": "1",
            "KERAS_BACKEND": "torch",
            "CUDA_VISIBLE_DEVICES": "",
            "HF_HUB_OFFLINE": "1",
        }
        with self.log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, str(FOLDER / "peers" / f"{file}.py")],
                env=environment, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        self.say(json.dumps(task))

    def say(self, line: str) -> None:
        """Write a line to the side."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> Facts:
        """What the side says next; its log where it ended instead."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended:\n{self.log.read_text(errors='replace')[-2000:]}")
        found: Facts = json.loads(line)
        return found

    def go_on(self) -> Facts:
        """Let the side work until it says something."""
        self.say("go")
        return self.hear()

    def end(self) -> None:
        """Stop the process."""
        self.process.kill()
        self.process.wait()


class Turns:
    """What a side hears and says; whatever a library prints goes to the log."""

    def __init__(self) -> None:
        self.out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        self.task: Facts = json.loads(sys.stdin.readline())

    def say(self, **facts: object) -> None:
        """Tell the parent, and wait until it is this side's turn again; the process ends where no turn comes."""
        self.out.write(json.dumps(facts) + "\n")
        self.out.flush()
        if not sys.stdin.readline():
            os._exit(0)


class StepClock:
    """Processor seconds of a training, seen from a hook that is called after each step.

    Where speed is asked for, the side tells the seconds of every few steps, once it is warm. Where quality is asked
    for, training is judged from time to time, by `judge` or by the library's own validation, which is not counted.
    """

    def __init__(self, turns: Turns, *, judge: Callable[[], float] | None = None) -> None:
        self.turns, self.judge, self.is_speed = turns, judge, "chunk" in turns.task
        self.warm, self.chunk = int(turns.task.get("warm", 0)), int(turns.task.get("chunk", 1))
        self.steps, self.uncounted, self.next_look = 0, 0.0, 2.0
        self.losses: list[float] = []
        self.began = self.chunk_began = self.paused_at = time.process_time()

    def __deepcopy__(self, memo: object) -> "StepClock":
        """A library that copies its options keeps the clock."""
        return self

    @property
    def seconds(self) -> float:
        """Of training so far."""
        return time.process_time() - self.began - self.uncounted

    def step(self, loss: float | None = None) -> None:
        """A step has been taken."""
        self.steps += 1
        if loss is not None:
            self.losses.append(loss)
        if self.is_speed:
            self.after_chunk()
        elif self.judge is not None and self.seconds >= self.next_look:
            self.pause()
            self.resume(self.judge())

    def after_chunk(self) -> None:
        """Tell how long a chunk of steps took."""
        done = self.steps - self.warm
        if done < 0 or done % self.chunk:
            return
        took = time.process_time() - self.chunk_began
        self.turns.say(seconds=took if done else None, losses=self.losses[-self.chunk :])
        self.chunk_began = time.process_time()

    def pause(self) -> None:
        """From here on a validation runs, which is no training."""
        self.paused_at = time.process_time()

    def resume(self, score: float) -> None:
        """The validation has ended: tell its score."""
        seconds = self.paused_at - self.began - self.uncounted
        if not self.is_speed:
            self.turns.say(seconds=seconds, steps=self.steps, score=score)
        self.next_look = max(seconds + 1, GROWTH * seconds)
        self.uncounted += time.process_time() - self.paused_at


def decode_in_turn(turns: Turns, decode: Callable[[list[str]], list[list[int]]]) -> None:
    """Decode a file batch by batch, one a turn, and tell seconds, lengths and tokens; the first batch warms up."""
    lines, size = Path(turns.task["sources"]).read_text().splitlines(), turns.task["batch"]
    decode(lines[:size])
    turns.say(ready=True)
    for start in range(0, len(lines), size):
        began = time.process_time()
        found = decode(lines[start : start + size])
        turns.say(seconds=time.process_time() - began, lengths=[len(one) for one in found], texts=found)


class Contestant(NamedTuple):
    """A side by the name it has in the table, its file, and the modules it needs."""

    name: str
    file: str
    needs: tuple[str, ...] = ()


def missing(side: Contestant) -> str:
    """A module that a side needs and that is not installed; empty where all are here."""
    return next((name for name in side.needs if find_spec(name) is None), "")


def interleaved(sides: Sequence[Side], *, rounds: int) -> dict[str, float]:
    """The fewest seconds of each side for what it does in a turn; sides work in turn. Losses must be finite."""
    best = {side.name: float("inf") for side in sides}
    for side in sides:
        side.hear()
    for _ in range(rounds):
        for side in sides:
            found = side.go_on()
            assert all(abs(loss) < 1e6 for loss in found.get("losses", [])), f"{side.name}: {found}"
            best[side.name] = min(best[side.name], float(found["seconds"]))
    return best


class Reached(NamedTuple):
    """When a side was good enough, in processor seconds of training; or that it was not by then."""

    seconds: float
    score: float
    in_time: bool


def time_to(side: Side, *, enough: Callable[[float], bool], bound: float) -> Reached:
    """Let a side train until it is good enough, or the bound is passed."""
    found = side.hear()
    while not enough(found["score"]) and found["seconds"] < bound:
        found = side.go_on()
    return Reached(found["seconds"], found["score"], enough(found["score"]))


@contextmanager
def running(
    contestants: Sequence[Contestant], tasks: Callable[[Contestant], Mapping[str, Any]]
) -> Iterator[list[Side]]:
    """The processes of several sides, in a temporary folder; they are ended afterwards."""
    with tempfile.TemporaryDirectory() as name:
        sides = [Side(one.name, one.file, tasks(one), Path(name)) for one in contestants]
        try:
            yield sides
        finally:
            for side in sides:
                side.end()
