"""Default recipes from a file to a tested model, end to end, by two versions of atento on one core.

    python benchmarks/cpu/before_after_cpu.py BEFORE DATA [--only LINE,LINE]

BEFORE is a checkout of the earlier version (`git worktree add BEFORE COMMIT`), DATA a folder of sets named as in
`LINES`. The earlier version trains for a number of steps with its default recipe; the recipe that it leaves is then
trained by this version, so that both train a model of the same sizes on the same examples. Seconds are processor time
of the whole command, reading, validation and test included. Exit 1 where this version is less than twice as fast.
"""

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from measuring_cpu import Claim, end, tell

ROOT = Path(__file__).parents[2]
GOAL = 2.0
ALL = {
    "train.validations": 4,
    "train.patience": 100,
    "train.baselines": "no",
    "train.threads": 1,
    "data.siblings": "no",
}


class Line(NamedTuple):
    """A default recipe on one set, and how many steps it takes."""

    data: str  # under DATA, or the name of a built-in set
    task: str
    model: str
    steps: int
    settings: Mapping[str, object] = MappingProxyType({})


TWO_COLUMNS = {"data.header": "no", "data.source": "1", "data.target": "2", "data.split": "90/5/5"}
FEW_TESTED = {**TWO_COLUMNS, "data.split": "99/.5/.5"}  # of 100,000 rows; a model that knows little writes long answers
LINES = {
    "inflection": Line(
        "sigmorphon2017-spanish/spanish-train-high", "translate", "lstm+additive", 150,
        {**TWO_COLUMNS, "data.source": "1,3"},
    ),
    "pronunciation": Line("cmudict-g2p/train.tsv", "translate", "lstm+additive", 200, FEW_TESTED),
    "translation": Line("spa-eng/train.tsv.xz", "translate", "lstm+additive", 100, FEW_TESTED),
    "translation by a Transformer": Line("spa-eng/train.tsv.xz", "translate", "transformer", 100, FEW_TESTED),
    "questions": Line("trec/TREC.train.txt", "classify", "gru", 300, {"data.split": "80/10/10"}),
    "emotions": Line(
        "goemotions/train.tsv", "label", "transformer", 80,
        {"data.header": "no", "data.source": "1", "data.label": "2", "data.separator": ",", "data.split": "90/5/5"},
    ),
    "tags": Line(
        "ud-english-ewt/en_ewt-ud-train.conllu.xz", "tag", "lstm+crf", 100,
        {"data.source": "form", "data.label": "upos", "data.split": "90/5/5"},
    ),
    "characters": Line("tinyshakespeare/input.txt", "generate", "lstm", 80, {"tokens.source": "char"}),
    "entailment": Line(
        "sick/SICK_train.txt", "match", "lstm+dot+sparsemax+co", 150,
        {**TWO_COLUMNS, "data.header": "auto", "data.source": "sentence_A", "data.target": "sentence_B",
         "data.label": "entailment_judgment"},
    ),
    "images": Line("scenes", "caption", "conv/lstm+additive", 100),
}  # fmt: skip


class Outcome(NamedTuple):
    """What one version took, and how well its model answers."""

    seconds: float
    metric: str
    value: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of the earlier version")
    parser.add_argument("data", type=Path, help="the folder of the sets")
    parser.add_argument("--only", default="", help="names of lines, with commas between")
    options = parser.parse_args()
    claims = []
    for version in (options.before, ROOT):  # as an installed package is: no run spends its time on compiling Python
        compileall.compile_dir(version / "src", quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only.split(",") if options.only else LINES:
            claims.append(tell(compare(name, LINES[name], options.before, options.data, Path(folder) / name)))
    end(claims)


def compare(name: str, line: Line, before: Path, data: Path, folder: Path) -> Claim:
    """Train by the earlier version, then its recipe by this one."""
    file = data / line.data
    source = str(file) if file.exists() else line.data
    settings = {**ALL, "train.steps": line.steps, **line.settings}
    words = [source, "--task", line.task, "--model", line.model, "--seed", "0"]
    words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    earlier = train(before, words, folder / "before")
    later = train(ROOT, [str(folder / "before" / "recipe.toml")], folder / "after")
    print(f"{name}: {earlier.metric} {earlier.value:.4f} before, {later.value:.4f} after", file=sys.stderr, flush=True)
    claim = f"{name}: {line.model}, {line.steps} steps, end to end"
    return Claim(claim, "before", later.seconds, earlier.seconds, GOAL, "s")


def train(version: Path, words: list[str], out: Path) -> Outcome:
    """One `atento train` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(version / "src"), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    start = processor_seconds()
    command = [sys.executable, "-m", "atento", "train", *words, "--out", str(out), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    seconds = processor_seconds() - start
    scores = json.loads((out / "metrics.json").read_text(encoding="utf-8"))["scores"]
    metric = next(iter(scores))
    return Outcome(seconds, metric, scores[metric][0])


def processor_seconds() -> float:
    """Of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
