"""Whether what a board says of more time comes true: each model is trained for a budget, for twice and for ten times as
long, and the values of the longer runs are looked for in the intervals that the shortest run gave.

    python benchmarks/learning_curves.py FILE=MODEL[,MODEL…] … | FOLDER [--budget 20] [--minutes 30] [--jobs 2]

FILE may be a built-in set. Of a FOLDER every data file is taken, with the models of `--models`, as many as `--minutes`
allow. At least `--share` of the pairs must be right; the exit code is 1 where fewer are. As an interval that holds any
value is right and useless, the median width is printed beside, in units of the gain that the longer run brought.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from atento.api.comparison.more_time import FACTORS, project
from atento.metrics import EXACT_MATCH
from atento.views.report.board import Row

DATA_FILES = {".csv", ".tsv", ".jsonl", ".txt", ".conll", ".conllu"}
ONE_RUN = """
import json, sys
import atento
data, model, budget, out = sys.argv[1:]
run = atento.fit(data, model=model, budget=float(budget), settings={"train.threads": 1, "train.baselines": False},
                 device="cpu", out=out)
print(json.dumps(run.metrics))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="FILE=MODEL,… or FOLDER")
    parser.add_argument("--models", default="gru,transformer", help="of the files of a folder")
    parser.add_argument("--minutes", type=float, default=30.0, help="most time of all runs together")
    parser.add_argument("--budget", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--share", type=float, default=0.8)
    asked = parser.parse_args()
    chosen = [one for pair in asked.pairs for one in runs_of(pair, asked.models.split(","))]
    each = asked.budget * sum((1, *FACTORS)) / asked.jobs
    chosen = chosen[: max(int(60 * asked.minutes / each), 1)]
    budgets = [asked.budget * factor for factor in (1, *FACTORS)]
    plans = [(data, model, budget) for budget in reversed(budgets) for data, model in chosen]  # the longest first
    with tempfile.TemporaryDirectory() as folder:
        found = run_all(plans, asked.jobs, Path(folder))
    right, widths = 0, list[float]()
    for data, model in chosen:
        first, *longer = [found.get((data, model, budget)) for budget in budgets]
        for factor, later, expected in zip(FACTORS, longer, expectations(first), strict=True):
            if first is None or later is None or expected is None:
                print(f"{Path(data).name} {model}, {factor} times: nothing is said")
                continue
            value = later["scores"][later["metric"]][0]
            inside = expected["low"] <= value <= expected["high"]
            right += inside
            gain = abs(value - first["scores"][first["metric"]][0])
            widths.append((expected["high"] - expected["low"]) / gain if gain else math.inf)
            said = f"{expected['value']:.4f} ({expected['low']:.4f}–{expected['high']:.4f})"
            verdict = "in" if inside else "OUT"
            print(f"{Path(data).name} {model}, {factor} times: {said}, measured {value:.4f}: {verdict}")
    told = len(widths)
    share = right / told if told else 0.0
    verdict = "met" if share >= asked.share else "MISSED"
    print(f"{right} of {told} in their interval, {share:.0%}; goal {asked.share:.0%}: {verdict}")
    print(f"median width of an interval: {median(widths or [math.nan]):.1f} times the gain")
    return 0 if share >= asked.share else 1


def runs_of(pair: str, models: Sequence[str]) -> list[tuple[str, str]]:
    """The files and models of one argument: FILE=MODEL,…, or every data file of a folder with the given models."""
    if Path(pair).is_dir():
        files = sorted(path for path in Path(pair).rglob("*") if path.suffix in DATA_FILES)
        return [(str(path), model) for path in files for model in models]
    data, _, named = pair.rpartition("=")
    return [(data, model) for model in named.split(",")]


def run_all(plans: list[tuple[str, str, float]], jobs: int, folder: Path) -> dict[tuple[str, str, float], Any]:
    """The metrics of each run, so many side by side in processes of their own, one thread each."""
    waiting, running = list(enumerate(plans)), list[tuple[tuple[str, str, float], subprocess.Popen[str]]]()
    found: dict[tuple[str, str, float], Any] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            number, plan = waiting.pop(0)
            command = [sys.executable, "-c", ONE_RUN, plan[0], plan[1], str(plan[2]), str(folder / str(number))]
            running.append((plan, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)))
        plan, process = running.pop(0)
        said, wrong = process.communicate()
        if process.returncode:
            print(f"{plan}: {wrong.strip().splitlines()[-1:]}", file=sys.stderr)
        else:
            found[plan] = json.loads(said.splitlines()[-1])
    return found


def expectations(metrics: Any) -> list[Any]:
    """What the first run says of twice and of ten times its time; None where it says nothing."""
    if metrics is None:
        return [None for _ in FACTORS]
    value = metrics["scores"][metrics["metric"]][0]
    row = Row(model="", value=value, seconds=metrics["seconds"], curve=metrics["curve"], other=metrics)
    headline = EXACT_MATCH._replace(smaller_is_better=metrics["smaller_is_better"])
    project([row], headline)
    return list(row.more_time) or [None for _ in FACTORS]


if __name__ == "__main__":
    sys.exit(main())
