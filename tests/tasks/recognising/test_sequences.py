"""Numeric sequences: what stands beside them says whether they are labelled, judged by a number, or written down."""

import json

import numpy as np
import pytest

from atento.spec import DataRecipe
from atento.tasks.finding import find_task

STEPS = [[n % 5 + 0.25 * step for step in range(4 + n % 3)] for n in range(60)]


def lines(targets, name):
    return "".join(
        json.dumps({"signal": steps, name: target}) + "\n" for steps, target in zip(STEPS, targets, strict=True)
    )


FILES = {
    "labels.jsonl": (lines(["ab"[n % 2] for n in range(60)], "kind"), "classify-series"),
    "whole.jsonl": (lines([n % 3 for n in range(60)], "class"), "classify-series"),
    "numbers.jsonl": (lines([n * 0.37 for n in range(60)], "total"), "estimate"),
    "texts.jsonl": (lines([f"word {n} said" for n in range(60)], "text"), "transcribe"),
    "sets.jsonl": (lines([["wave", "fast", "slow"][: n % 4] for n in range(60)], "kinds"), "label-series"),
    "Waves_TRAIN.ts": (
        "@univariate true\n@classLabel true 1 2\n@data\n" + "".join(f"1,2,{n}:{n % 2 + 1}\n" for n in range(12)),
        "classify-series",
    ),
    "Waves.tsv": (
        "".join("\t".join([str(n % 2 + 1), *(f"{n}.{step}" for step in range(20))]) + "\n" for n in range(12)),
        "classify-series",
    ),
    "target.ts": (
        "@univariate true\n@targetlabel true\n@data\n" + "".join(f"1,2,{n}:{n * 0.7}\n" for n in range(40)),
        "estimate",
    ),
    "long.csv": (
        "sample_id,step,x,class\n"
        + "".join(f"{n},{step},{n * step}.5,{'ab'[n % 2]}\n" for n in range(6) for step in range(4)),
        "classify-series",
    ),
}


@pytest.mark.spec("K02", "K13")
@pytest.mark.parametrize("name", FILES)
def test_the_task_follows_from_what_stands_beside(tmp_path, name):
    text, task = FILES[name]
    (tmp_path / name).write_text(text)
    found, reason = find_task("auto", DataRecipe(train=str(tmp_path / name)))
    assert found.name == task, reason
    assert reason.startswith(f"task: {task} (")


def test_arrays_and_the_shared_name(tmp_path):
    np.savez(tmp_path / "set.npz", X=np.random.default_rng(0).normal(size=(12, 7)), y=np.arange(12) % 3)
    assert find_task("auto", DataRecipe(train=str(tmp_path / "set.npz")))[0].name == "classify-series"
    assert find_task("classify", DataRecipe(train=str(tmp_path / "set.npz")))[0].name == "classify-series"
    (tmp_path / "texts.csv").write_text("text,label\n" + "".join(f"some words {n},{'ab'[n % 2]}\n" for n in range(40)))
    assert find_task("classify", DataRecipe(train=str(tmp_path / "texts.csv")))[0].name == "classify"


def test_texts_of_a_subject_are_no_sequences(tmp_path):
    rows = [f"s{n % 9},{n % 7}.5,this is the text number {n} of many,{'ab'[n % 9 % 2]}" for n in range(90)]
    (tmp_path / "reviews.csv").write_text("subject,stars_given,review,label\n" + "\n".join(rows) + "\n")
    assert find_task("auto", DataRecipe(train=str(tmp_path / "reviews.csv")))[0].name == "classify"


@pytest.mark.parametrize(
    "named, task", [({"label": "kind"}, "classify-series"), ({"target": "kind"}, "transcribe")], ids=["label", "target"]
)
def test_a_named_column_decides(tmp_path, named, task):
    (tmp_path / "few.jsonl").write_text(lines([f"{'ab'[n % 2]}{n % 30}" for n in range(60)], "kind"))
    assert find_task("auto", DataRecipe(train=str(tmp_path / "few.jsonl"), **named))[0].name == task
