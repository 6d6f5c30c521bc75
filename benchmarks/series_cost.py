"""What a forecaster costs: one epoch of a plain recurrent network of five units, for ever more windows and series.

    python benchmarks/series_cost.py [--windows 10000000] [--limit 1.15]

Every line is a process of its own, from a file on disk to a tested model. Time and memory should grow with the number
of windows, and no faster: the slope of their logarithms over the last three lines is printed last, of memory what is
over the first line.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LOOK_BACK, SHARES = 40, (0.98, 0.01, 0.01)
SETTINGS = {
    "data.look_back": LOOK_BACK,
    "data.horizon": 1,
    "data.split": "/".join(f"{100 * share:g}" for share in SHARES),
    "model.hidden": 5,
    "train.epochs": 1,
    "train.batch_tokens": 1024 * LOOK_BACK,
    "train.validations": 1,
}
TRAIN = """
import json, resource, sys, time
import atento.api, torch._dynamo  # what is loaded once is not what windows cost
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
began = time.perf_counter()
run = atento.api.fit(sys.argv[1], task="forecast", model="rnn", out=sys.argv[2], settings=json.loads(sys.argv[3]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
print(json.dumps({"seconds": time.perf_counter() - began, "epoch": run.metrics["seconds"], "peak": peak - before,
                  "windows": run.metrics["examples_per_second"] * run.metrics["seconds"],
                  "mse": run.metrics["scores"]["mse"][0]}))
"""


def write(path: Path, series: int, windows: int) -> None:
    """Noisy waves, so many series and about so many windows to train on, as float32."""
    rows = math.ceil((windows / series + LOOK_BACK) / SHARES[0])
    chance = np.random.default_rng(0)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(series, rows, 1))
    for at in range(series):
        wave = np.sin(np.arange(rows) * (2 * np.pi / chance.uniform(15, 40)))
        array[at, :, 0] = wave + chance.normal(scale=0.1, size=rows)
    array.flush()


def measure(series: int, windows: int) -> dict[str, float]:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "waves.npy"
        write(path, series, windows)
        command = [sys.executable, "-c", TRAIN, str(path), str(Path(folder) / "run"), json.dumps(SETTINGS)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def slope(sizes: list[float], costs: list[float]) -> float:
    """Of the logarithms, by least squares: 1 is linear."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=10**7)
    parser.add_argument("--limit", type=float, default=1.15, help="slope of the logarithms that is still linear")
    options = parser.parse_args()
    began, missed = time.perf_counter(), False
    most = round(math.log10(options.windows))
    tables = {
        "windows of one series": [(1, 10**power) for power in range(4, most + 1)],
        "series of 1,000 windows": [(10**power, 10 ** (power + 3)) for power in range(1, most - 2)],
    }
    for title, sizes in tables.items():
        print(f"{title}\n   series      windows   epoch s  windows/s   whole s     MB over   mse")
        lines = []
        for series, windows in sizes:
            found = measure(series, windows)
            lines.append(found)
            rate = found["windows"] / max(found["epoch"], 1e-9)
            print(
                f"{series:>9,} {found['windows']:>12,.0f} {found['epoch']:>9.1f} {rate:>10,.0f}"
                f" {found['seconds']:>9.1f} {found['peak']:>11,.0f}   {found['mse']:.3f}",
                flush=True,
            )
        last = lines[-3:]
        counts = [line["windows"] for line in last]
        for cost, costs in {
            "epoch": [line["epoch"] for line in last],
            "whole": [line["seconds"] for line in last],
            "memory": [max(1.0, line["peak"] - lines[0]["peak"]) for line in last],
        }.items():
            found_slope = slope(counts, costs)
            missed |= found_slope > options.limit
            said = "linear" if found_slope <= options.limit else "MISSED"
            print(f"{cost} grows with windows to the power {found_slope:.2f}, limit {options.limit}: {said}")
    print(f"took {time.perf_counter() - began:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
