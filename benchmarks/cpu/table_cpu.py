"""`make bench`: every claim on one core beside its peer, each file in a process of its own, in one table.

    python benchmarks/cpu/table_cpu.py [FILE ...]

A peer that is not installed is named as not measured. Exit 1 if a goal is missed.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).parent
FILES = (
    *("start", "training", "recurrent", "additive", "translation", "learning", "decoding", "forecasting"),
    *("sparse_weights", "windows", "cheaper_attention", "transformer"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help=f"some of {', '.join(FILES)}; all when none is named")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    paths = [str(FOLDER.parents[1] / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    print("| claim | peer | ours | peer's | ratio | goal | pass |\n|---|---|---|---|---|---|---|", flush=True)
    for name in options.files or FILES:
        command = [sys.executable, str(FOLDER / f"{name}_cpu.py")]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            found = list(map(told, filter(is_claim, process.stdout)))
        rows += found
        if not found:
            failed.append(name)
    print(f"\n{processor()}, torch {torch.__version__}, {datetime.now(UTC):%Y-%m-%d}, one thread, float32")
    sys.exit(1 if failed or any(row.get("pass") is False for row in rows) else 0)


def is_claim(line: str) -> bool:
    """Whether a line is a claim as JSON."""
    return line.startswith("{")


def told(line: str) -> dict[str, Any]:
    """A claim, printed as soon as it is measured."""
    row: dict[str, Any] = json.loads(line)
    print(line_of(row), flush=True)
    return row


def line_of(row: dict[str, Any]) -> str:
    """A claim as a line of the table; ≥: the peer was stopped before it was there."""
    start = f"| {row['claim']} | {row['peer']} |"
    if "why" in row:
        return f"{start} – | – | – | – | not measured: {row['why']} |"
    at_least = "≥ " if row["is_bound"] else ""
    unit, ratio = row["unit"], f"{at_least}{row['ratio']:.2f}"
    times = f"{row['ours']:.3g} {unit} | {at_least}{row['peers']:.3g} {unit} | {ratio}"
    verdict = {None: "–", True: "yes", False: "no"}[row["pass"]]
    return f"{start} {times} | {row['goal'] or '–'} | {verdict} |"


def processor() -> str:
    """The processor by name, where the system says it."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().split("\n") if facts.exists() else []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.processor())


if __name__ == "__main__":
    main()
