"""F12: the contracts hold for every layer on random shapes, and planted mistakes are all seen by the tests.

    python benchmarks/reliability/planted_mistakes.py [--count 60] [--seed 0]

The suites of tests/contracts, then that many of the mistakes of tests/mutants, drawn by the seed; `make mutants`
plants all.
"""

import os
import random
import subprocess
import sys
from collections.abc import Sequence

from measure import ROOT, options, verdict


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=60)
    home = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    suites = [sys.executable, "-m", "pytest", "tests/contracts", "-q", "-p", "no:cacheprovider"]
    contracts = subprocess.run(suites, cwd=ROOT, env=home, stdout=subprocess.PIPE, text=True, check=False)
    print(contracts.stdout[-300:], file=sys.stderr)
    sys.path.insert(0, str(ROOT / "tests" / "mutants"))
    import pytest  # noqa: F401 - loaded once, here, for all the children that judge a mutant
    import run  # type: ignore[import-not-found, unused-ignore]
    import torch

    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    every = run.planted()
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    killed = 0
    for mutant in chosen:
        seen, line = run.judge(mutant)
        killed += seen
        print(line, file=sys.stderr, flush=True)
    held = "hold" if contracts.returncode == 0 else "do not hold"
    figure = f"the contracts {held}; {killed} of {len(chosen)} planted mistakes seen, of {len(every)} in all"
    return verdict("F12", figure, "all contracts, 60 of 60", met=contracts.returncode == 0 and killed == len(chosen))


if __name__ == "__main__":
    sys.exit(main())
