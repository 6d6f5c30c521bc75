"""R18: who remembers how far. Every family on the adding, copy and recall probes against length, beside a constant
guess; then the recipes that solve each probe at its full length on two cores.

`--budget 2m` is what each length of each probe gets for all families together; `--only solved` skips the curves.
Prints how many of the probes are solved last; exits 1 when one is not.
"""

import argparse
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path

import atento
from atento.metrics.estimates import MSE
from atento.metrics.text import EXACT_MATCH
from atento.spec import DataRecipe
from atento.tasks.finding import find_task

MODELS = ("rnn", "lstm", "gru", "lstm+additive", "transformer")
CURVES = {"adding": (25, 50, 100, 200), "copy": (5, 10, 20, 40), "recall": (2, 4, 8, 16)}
SOLVED = [  # probe, length, model, time it gets, least exact or largest squared error (a tenth of a constant guess's)
    ("adding", 200, "gru+additive", "2m", 1 / 60),
    ("copy", 200, "lstm+dot+local", "3m", 0.99),
    ("recall", 64, "gru+dot", "4m", 0.99),
    ("alignment", 12, "gru+dot", "4m", 0.99),
]


def constant_guess(probe: str, length: int) -> float:
    """The mean answer of the training part, or its commonest one, given to every question of the test part."""
    recipe = DataRecipe(train=probe, length=length)
    reading = find_task("auto", recipe)[0].reading.read(recipe, 0)
    targets = [target for _, target in reading.train]
    references = [question.references for question in reading.test]
    if probe == "adding":
        return MSE.value([str(statistics.fmean(map(float, targets)))] * len(references), references)
    return EXACT_MATCH.value([Counter(targets).most_common(1)[0][0]] * len(references), references)


def curves(budget: str) -> None:
    """A table a probe: a row a length, a column a family."""
    for probe, lengths in CURVES.items():
        kind = "squared error" if probe == "adding" else "exact"
        print(f"\n{probe}: {kind} by length, {budget} for all families of a row")
        print(f"{'length':>7}{'constant':>10}" + "".join(f"{model:>15}" for model in MODELS))
        for length in lengths:
            with tempfile.TemporaryDirectory() as folder:
                board = atento.compare(
                    probe,
                    models=MODELS,
                    settings={"data.length": length},
                    budget=budget,
                    device="cpu",
                    out=Path(folder) / "board",
                )
            values = {row.model: row.interval.value for row in board.rows if not row.failed}
            cells = "".join(f"{values.get(model, float('nan')):>15.4f}" for model in MODELS)
            print(f"{length:>7}{constant_guess(probe, length):>10.4f}{cells}", flush=True)


def solved() -> int:
    """How many probes their recipe solves at full length."""
    count = 0
    print("\nat full length")
    for probe, length, model, budget, pass_mark in SOLVED:
        with tempfile.TemporaryDirectory() as folder:
            run = atento.fit(
                probe,
                model=model,
                settings={"data.length": length, "train.threads": 1},
                budget=budget,
                device="cpu",
                out=Path(folder) / "run",
            )
        name = run.metrics["metric"]
        value = run.metrics["scores"][name][0]
        ok = value <= pass_mark if run.metrics["smaller_is_better"] else value >= pass_mark
        count += ok
        facts = f"{name} {value:.3g} (guess {constant_guess(probe, length):.3g}), {run.metrics['seconds']:.0f} s"
        print(f"{probe:10}{length:>4}  {model:16}{facts}   {'solved' if ok else 'NOT SOLVED'}", flush=True)
    print(f"{count} of {len(SOLVED)} probes solved")
    return count


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--budget", default="2m", help="for all families at one length of one probe")
    options.add_argument("--only", choices=["curves", "solved"], help="one half alone")
    chosen = options.parse_args()
    if chosen.only != "solved":
        curves(chosen.budget)
    if chosen.only == "curves":
        return 0
    return 0 if solved() == len(SOLVED) else 1


if __name__ == "__main__":
    sys.exit(main())
