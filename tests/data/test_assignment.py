import pytest
from tests.tasks.shapes import SHAPES

from atento.data.assignment import cast
from atento.data.sources import read_source

PARTS = {
    ("classify", "ids, dates and links beside"): {"text": "text", "category": "label"},
    ("classify", "COARSE:fine lines"): {"text": "text", "coarse": "label"},
    ("label", "switches"): {"comment": "text", "toxic": "label", "obscene": "label", "threat": "label"},
    ("label", "JSON lists"): {"text": "text", "topics": "labels"},
    ("tag", "lists"): {"tokens": "words", "ner_tags": "tags"},
    ("translate", "inflection, form last"): {"1": "source", "2": "features", "3": "target"},
    ("translate", "Russian, an id"): {"english": "source", "russian": "target"},
    ("match", "entailment"): {"sentence_A": "first text", "sentence_B": "second text", "entailment_judgment": "label"},
    ("generate", "text and id"): {"text": "text"},
    ("estimate", "sequences"): {"signal": "sequence", "strength": "target"},
}


@pytest.mark.parametrize("task, shape", PARTS, ids=[f"{task}: {shape}" for task, shape in PARTS])
def test_columns_play_their_parts(task, shape, tmp_path):
    table = read_source(SHAPES[task][shape](tmp_path))
    assert {table.columns[at]: part for at, part in cast(table, task).items()} == PARTS[task, shape]


def test_a_task_that_is_not_known_has_no_parts(tmp_path):
    assert cast(read_source(SHAPES["translate"]["TSV"](tmp_path)), "embed") == {}
