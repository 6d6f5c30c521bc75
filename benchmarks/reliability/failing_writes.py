"""F3: whichever write fails, the command ends with exit code 3 and the last checkpoint that was written is bit-equal.

    python benchmarks/reliability/failing_writes.py [--count 0] [--seed 0]

A run that was stopped is resumed with the n-th operation on a file (open, flush, rename, make a folder) and all after
it failing, for every n from 1 to the last, once with a full disk and once with an input/output error. `--count` takes
that many of them, evenly spaced; 0 takes all.
"""

import errno
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from measure import Trainings, options, parts_of, verdict, workshop

from atento.bundle import CHECKPOINT

FAULTS = (errno.ENOSPC, errno.EIO)


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=0)
    counted = parts_of("cli/test_faults.py")["Counted"]
    tried, wrong = 0, 0
    with workshop() as folder:
        trainings = Trainings(folder)
        command = (*trainings.words("rnn", "TO_THE_END"), "--out", "run", "--resume")
        half = folder / "half"
        half.mkdir()
        trainings.commands.run(*command, cwd=half, fault=("die_at_flush", 2 * (3 + 8)))
        whole = counted()
        resumed(trainings, command, half / "run", folder / "0", whole)
        operations = whole.seen
        step = max(1, -(-2 * operations // given.count)) if given.count else 1
        for case in range(0, 2 * operations, step):
            number, fault = case // 2 + 1, FAULTS[case % 2]
            failing = counted(number, fault)
            code, same = resumed(trainings, command, half / "run", folder / str(case + 1), failing)
            tried += 1
            if code != 3 or not same:
                wrong += 1
                print(f"operation {number}, {os.strerror(fault)}: exit code {code}, same {same}", file=sys.stderr)
        trainings.commands.close()
    figure = f"{tried} failing writes of {2 * operations} possible: {wrong} with another end or another checkpoint"
    return verdict("F3", figure, "every n: exit code 3, the old checkpoint bit-equal", met=not wrong)


def resumed(trainings: Trainings, command: Sequence[str], run: Path, place: Path, counted: Any) -> tuple[int, bool]:
    """The exit code of a resume in which an operation fails, and whether the last whole checkpoint is still there."""
    place.mkdir()
    shutil.copytree(run, place / "run")
    path = place / "run" / CHECKPOINT
    kept = [path.read_bytes()]
    replaced, removed = os.replace, os.unlink

    def replace(source: Any, target: Any, **more: Any) -> None:
        replaced(source, target, **more)
        if Path(target).name == CHECKPOINT:
            kept[0] = Path(target).read_bytes()

    def unlink(target: Any, **more: Any) -> None:
        if Path(target) == path:
            kept[0] = b""  # the run is complete
        removed(target, **more)

    with mock.patch("os.replace", replace), mock.patch("os.unlink", unlink), counted.watch(place):
        code = trainings.commands.here(*command, cwd=place).code
    now = path.read_bytes() if path.exists() else b""
    shutil.rmtree(place)
    return code, now == kept[0]


if __name__ == "__main__":
    sys.exit(main())
