"""A day of a user, in one process on a system that lacks what only POSIX has; it prints what was found as JSON.

python other_system.py PAIRS, in an empty folder.
"""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import atento
from atento import system
from atento.api.folders import RECIPES, held, in_use
from atento.bundle import CHECKPOINT, WEIGHTS, digest_of, is_finished
from atento.cli.compare import tell_result
from atento.errors import InputError, Interrupted
from atento.studio import jobs
from atento.training.events import PAUSE, REQUEST

PAIRS = sys.argv[1]
SMALL = {"train.steps": 300, "train.threads": 1, "train.validations": 6, "model.hidden": 8, "train.batch_tokens": 400}
JOB = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
found = {"posix": system.fcntl is not None or system.ENDS_GENTLY, "memory": system.usable_memory() > 2**28}


class Enough(Exception):
    """Raised by a callback, as Ctrl-C would be."""


def train(folder, **options):
    return atento.fit(PAIRS, model="gru", settings=SMALL, seed=7, out=folder, device="cpu", **options)


def same(one, other):
    return digest_of(Path(one, WEIGHTS)) == digest_of(Path(other, WEIGHTS))


whole = train("whole")
found["peak"] = whole.metrics["peak_mb"]
found["answers"] = atento.load("whole").predict(["abcd"]) == whole.predict(["abcd"])

with held(Path("taken")):
    try:
        train("taken")
    except InputError as error:
        found["conflict"] = [in_use(Path("taken")), error.problem]
found["free again"] = not in_use(Path("taken"))


def ask(event):
    if event["event"] == "start":
        Path("paused", REQUEST).write_text(PAUSE, encoding="utf-8")


with suppress(Interrupted):
    train("paused", on_event=ask)
found["saved"] = Path("paused", CHECKPOINT).exists()
train("paused", resume=True)
found["resumed"] = same("paused", "whole")


def compare(**options):
    return atento.compare(PAIRS, models=["gru", "rnn"], settings=SMALL, seed=7, device="cpu", out="both", **options)


learning = set()


def enough(event):
    if event["event"] == "validation":
        learning.add(event["model"])
    if learning == {"gru", "rnn"}:  # both are in the middle of their work
        raise Enough


with suppress(Enough):
    compare(on_event=enough)
logs = {name: Path("both", RECIPES, f"{name}.log").read_text(encoding="utf-8") for name in ("gru", "rnn")}
saved = [name for name, text in logs.items() if "everything is saved" in text]  # one may have ended before the other
found["stopped"] = [saved != [], all(name in saved or is_finished(Path("both", name)) for name in logs)]
board = compare(resume=True)
found["compared"] = sorted(row.model for row in board.rows if not row.baseline and not row.failed)
found["the same"] = same("both/gru", "whole")
tell_result(board)

words = [sys.executable, "-m", "atento", "train", PAIRS, "--model", "gru", "--seed", "7", "--device", "cpu", *JOB]
job = Path("runs/job")
jobs.start([*words, "--out", str(job)], job)
found["another start"] = in_use(job)
while in_use(job):
    time.sleep(0.05)
found["job"] = [jobs.failure_of(job), same(job, "whole")]
print(json.dumps(found))
