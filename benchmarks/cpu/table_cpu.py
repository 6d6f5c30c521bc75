"""`make bench`: every claim on one core beside its peer, each file in a process of its own, in one table.

A peer that is not installed is named as not measured. Exit 1 if a goal is missed.
"""

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch

FOLDER = Path(__file__).parent
FILES = ("start", "recurrent", "additive", "translation", "sparse_weights", "windows")
IN_THEIR_OWN_WORDS = (FOLDER / "cheaper_attention_cpu.py", FOLDER.parent / "transformer_cpu.py")
PEERS_WITHOUT_A_CLAIM = {  # what stands in the targets and has no benchmark here yet
    "time to 95 % exact, steps/s": "JoeyNMT, OpenNMT-py, Keras, transformers",
    "greedy and beam decoding": "JoeyNMT, CTranslate2",
    "forecasting windows/s": "NeuralForecast, Darts, Keras, skorch",
}


def main() -> None:
    rows, failed = [], []
    paths = [str(FOLDER.parents[1] / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    for name in FILES:
        command = [sys.executable, str(FOLDER / f"{name}_cpu.py")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        found = [json.loads(line) for line in done.stdout.split("\n") if line.startswith("{")]
        rows += found
        print(f"== {name}: {len(found)} claims", flush=True)
        if not found:
            failed.append(name)
            print(done.stderr[-2000:], flush=True)
    print(f"\n{processor()}, torch {torch.__version__}, {datetime.now(UTC):%Y-%m-%d}, one thread, float32, ms\n")
    print("| claim | peer | ours | peer's | ratio | goal | pass |\n|---|---|---|---|---|---|---|")
    for row in rows:
        if "why" in row:
            print(f"| {row['claim']} | {row['peer']} | – | – | – | – | not measured: {row['why']} |")
            continue
        times = f"{row['ours_ms']:.3g} | {row['peer_ms']:.3g} | {row['ratio']:.2f}"
        verdict = {None: "–", True: "yes", False: "no"}[row["pass"]]
        print(f"| {row['claim']} | {row['peer']} | {times} | {row['goal'] or '–'} | {verdict} |")
    for claim, peers in PEERS_WITHOUT_A_CLAIM.items():
        print(f"| {claim} | {peers} | – | – | – | – | not measured: no benchmark yet |")
    for file in IN_THEIR_OWN_WORDS:
        if file.exists():
            print(f"\n== {file.name}", flush=True)
            failed += [file.name] * (
                subprocess.run([sys.executable, str(file)], env=environment, check=False).returncode != 0
            )
    sys.exit(1 if failed or any(row.get("pass") is False for row in rows) else 0)


def processor() -> str:
    """The processor by name, where the system says it."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().split("\n") if facts.exists() else []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.processor())


if __name__ == "__main__":
    main()
