"""Whether what a board says of more time comes true: each model is trained for a budget, for twice and for ten times as
long, and the values of the longer runs are looked for in the intervals that the shortest run gave.

    python benchmarks/learning_curves.py FILE=MODEL[,MODEL…] … [--budget 20] [--jobs 2] [--share 0.8]

FILE may be a built-in set. At least `--share` of the pairs must be right; the exit code is 1 where fewer are.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from atento.api.comparison.more_time import FACTORS, project
from atento.metrics import EXACT_MATCH
from atento.views.report.board import Row

ONE_RUN = """
import json, sys
import atento
data, model, budget, out = sys.argv[1:]
run = atento.fit(data, model=model, budget=float(budget), settings={"train.threads": 1, "train.baselines": False},
                 device="cpu", out=out, verbose=False)
print(json.dumps(run.metrics))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="FILE=MODEL,…")
    parser.add_argument("--budget", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--share", type=float, default=0.8)
    asked = parser.parse_args()
    chosen = [(pair.rpartition("=")[0], model) for pair in asked.pairs for model in pair.rpartition("=")[2].split(",")]
    budgets = [asked.budget * factor for factor in (1, *FACTORS)]
    plans = [(data, model, budget) for budget in reversed(budgets) for data, model in chosen]  # the longest first
    with tempfile.TemporaryDirectory() as folder:
        found = run_all(plans, asked.jobs, Path(folder))
    right = told = 0
    for data, model in chosen:
        first, *longer = [found.get((data, model, budget)) for budget in budgets]
        for factor, later, expected in zip(FACTORS, longer, expectations(first), strict=True):
            if later is None or expected is None:
                print(f"{Path(data).name} {model}, {factor} times: nothing is said")
                continue
            value = later["scores"][later["metric"]][0]
            inside = expected["low"] <= value <= expected["high"]
            told, right = told + 1, right + inside
            said = f"{expected['value']:.4f} ({expected['low']:.4f}–{expected['high']:.4f})"
            verdict = "in" if inside else "OUT"
            print(f"{Path(data).name} {model}, {factor} times: {said}, measured {value:.4f}: {verdict}")
    share = right / told if told else 0.0
    verdict = "met" if share >= asked.share else "MISSED"
    print(f"{right} of {told} in their interval, {share:.0%}; goal {asked.share:.0%}: {verdict}")
    return 0 if share >= asked.share else 1


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
