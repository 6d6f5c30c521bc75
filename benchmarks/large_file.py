"""A file larger than memory should be: train a classifier on a JSONL of 2 GB, and print the most memory it took.

    python benchmarks/large_file.py [--gigabytes 2] [--steps 200] [--limit 1.5]

The file is generated beside the temporary files of the system and removed afterwards.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = [
    f"{first}{second}{third}" for first in "bdklmnprst" for second in "aeiou" for third in ("n", "r", "s", "l", "")
]
TRAIN = """
import json, resource, sys, time
import atento
began = time.perf_counter()
run = atento.fit(sys.argv[1], model="gru", out=sys.argv[2],
                 settings={"train.steps": int(sys.argv[3]), "train.validations": 2, "train.threads": 1})
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"peak_gb": peak, "seconds": time.perf_counter() - began, "task": run.recipe.task,
                  "parts": run.metrics["data"]["parts"], "refused": len(run.metrics["data"]["refused"]),
                  "metric": run.metrics["metric"], "value": run.metrics["scores"][run.metrics["metric"]][0]}))
"""


def write(path: Path, size: int) -> int:
    """Opinions of about 200 bytes, whose label is whether a sign word is among them; the rows written."""
    chance, rows, written = random.Random(0), 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            lines: list[str] = []
            for _ in range(2000):
                words = chance.choices(WORDS, k=chance.randint(20, 45))
                label = chance.choice(("good", "bad"))
                words[chance.randrange(len(words))] = "splendid" if label == "good" else "dreadful"
                lines.append(json.dumps({"text": " ".join(words), "label": label, "id": rows + len(lines)}))
            text = "\n".join(lines) + "\n"
            file.write(text)
            rows, written = rows + len(lines), written + len(text)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--limit", type=float, default=1.5, help="gigabytes of memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.jsonl"
        began = time.perf_counter()
        rows = write(path, int(options.gigabytes * 10**9))
        print(f"{rows:,} rows, {path.stat().st_size / 1e9:.2f} GB, written in {time.perf_counter() - began:.0f} s")
        done = subprocess.run(
            [sys.executable, "-c", TRAIN, str(path), str(Path(folder) / "run"), str(options.steps)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout.splitlines()[-1])
    used = sum(found["parts"].values())
    print(f"{found['task']}: {used:,} rows used, {found['refused']} refused, {found['metric']} {found['value']:.3f}")
    print(f"rows in = rows used + refused: {rows == used + found['refused']}")
    print(f"reading, {options.steps} steps and a test took {found['seconds']:.0f} s")
    met = found["peak_gb"] <= options.limit and rows == used + found["refused"]
    print(f"most memory {found['peak_gb']:.2f} GB, limit {options.limit} GB: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
