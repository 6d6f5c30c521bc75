"""Every built-in set with a pass mark, trained by its own recipe in about a minute on two cores.

    python benchmarks/recipes.py [NAME ...] [--budget 60s]

Prints a table: what was learned by which model, the score, the mark, the time; exits 1 when a mark is missed.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import atento
from atento.data.builtin.catalogue import BUILTIN

HEADINGS = f"{'set':18}{'task':19}{'model':24}{'metric':18}{'score':>8}{'mark':>8}{'seconds':>9}"


def learn(name: str, *, budget: str | None = None, settings: Mapping[str, Any] | None = None) -> bool:
    """Train one set by its recipe and print a line; whether the mark is reached."""
    metric, mark = BUILTIN[name].passes
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run = atento.fit(name, budget=budget, settings=settings or {}, device="cpu", out=Path(folder) / "run")
        value = run.metrics["scores"][metric][0]
        bundle = run.predictor.bundle
        smaller = next(one for one in bundle.task.judging.metrics(bundle.codec) if one.name == metric).smaller_is_better
        model, task = run.recipe.model.name, run.recipe.task
    passed = value <= mark if smaller else value >= mark
    line = f"{name:18}{task:19}{model:24}{metric:18}{value:8.3f}{mark:8.3f}{time.perf_counter() - began:9.0f}"
    print(line + ("" if passed else "  MISSED"), flush=True)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="built-in sets; all with a mark when none is named")
    parser.add_argument("--budget", help="training time of each; its recipe's own when not given")
    options = parser.parse_args()
    names = options.names or [name for name, entry in BUILTIN.items() if entry.passes[0]]
    print(HEADINGS)
    passed = [learn(name, budget=options.budget) for name in names]
    print(f"{sum(passed)} of {len(passed)} recipes reach their mark")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
