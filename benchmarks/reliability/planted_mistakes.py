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
    import planting  # type: ignore[import-not-found, unused-ignore]

    every = planting.planted()
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    code = "import sys; import run; sys.exit(0 if run.judge(run.planted()[int(sys.argv[1])])[0] else 1)"
    killed = 0
    for mutant in chosen:
        words = [sys.executable, "-c", code, str(every.index(mutant))]
        places = f"{ROOT / 'tests' / 'mutants'}{os.pathsep}{home['PYTHONPATH']}"
        seen = subprocess.run(words, cwd=ROOT, env={**home, "PYTHONPATH": places}, check=False).returncode == 0
        killed += seen
        print(f"{'killed  ' if seen else 'SURVIVED'} {mutant.group}: {mutant.what}", file=sys.stderr)
    held = "hold" if contracts.returncode == 0 else "do not hold"
    figure = f"the contracts {held}; {killed} of {len(chosen)} planted mistakes seen, of {len(every)} in all"
    return verdict("F12", figure, "all contracts, 60 of 60", met=contracts.returncode == 0 and killed == len(chosen))


if __name__ == "__main__":
    sys.exit(main())
