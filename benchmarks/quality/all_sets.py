"""Every quality script on the sets that a folder holds, one after the other, and the lines of their results.

    python benchmarks/quality/all_sets.py DATA [--device cpu|cuda] [--budget 10m] [--out runs/quality]

`make quality DATA=…` runs it. DATA has a folder for each set, named as in `SETS`; a set that is not there is named. The
log of each script is kept beside its runs, so that every figure can be traced. Where a target is missed the exit code
is 1.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

# script: the folder of its set, and further arguments of each of its lines
SETS: dict[str, tuple[str, list[list[str]]]] = {
    "tinyshakespeare": ("tinyshakespeare", [[]]),
    "warandpeace": ("warandpeace", [["--level", "char"], ["--level", "word"]]),
    "multi30k": ("multi30k", [[]]),
    "cmudict_g2p": ("cmudict-g2p", [[]]),
    "sigmorphon_spanish": ("sigmorphon2017-spanish", [[]]),
    "spa_eng": ("spa-eng", [[]]),
    "trec": ("trec", [[]]),
    "goemotions": ("goemotions", [[]]),
    "movie_reviews": ("movie-reviews-2k", [[]]),
    "ud_english_ewt": ("ud-english-ewt", [[]]),
    "wnut17": ("wnut17", [[]]),
    "sick": ("sick", [[]]),
    "etth1": ("etth1", [[]]),
    "exchange": ("exchange", [[]]),
    "sunspots": ("sunspots", [[]]),
    "chaos": ("chaos", [[]]),
    "scenes": ("", [[]]),  # drawn by atento itself
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--budget", default="", help="training time of each model; empty: that of each script")
    parser.add_argument("--out", type=Path, default=Path("runs/quality"))
    asked = parser.parse_args()
    missed = []
    for script, (folder, lines) in SETS.items():
        if folder and not (asked.data / folder).is_dir():
            print(f"{script}: {asked.data / folder} is not there, so nothing is measured", flush=True)
            continue
        for more in lines:
            where = [str(asked.data / folder)] if folder else []
            budget = ["--budget", asked.budget] if asked.budget else []
            out = asked.out / "-".join([script, *more[1::2]])
            said = run([script, *where, *more, *budget, "--device", asked.device, "--out", str(out)], out)
            print(f"{out.name}: {said}", flush=True)
            if '"met": true' not in said:
                missed.append(out.name)
    print(f"missed: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


def run(words: list[str], out: Path) -> str:
    """The last line of JSON that a script prints; its whole output is kept in a log."""
    out.parent.mkdir(parents=True, exist_ok=True)
    log = out.with_suffix(".log")
    with log.open("w", encoding="utf-8") as file:
        command = [sys.executable, str(Path(__file__).with_name(f"{words[0]}.py")), *words[1:]]
        subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    found = [line for line in log.read_text(encoding="utf-8").split("\n") if line.startswith('{"line"')]
    return json.dumps(json.loads(found[-1]), ensure_ascii=False) if found else f"no result; see {log}"


if __name__ == "__main__":
    sys.exit(main())
