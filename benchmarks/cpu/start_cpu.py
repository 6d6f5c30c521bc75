"""What a user waits for before anything is learned: help, import, the first call of a layer. Seconds, wall clock."""

import os
import subprocess
import sys
import time

from measuring_cpu import Claim, report

FIRST = "import torch; torch.set_num_threads(1); from atento.recurrent import GRU; GRU(8, 64)(torch.randn(32, 96, 8))"


def seconds(*words: str) -> float:
    """The best of five runs in a new process."""
    environment, best = {**os.environ}, float("inf")
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([sys.executable, *words], env=environment, stdout=subprocess.DEVNULL, check=True)
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    bare = 1e3 * seconds("-c", "import torch")
    imported = 1e3 * seconds("-c", "import atento.recurrent")
    called = 1e3 * seconds("-c", FIRST)
    report(
        [
            Claim("atento --help", "half a second", 1e3 * seconds("-m", "atento", "--help"), 500.0, 1.0),
            Claim("import atento.recurrent", "import torch", imported, bare, 0.0),
            Claim("import and a first GRU call", "import torch", called, bare, 0.0),
        ]
    )


if __name__ == "__main__":
    main()
