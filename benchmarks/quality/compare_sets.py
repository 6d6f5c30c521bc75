"""`atento compare FILE` with no other word on every set of a folder: who wins, and how far Transformers are behind.

    python benchmarks/quality/compare_sets.py DATA [--only SET,SET] [--budget 4m] [--out runs/compare-sets]

A set passes where a network wins or ties; where a simple model wins, the verdict says by what. A Transformer passes
within two points (of a share; 2 % of any other metric) of the best recurrent network, or where the verdict says what
more time would bring. Exit 1 where a set does not pass, or Transformers pass on fewer than two thirds of the sets.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atento.models.names import ModelName

SETS = {
    "tinyshakespeare": "tinyshakespeare/input.txt",
    "warandpeace": "warandpeace/warandpeace.txt.xz",
    "multi30k": "multi30k/train.de,{data}/multi30k/train.en",
    "cmudict-g2p": "cmudict-g2p/train.tsv",
    "sigmorphon2017-spanish": "sigmorphon2017-spanish/spanish-train-high",
    "spa-eng": "spa-eng/train.tsv.xz",
    "trec": "trec/TREC.train.txt",
    "goemotions": "goemotions/train.tsv",
    "movie-reviews-2k": "movie-reviews-2k/movie_reviews.zip",
    "ud-english-ewt": "ud-english-ewt/en_ewt-ud-train.conllu.xz",
    "wnut17": "wnut17/wnut17train.conll",
    "sick": "sick/SICK_train.txt",
    "etth1": "etth1/ETTh1.csv",
    "exchange": "exchange/exchange_rate.csv",
    "sunspots": "sunspots/monthly-sunspots.csv",
    "temperatures": "sunspots/daily-min-temperatures.csv",
    "lorenz": "chaos/lorenz63_train.csv",
    "rossler": "chaos/rossler_train.csv",
}
OPTIONS = {"temperatures": ("--set", "data.gaps=linear")}  # two days are missing: the line that the refusal gives
POINTS = 0.02
SHARES = ("exact", "accuracy", "macro_f1", "micro_f1", "span_f1", "bleu", "chrf")  # metrics between 0 and 1
RECURRENT = ("rnn", "gru", "lstm")  # the families that a default comparison holds
LEAST_CLOSE = 2 / 3

Facts = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of the sets")
    parser.add_argument("--only", default="", help="names of sets, with commas between")
    parser.add_argument("--budget", default="", help="of each comparison; empty: the default")
    parser.add_argument("--out", type=Path, default=Path("runs/compare-sets"))
    options = parser.parse_args()
    found: list[tuple[bool, bool | None]] = []
    for name in options.only.split(",") if options.only else SETS:
        source = str(options.data / SETS[name]).replace("{data}", str(options.data))
        if not Path(source.split(",")[0]).exists():
            print(f"{name}: {source} is not there", flush=True)
            continue
        board = compare(source, OPTIONS.get(name, ()), options.budget, options.out / name)
        line, passed, close = summary(name, board)
        found.append((passed, close))
        print(line, *(f"    {sentence}" for sentence in board["verdict"]), sep="\n", flush=True)
    with_transformers = [close for _, close in found if close is not None]
    near = sum(with_transformers)
    print(f"a network wins or ties on {sum(passed for passed, _ in found)} of {len(found)} sets")
    print(f"a Transformer is near, or its time is told, on {near} of the {len(with_transformers)} sets that have one")
    return 0 if all(passed for passed, _ in found) and near >= LEAST_CLOSE * len(with_transformers) else 1


def compare(source: str, more: Sequence[str], budget: str, out: Path) -> Facts:
    """The board of a comparison as the command line writes it."""
    command = [sys.executable, "-m", "atento", "compare", source, *more, "--out", str(out), "--json"]
    command += ["--budget", budget] if budget else []
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.with_suffix(".log").open("w", encoding="utf-8") as log:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}; see {out.with_suffix('.log')}")
    board: Facts = json.loads(done.stdout)
    return board


def summary(name: str, board: Facts) -> tuple[str, bool, bool | None]:
    """A line, whether the set passes, and whether a Transformer is near; None where there is none, or no other."""
    rows = [row for row in board["rows"] if row["value"] is not None]
    metric, smaller = board["metric"], board["smaller_is_better"]
    networks = [row for row in rows if not row["baseline"]]
    simple = [row for row in rows if row["baseline"]]
    transformers = [row for row in networks if ModelName.parse(row["model"]).family == "transformer"]
    recurrent = [row for row in networks if ModelName.parse(row["model"]).family in RECURRENT]
    best, best_simple, best_transformer, best_recurrent = (
        min(some, key=lambda row: row["value"] * (1 if smaller else -1), default=None)
        for some in (networks, simple, transformers, recurrent)
    )
    passed = any(row["tied"] for row in networks)
    close = None
    if best_transformer and best_recurrent:
        one, other = best_transformer["value"], best_recurrent["value"]
        behind = (one - other) * (1 if smaller else -1)
        told = any(
            sentence.startswith("transformer") and " would probably pass " in sentence for sentence in board["verdict"]
        )
        close = behind <= (POINTS if metric in SHARES else POINTS * abs(other)) or told
    parts = [f"{what} {row['model']} {row['value']:.4f}" for what, row in (
        ("network", best), ("simple", best_simple), ("Transformer", best_transformer), ("recurrent", best_recurrent)
    ) if row]  # fmt: skip
    winner = f"winner {board['winner']}, ties {', '.join(board['ties']) or 'none'}"
    return f"{name}: {metric}: {'; '.join(parts)}; {winner}", passed, close


if __name__ == "__main__":
    sys.exit(main())
