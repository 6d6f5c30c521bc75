"""F6: damaged data files of every format give a message that names file, line, column and a fix, or are read; no hang.

    python benchmarks/reliability/damaged_files.py [--count 20000] [--seed 0]

Every fifth file has a fault planted at a known line and column, which must be named.
"""

import sys
import time
from collections.abc import Sequence

from measure import options, parts_of, verdict, workshop


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=20_000)
    parts = parts_of("data/mutated_files.py")
    failures, slowest = 0, 0.0
    with workshop() as folder:
        for number in range(given.count):
            seed, start = f"{given.seed} {number}", time.process_time()
            what, run = parts["one_of_all"](number)
            try:
                run(seed, folder)
            except Exception as error:  # noqa: BLE001
                failures += 1
                print(f"{what}, seed {seed!r}: {type(error).__name__}: {error}"[:500], file=sys.stderr)
            slowest = max(slowest, time.process_time() - start)
    figure = f"{given.count} files: {failures} failures, slowest {slowest:.2f} s"
    target = f"no traceback, no place unnamed, at most {parts['LIMIT']:.0f} s"
    return verdict("F6", figure, target, met=not failures and slowest <= parts["LIMIT"])


if __name__ == "__main__":
    sys.exit(main())
