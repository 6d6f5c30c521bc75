"""What every quality script prints: the figure beside its simple baseline, what was published, and the target."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import torch

import atento


class Figure(NamedTuple):
    """One model on one set; several values are of several seeds."""

    model: str
    values: Sequence[float]
    baseline: bool = False

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return mean(self.values)

    def __str__(self) -> str:
        error = stdev(self.values) / len(self.values) ** 0.5 if len(self.values) > 1 else 0.0
        seeds = f" ± {error:.4f} over {len(self.values)} seeds" if error else ""
        return f"{self.mean:.4f}{seeds}"


class Target(NamedTuple):
    """What a line of the quality table asks; `least` unless smaller is better."""

    metric: str
    value: float
    published: str
    smaller_is_better: bool = False
    strict: bool = False  # better than the value, not equal to it

    def met(self, figure: float) -> bool:
        """Whether a figure reaches it."""
        gap = self.value - figure if self.smaller_is_better else figure - self.value
        return gap > 0 if self.strict else gap >= 0

    def __str__(self) -> str:
        sign = ("<" if self.smaller_is_better else ">") + ("" if self.strict else "=")
        return f"{self.metric} {sign} {self.value}"


def arguments(
    summary: str, *, budget: str = "10m", seeds: int = 1, folder: bool = True, **choices: Sequence[str]
) -> argparse.Namespace:
    """The options that all scripts share; a built-in set has no folder. `choices` are options of one script, each with
    its values, the first by default.
    """
    parser = argparse.ArgumentParser(description=summary)
    if folder:
        parser.add_argument("folder", type=Path, help="the folder of the set")
    parser.add_argument("--budget", default=budget, help="training time of each model")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--models", default="", help="names with commas; empty: the ones the script compares")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    for name, values in choices.items():
        parser.add_argument(f"--{name}", default=values[0], choices=values)
    parser.add_argument("--out", type=Path, default=Path("runs/quality"))
    return parser.parse_args()


def on_gpu(options: argparse.Namespace) -> bool:
    """Which column of the quality table is asked."""
    return bool(options.device == "cuda" or (options.device == "auto" and torch.cuda.is_available()))


def settle(line: str, figures: Sequence[Figure], target: Target, *, missed: bool = False, **facts: Any) -> None:
    """Print the table and the verdict, then end: 0 when the best trained model meets the target, 1 when it does not or
    the script found another mark of this line `missed`.
    """
    trained = [figure for figure in figures if not figure.baseline]
    better = min if target.smaller_is_better else max
    best = better(trained, key=lambda figure: figure.mean)
    print(f"{line}: {target.metric} (published: {target.published})")
    for figure in figures:
        print(f"  {figure.model:32} {figure}{'   simple baseline' if figure.baseline else ''}")
    simple = [figure for figure in figures if figure.baseline]
    if simple and better(figures, key=lambda figure: figure.mean).baseline:
        print("  the simple baseline wins")
    met = target.met(best.mean) and not missed
    print(f"{best.model} {best.mean:.4f}, target {target}: {'met' if met else 'MISSED'}")
    print(json.dumps({"line": line, "target": str(target), "met": met, "atento": atento.__version__, **facts}))
    sys.exit(0 if met else 1)
