"""F14: Ctrl-C and SIGTERM save within 2 s and end with 130 or 143; the resumed run is bit-identical.

python benchmarks/reliability/interrupts.py [--count 24] [--seed 0]
"""

import random
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from measure import Trainings, options, parts_of, verdict, workshop

RUNS = (
    ("rnn", "EARLY_BEST"),
    ("lstm+additive", "TO_THE_END"),
    ("gru+dot", "TO_THE_END"),
    ("transformer", "TO_THE_END"),
)
MOST_SECONDS = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=24)
    chance, resume = random.Random(given.seed), parts_of("journeys/test_resume.py")
    tried, wrong, slowest = 0, 0, 0.0
    with workshop() as folder:
        trainings = Trainings(folder)
        processes, commands = trainings.parts, trainings.commands
        while tried < given.count:
            model, bounds = RUNS[tried % len(RUNS)]
            number = (signal.SIGINT, signal.SIGTERM)[tried // len(RUNS) % 2]
            place = Path(tempfile.mkdtemp(dir=folder))
            child = commands.start(*trainings.words(model, bounds), "--out", "run", cwd=place)
            checkpoint = place / "run" / "checkpoint.safetensors"
            processes.until(checkpoint.exists, what="a checkpoint", child=child)
            time.sleep(chance.uniform(0, 0.03))
            sent = time.perf_counter()
            child.send(number)
            stopped = child.wait()
            took = time.perf_counter() - sent
            if stopped.code == 0:  # it had ended already
                continue
            tried += 1
            slowest = max(slowest, took)
            again = shlex.split(stopped.err.partition("go on with: ")[2])[1:]
            done = commands.run(*again, cwd=place) if again else stopped
            same = done.code == 0 and resume["same_run"](processes, place / "run", trainings.whole(model, bounds))
            if stopped.code != 128 + number or not same:
                wrong += 1
                print(f"{model}, {number.name}: exit code {stopped.code}, same {same}: {stopped.err}", file=sys.stderr)
        commands.close()
    figure = f"{tried} signals: {wrong} ended or resumed wrongly, the slowest end took {slowest:.2f} s"
    target = f"130 and 143 within {MOST_SECONDS:.0f} s, resumed bit for bit"
    return verdict("F14", figure, target, met=not wrong and slowest <= MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
