"""`make mutants`: plant every mutant, run the tests of the rows it attacks, and count those that were seen.

The last line gives killed of planted. Names of groups or words of a description choose some of them.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from planting import Mutant, outcome_of, planted

FAILED = 1  # pytest's exit code when a test failed; any other code is no kill
WORKERS = len(os.sched_getaffinity(0))


def judge(mutant: Mutant) -> tuple[bool, str]:
    """Whether a mutant was killed, and a line about it."""
    started = time.perf_counter()
    try:
        code = outcome_of(mutant.tests, mutant.rows, mutant=mutant)
    except ValueError as error:  # the sources have moved on
        return False, str(error)
    killed = code == FAILED
    word = "killed  " if killed else "SURVIVED" if code == 0 else f"exit {code}  "
    took = time.perf_counter() - started
    return killed, f"{word} {mutant.group:<12} {', '.join(mutant.rows) or '–':<14} {mutant.what} ({took:.0f} s)"


def main(chosen: list[str]) -> int:
    """All mutants, or those whose group or description holds one of the words."""
    mutants = [
        mutant for mutant in planted() if not chosen or any(word in f"{mutant.group} {mutant.what}" for word in chosen)
    ]
    if not mutants:
        print(f"no mutant has any of these words: {', '.join(chosen)}\n\n{__doc__}")
        return 2
    tests = tuple(sorted({test for mutant in mutants for test in mutant.tests}))
    rows = tuple(sorted({row for mutant in mutants for row in mutant.rows}))
    if outcome_of(tests, rows) != 0:
        print("the tests fail on the sources as they are: no mutant can be judged")
        return 2
    killed = 0
    with ThreadPoolExecutor(WORKERS) as workers:
        for dead, line in workers.map(judge, mutants):
            killed += dead
            print(line, flush=True)
    print(f"{killed} of {len(mutants)} planted mutants killed")
    return 0 if killed == len(mutants) else 1


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    import pytest  # noqa: F401 - loaded once, here, for all the children
    import torch

    torch.set_num_threads(1)
    sys.exit(main(sys.argv[1:]))
