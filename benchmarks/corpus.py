"""A corpus larger than memory, read by two processes in shards: every row once an epoch, memory, resume in the middle.

    python benchmarks/corpus.py [--size 10] [--processes 2]

A JSONL of --size GB is made beside the temporary files of the system, and one of a quarter of it, to see whether memory
grows with the corpus. For each, the processes of torchrun read it together, walk through one epoch, each its part of
every batch, and then through the second half of it again from the middle, as a resumed run does. A row carries a
number; sums of a 64-bit mix of all numbers tell whether each row was seen exactly once, without a table of them.
"""

import argparse
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONSONANTS, VOWELS, WORDS = "bdklmnprst", "aeiou", 20_000
MASK = 2**64 - 1
ROWS_AT_ONCE = 20_000


def mixed(numbers: NDArray[np.uint64]) -> int:
    """The sum of a 64-bit mix of each number (splitmix64), itself in 64 bits."""
    mix = numbers + np.uint64(0x9E3779B97F4A7C15)
    mix = (mix ^ (mix >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mix = (mix ^ (mix >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int((mix ^ (mix >> np.uint64(31))).sum(dtype=np.uint64))


def write(path: Path, size: int) -> int:
    """Numbered texts with a label each; how many."""
    chance = random.Random(0)
    words = [first + vowel + last for first in CONSONANTS for vowel in VOWELS for last in "nrsl"]
    texts = [" ".join(chance.choices(words, k=chance.randint(15, 60))) for _ in range(WORDS)]
    rows = written = 0
    with path.open("w", encoding="ascii", buffering=2**20) as file:
        while written < size:
            text = "".join(
                f'{{"text": "row {row} {texts[row * 7 % WORDS]}", "label": "{"yes" if row % 3 else "no"}"}}\n'
                for row in range(rows, rows + ROWS_AT_ONCE)
            )
            file.write(text)
            rows, written = rows + ROWS_AT_ONCE, written + len(text)
    return rows


def numbers_of(sources: Iterable[str]) -> NDArray[np.uint64]:
    """The numbers of rows."""
    return np.array([int(source.split(" ", 2)[1]) for source in sources], dtype=np.uint64)


def peak() -> float:
    """The most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def work(path: str) -> None:
    """One process: read together, walk through an epoch, then again from its middle."""
    import torch

    from atento.api.fit import reading_together
    from atento.data.examples.stored import PooledSampler
    from atento.data.sources import reading
    from atento.spec import DataRecipe
    from atento.tasks.reading.text import LABELLED
    from atento.training.distributed.ranks import join

    reading.LARGE_FILE = 0  # a small one is read in the same way
    with join(torch.device("cpu")) as ranks:
        before, began, busy = peak(), time.perf_counter(), time.process_time()
        with reading_together(ranks):
            data = LABELLED.read(DataRecipe(train=path, source="text", label="label"), 0)
        read, busy = time.perf_counter() - began, time.process_time() - busy
        pairs: Any = data.train

        def lengths(first: int, last: int) -> Any:
            return (pairs.bytes_of(first, last) // 4).astype("int32")

        order = PooledSampler(lengths, len(pairs), batch_tokens=8192, seed=0)
        began, epoch = time.perf_counter(), order.epoch(0)
        counted, middle = time.perf_counter() - began, len(epoch) // 2
        seen, sums, tail = 0, 0, hashlib.sha256()
        for position, batch in enumerate(epoch[0:]):
            numbers = numbers_of(pairs[row][0] for row in ranks.part(batch).tolist())
            seen, sums = seen + len(numbers), (sums + mixed(numbers)) & MASK
            if position >= middle:
                tail.update(numbers.tobytes())
        walked, again = time.perf_counter() - began, hashlib.sha256()
        for batch in order.epoch(0)[middle:]:
            again.update(numbers_of(pairs[row][0] for row in ranks.part(batch).tolist()).tobytes())
        held = numbers_of(example.source for part in (data.valid, data.test) for example in part)
        facts = {"seen": seen, "mixed": sums, "peak": peak(), "before": before, "same": tail.digest() == again.digest(),
                 "read": read, "busy": busy, "counted": counted, "walked": walked}  # fmt: skip
        found = [json.loads(one) for one in ranks.gather(json.dumps(facts).encode())]
        if ranks.first:
            print(json.dumps({"ranks": found, "held": len(held), "mixed_held": mixed(held)}))


def measure(path: Path, rows: int, processes: int) -> float:
    """Run the processes on a file and print what they found; the most memory of any of them for the corpus, in MB."""
    root = Path(__file__).parents[1]
    modules = os.pathsep.join([str(root / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    environment = {**os.environ, "PYTHONPATH": modules, "OMP_NUM_THREADS": "1"}
    torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [sys.executable, "-m", *torchrun, __file__, "--worker", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found = json.loads(done.stdout.splitlines()[-1])
    ranks, size = found["ranks"], path.stat().st_size
    seen, sums = sum(one["seen"] for one in ranks), (sum(one["mixed"] for one in ranks) + found["mixed_held"]) & MASK
    starts = range(0, rows, ROWS_AT_ONCE)
    expected = sum(mixed(np.arange(first, min(rows, first + ROWS_AT_ONCE), dtype=np.uint64)) for first in starts)
    once = seen + found["held"] == rows and sums == expected & MASK
    shares = ", ".join(f"{one['seen']:,}" for one in ranks)
    print(f"{size / 1e9:.2f} GB, {rows:,} rows, {found['held']:,} held out; rows seen by each process: {shares}")
    print(f"  each row exactly once an epoch: {once}; the second half again, from the middle: ", end="")
    print(all(one["same"] for one in ranks))
    read, walked = max(one["read"] for one in ranks), max(one["walked"] for one in ranks)
    cost = 1e6 * sum(one["busy"] for one in ranks) / size
    print(f"  parsed in {read:.0f} s ({size / read / 1e6:.1f} MB/s, {cost:.3f} core-µs a byte)")
    print(f"  an epoch of rows from disk in {walked:.0f} s ({seen / walked:,.0f} rows/s), ", end="")
    print(f"of which its order took {max(one['counted'] for one in ranks):.1f} s")
    most = max(one["peak"] - one["before"] for one in ranks)
    print(
        f"  most memory of a process: {max(one['peak'] for one in ranks):.0f} MB, {most:.0f} MB of it for the corpus",
        flush=True,
    )
    return most if once else float("inf")


def main() -> int:
    """Both sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=10.0, help="gigabytes")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--worker", default="", help="what torchrun passes to each process")
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return 0
    most = []
    for size in (options.size / 4, options.size):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "corpus.jsonl"
            began, rows = time.perf_counter(), write(path, int(size * 10**9))
            print(f"{size:g} GB of rows were made in {time.perf_counter() - began:.0f} s", flush=True)
            most.append(measure(path, rows, options.processes))
    print(f"memory for four times the corpus: {most[1] / most[0]:.2f} times")
    return 0 if most[1] < 1.2 * most[0] else 1


if __name__ == "__main__":
    sys.exit(main())
