"""F15: scikit-learn's `check_estimator` on every estimator, with at most five declared exceptions each.

    python benchmarks/reliability/estimators.py [--count 0]

`--count` takes the first so many estimators; 0 takes all.
"""

import os
import subprocess
import sys
from collections.abc import Sequence

from measure import ROOT, options, parts_of, verdict

from atento import estimators

MOST = 5


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=0)
    kinds = estimators.__all__[: given.count or None]
    declared = parts_of("estimators/test_contract.py")["EXCEPTIONS"]
    tests = [f"tests/estimators/test_contract.py::test_scikit_learn_s_own_checks[{kind}]" for kind in kinds]
    home = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-m", "pytest", *tests, "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(words, cwd=ROOT, env=home, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout[-500:], file=sys.stderr)
    exceptions = {kind: len(declared.get(kind, {})) for kind in kinds}
    failed = "all others pass" if done.returncode == 0 else "others FAIL"
    figure = f"{len(kinds)} estimators, at most {max(exceptions.values())} declared exceptions each; {failed}"
    met = done.returncode == 0 and max(exceptions.values()) <= MOST
    return verdict("F15", figure, f"at most {MOST} declared exceptions each, no other failure", met=met)


if __name__ == "__main__":
    sys.exit(main())
