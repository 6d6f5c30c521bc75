"""F13, and F1 with two processes: a rank that is killed ends the others soon, which name it and the command to resume;
the run then ends as the whole one does, bit for bit.

    python benchmarks/reliability/killed_ranks.py [--count 48] [--seed 0]

`atento train --devices 2`, by DDP and by FSDP2; `kill -9` of either rank at a random moment after a checkpoint, up to
three times in one run. The run goes on by the very command that the message gives.
"""

import os
import random
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure import Trainings, options, parts_of, verdict, workshop

RUNS = (("rnn", "ddp"), ("lstm+additive", "fsdp"), ("gru+dot", "ddp"), ("transformer", "fsdp"))
SECONDS = 5.0  # in which the others must have ended
BOUNDS = "TO_THE_END"


def killed(parts: Any, faults: dict[str, Any], child: Any, run: Path, rank: int, delay: float) -> float | None:
    """Kill a rank after the next checkpoint; the seconds until all have ended, None where they had ended before."""
    path, before = run / "checkpoint.safetensors", checkpoint_time(run)
    parts.until(lambda: not child.running or (path.exists() and checkpoint_time(run) != before), what="a checkpoint")
    time.sleep(delay)
    try:
        os.kill(faults["process_of_rank"](child.pid, rank), signal.SIGKILL)
    except (AssertionError, ProcessLookupError):  # it has just ended
        return None
    began = time.perf_counter()
    child.wait()
    return time.perf_counter() - began


def checkpoint_time(run: Path) -> int:
    """When the checkpoint in a folder was written; 0 where there is none."""
    try:
        return (run / "checkpoint.safetensors").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=48)
    chance = random.Random(given.seed)
    resume, faults = parts_of("journeys/test_resume.py"), parts_of("training/distributed/test_faults.py")
    kills, runs, different, silent, took = 0, 0, 0, 0, list[float]()
    with workshop() as folder:
        trainings, whole = Trainings(folder), dict[tuple[str, str], Path]()
        parts, commands = trainings.parts, trainings.commands
        parts.PATIENCE = 600.0  # three processes start for each command, on a machine that may be busy
        while kills < given.count:
            model, strategy = RUNS[runs % len(RUNS)]
            words = (*trainings.words(model, BOUNDS), "--devices", "2", "--strategy", strategy)
            if (model, strategy) not in whole:
                place = Path(tempfile.mkdtemp(dir=folder))
                done = commands.run(*words, "--out", "run", cwd=place)
                if done.code:
                    raise RuntimeError(done.err)
                whole[model, strategy] = place / "run"
            place, again = Path(tempfile.mkdtemp(dir=folder)), (*words, "--out", "run")
            for _ in range(min(3, given.count - kills)):
                rank = chance.randrange(2)
                child = commands.start(*again, cwd=place)
                seconds = killed(parts, faults, child, place / "run", rank, chance.uniform(0, 0.05))
                if seconds is None:
                    break
                kills, took = kills + 1, [*took, seconds]
                said = child.wait().err
                named = f"rank {rank} was killed by SIGKILL" in said and "go on with: atento train" in said
                silent += not named
                if not named:
                    print(said, file=sys.stderr)
                    break
                again = tuple(shlex.split(said.rpartition("go on with: atento ")[2]))
            done = commands.run(*again, cwd=place) if child.wait().code else child.wait()
            same = done.code == 0 and resume["same_run"](parts, place / "run", whole[model, strategy])
            different += not (same and not resume["leftovers"](place))
            runs += 1
            said = f"{kills} kills, {runs} runs, {different} of them different, {silent} not named"
            print(f"{said}, the last end took {took[-1]:.1f} s", file=sys.stderr, flush=True)
        commands.close()
    late = sum(seconds > SECONDS for seconds in took)
    figure = f"{kills} ranks killed in {runs} runs of two processes: {different} ended differently, {silent} not named"
    figure += f", the slowest end of the others took {max(took):.1f} s, {late} over 5 s"
    met = not (different or silent or late)
    return verdict("F13", figure, "all named with the command, within 5 s, none different", met=met)


if __name__ == "__main__":
    sys.exit(main())
