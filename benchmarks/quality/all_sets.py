"""Every quality script on the sets that a folder holds, and the lines of their results.

    python benchmarks/quality/all_sets.py DATA [--device cpu|cuda] [--budget 10m | --budget trec=30s,sick=1m]
        [--only LINE,LINE] [--at-once N] [--cores 2] [--out runs/quality]

`make quality DATA=…` runs it, OPTIONS has the rest. DATA has a folder for each set, named as in `LINES`; a set that is
not there is named. `--budget` is the training time of each model, of all lines or of those named; a script has one of
its own. Lines run one after the other, or N at once, each on `--cores` processor cores that no other line has. The log
of each is kept beside its runs, so that every figure can be traced. Where a target is missed the exit code is 1.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple


class Line(NamedTuple):
    """A line of the table: a script, the folder of its set, further arguments."""

    script: str
    folder: str
    more: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As it is asked for and its log is called."""
        return "-".join([self.script, *self.more[1::2]])


LINES = (
    Line("warandpeace", "warandpeace", ("--level", "char", "--models", "lstm+ngram")),
    Line("warandpeace", "warandpeace", ("--level", "char", "--models", "transformer+ngram")),
    Line("warandpeace", "warandpeace", ("--level", "word", "--models", "lstm+ngram")),
    Line("warandpeace", "warandpeace", ("--level", "word", "--models", "transformer+ngram")),
    Line("tinyshakespeare", "tinyshakespeare", ("--models", "lstm")),
    Line("tinyshakespeare", "tinyshakespeare", ("--models", "transformer")),
    Line("cmudict_g2p", "cmudict-g2p"),
    Line("multi30k", "multi30k"),
    Line("sigmorphon_spanish", "sigmorphon2017-spanish"),
    Line("spa_eng", "spa-eng"),
    Line("ud_english_ewt", "ud-english-ewt"),
    Line("wnut17", "wnut17"),
    Line("goemotions", "goemotions"),
    Line("movie_reviews", "movie-reviews-2k"),
    Line("trec", "trec"),
    Line("sick", "sick"),
    Line("scenes", ""),  # drawn by atento itself
    Line("chaos", "chaos"),
    Line("etth1", "etth1"),
    Line("exchange", "exchange"),
    Line("sunspots", "sunspots"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--budget", default="", help="of each model; LINE=TIME for one line, with commas between")
    parser.add_argument("--only", default="", help="names of lines, with commas between")
    parser.add_argument("--at-once", type=int, default=1, help="how many lines run side by side")
    parser.add_argument("--cores", type=int, default=0, help="of each line that runs; 0: all for all")
    parser.add_argument("--out", type=Path, default=Path("runs/quality"))
    asked = parser.parse_args()
    only = asked.only.split(",") if asked.only else [line.name for line in LINES]
    slots = SimpleQueue[int]()
    for slot in range(asked.at_once):
        slots.put(slot)

    def measure(line: Line) -> bool:
        if line.folder and not (asked.data / line.folder).is_dir():
            print(f"{line.name}: {asked.data / line.folder} is not there, so nothing is measured", flush=True)
            return True
        slot = slots.get()
        said = run(line, asked, range(slot * asked.cores, (slot + 1) * asked.cores))
        slots.put(slot)
        print(f"{line.name}: {said}", flush=True)
        return '"met": true' in said and '"met": false' not in said

    lines = [line for line in LINES if line.name in only]
    with ThreadPoolExecutor(asked.at_once) as pool:
        met = list(pool.map(measure, lines))
    missed = [line.name for line, one in zip(lines, met, strict=True) if not one]
    print(f"missed: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


def budget_of(line: Line, asked: str) -> list[str]:
    """The option for one line, of "10m" or of "trec=30s,sick=1m"."""
    named = dict(part.partition("=")[::2] for part in asked.split(",") if "=" in part)
    time = named.get(line.name) if named else asked
    return ["--budget", time] if time else []


def run(line: Line, asked: argparse.Namespace, cores: Sequence[int]) -> str:
    """The last lines of JSON that a script prints; its whole output is kept in a log."""
    out = asked.out / line.name
    out.parent.mkdir(parents=True, exist_ok=True)
    log = out.with_suffix(".log")
    where = [str(asked.data / line.folder)] if line.folder else []
    words = [*where, *line.more, *budget_of(line, asked.budget), "--device", asked.device, "--out", str(out)]
    command = [sys.executable, str(Path(__file__).with_name(f"{line.script}.py")), *words]
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        if cores:
            os.sched_setaffinity(process.pid, cores)
        process.wait()
    found = [text for text in log.read_text(encoding="utf-8").split("\n") if text.startswith('{"line"')]
    results = [json.dumps(json.loads(text), ensure_ascii=False) for text in found]
    return " ".join(results) if results else f"no result; see {log}"


if __name__ == "__main__":
    sys.exit(main())
