"""Every benchmark of this folder in a process of its own, and one table of all claims; exit 1 if any is missed."""

import json
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch

FILES = (
    *("dot_product", "sigmoid_and_hard", "additive", "windows", "thresholds", "de_attention", "linear"),
    *("recurrent", "bahdanau", "transformer"),
)


def main() -> None:
    rows, failed = [], []
    for name in FILES:
        file = Path(__file__).with_name(f"{name}.py")
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
        found = [json.loads(line) for line in done.stdout.split("\n") if line.startswith("{")]
        rows += found
        print(f"== {name}", *(f"   {line}" for line in done.stdout.rstrip().split("\n")), sep="\n", flush=True)
        if not found:
            failed.append(name)
            print(done.stderr[-2000:], flush=True)
    machine = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {platform.python_version()}"
    print(f"{machine}, {datetime.now(UTC):%Y-%m-%d}\n")
    print("| claim | peer | ours | peer's | ratio | goal | pass |\n|---|---|---|---|---|---|---|")
    for row in rows:
        times = f"{row['ours_ms']:.3g} | {row['peer_ms']:.3g} | {row['ratio']:.2f}"
        print(f"| {row['claim']} | {row['peer']} | {times} | {row['goal']:g} | {'yes' if row['pass'] else 'no'} |")
    sys.exit(1 if failed or not all(row["pass"] for row in rows) else 0)


if __name__ == "__main__":
    main()
