"""F1: a run that is killed again and again ends as the whole one does, bit for bit; a careless resume is found out.

    python benchmarks/reliability/resume_after_kills.py [--count 48] [--seed 0]

`kill -9` at random moments, up to three in one run, and in the middle of writes; RNN, LSTM, GRU and Transformer, also
with scheduled sampling, truncated back-propagation and checkpoints by the clock. One process; training over several
processes has checks of its own.
"""

import random
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measure import Trainings, options, parts_of, verdict, workshop

RUNS = (
    ("rnn", "TO_THE_END"), ("lstm+additive", "IN_STRETCHES"), ("gru+dot", "BY_THE_CLOCK"),
    ("transformer", "ON_ITS_OWN"),
    ("rnn", "EARLY_BEST"), ("lstm+additive", "TO_THE_END"), ("transformer", "TO_THE_END"), ("gru+dot", "TO_THE_END"),
)  # fmt: skip
FORGOTTEN = ("random", "position", "optimizer", "step")  # by a careless resume; the schedule follows the step


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=48)
    chance = random.Random(given.seed)
    resume = parts_of("journeys/test_resume.py")
    kills, runs, different, found = 0, 0, 0, 0
    with workshop() as folder:
        trainings = Trainings(folder)
        processes, commands = trainings.parts, trainings.commands
        while kills < given.count:
            model, bounds = RUNS[runs % len(RUNS)]
            place = Path(tempfile.mkdtemp(dir=folder))
            command = (*trainings.words(model, bounds), "--out", "run", "--resume")
            for _ in range(min(3, given.count - kills)):
                if chance.random() < 0.4:  # in the middle of a write: flushes of files are odd, of folders even
                    fault = ("die_at_flush", chance.randrange(1, 12))
                    kills += commands.run(*command, cwd=place, fault=fault).code == -signal.SIGKILL
                else:
                    often = ("save_often",) if bounds == "BY_THE_CLOCK" else ()
                    child = commands.start(*command, cwd=place, fault=often)
                    after, delay = chance.randrange(3), chance.uniform(0, 0.03)
                    kills += resume["kill_after_checkpoints"](processes, child, place / "run", after, delay)
            done = commands.run(*command, cwd=place)
            same = done.code == 0 and resume["same_run"](processes, place / "run", trainings.whole(model, bounds))
            different += not (same and not resume["leftovers"](place))
            runs += 1
            print(f"{kills} kills, {runs} runs, {different} of them different", file=sys.stderr)
        for part in FORGOTTEN:
            place = Path(tempfile.mkdtemp(dir=folder))
            command = (*trainings.words("rnn", "TO_THE_END"), "--out", "run", "--resume")
            commands.run(*command, cwd=place, fault=("die_at_flush", 22))
            commands.run(*command, cwd=place, fault=("forget", part))
            found += not resume["same_run"](processes, place / "run", trainings.whole("rnn", "TO_THE_END"))
        commands.close()
    figure = f"{kills} kills in {runs} runs, {different} ended differently"
    figure += f"; {found} of {len(FORGOTTEN)} careless resumes seen"
    met = not different and found == len(FORGOTTEN)
    return verdict("F1", figure, "48 kills, none different, all careless resumes seen", met=met)


if __name__ == "__main__":
    sys.exit(main())
