"""Sequences of numbers with several labels each."""

import json

from atento.spec import DataRecipe
from atento.tasks.reading.sequences import LABEL_SET_SEQUENCES


def test_several_labels_of_each_sequence(tmp_path):
    rows = [{"signal": [n, n + 0.5], "kinds": ["wave", "fast"][: n % 3]} for n in range(30)]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = str(tmp_path / "s.jsonl")
    asked = LABEL_SET_SEQUENCES.read_labelled(DataRecipe(), path, 0)
    assert asked.questions[:3] == (("0 0.5", ()), ("1 1.5", ("wave",)), ("2 2.5", ("wave", "fast")))
    read = LABEL_SET_SEQUENCES.read(DataRecipe(train=path, split="80/10/10"), 0)
    assert (len(read.train), len(read.valid), len(read.test)) == (24, 3, 3)
    assert dict(read.roles) == {"signal": "sequence", "kinds": "labels"}
    assert LABEL_SET_SEQUENCES.read_unlabelled(DataRecipe(), path, 0).sources[1] == "1 1.5"
