"""Any source half goes with any target half, and both say what their columns hold."""

import json

import pytest
from tests.data.images.image_files import SCENES, write_table
from tests.tasks.shapes import SHAPES

from atento.data.examples.labels import LabelSetTarget, LabelTarget
from atento.data.examples.numbers import NumberTarget
from atento.data.examples.pairs import read_examples, read_sources
from atento.data.examples.texts import TextSource, TextTarget, TwoTextSource, most_varied_text
from atento.data.images.reading import ImageQuestionSource, ImageSource
from atento.data.sequences.labelled import SequenceSource
from atento.spec import DataRecipe
from atento.tasks.catalogue import TASKS

ROWS = 8
COLUMNS = {
    "image": [SCENES[at] for at in range(ROWS)],
    "signal": [[at, at + 0.5] for at in range(ROWS)],
    "premise": [f"a first text of {at} words" for at in range(ROWS)],
    "hypothesis": [f"a second text {at}" for at in range(ROWS)],
    "question": [f"is it {at}?" for at in range(ROWS)],
    "kind": ["ab"[at % 2] for at in range(ROWS)],
    "topics": [["x", "y"][: at % 3] for at in range(ROWS)],
    "score": [at + 0.25 for at in range(ROWS)],
}
SOURCES = {
    "text": (TextSource(), {"source": "premise"}, "a first text of 3 words"),
    "two texts": (TwoTextSource(), {}, "a first text of 3 words\ta second text 3"),
    "numbers": (SequenceSource(), {"source": "signal"}, "3 3.5"),
    "image": (ImageSource(), {}, SCENES[3]),
    "image and question": (ImageQuestionSource(), {}, f"{SCENES[3]}\tis it 3?"),
}
TARGETS = {
    "label": (LabelTarget(), {"label": "kind"}, "b"),
    "labels": (LabelSetTarget(), {"label": "topics"}, ""),
    "text": (TextTarget(most_varied_text), {"target": "hypothesis"}, "a second text 3"),
    "number": (NumberTarget(), {"target": "score"}, "3.25"),
}


@pytest.fixture
def path(tmp_path):
    rows = [{name: cells[at] for name, cells in COLUMNS.items()} for at in range(ROWS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / "rows.jsonl")


# two halves that are both named by data.target do not go together
PAIRS = [
    (source, target)
    for source in SOURCES
    for target in TARGETS
    if not {*SOURCES[source][0].keys} & {*TARGETS[target][1]}
]


@pytest.mark.parametrize("source, target", PAIRS)
def test_any_source_with_any_target(path, source, target):
    (left, named, before), (right, asked, after) = SOURCES[source], TARGETS[target]
    recipe = DataRecipe(**named, **asked)
    read = read_examples(recipe, path, left, right)
    assert read.pairs[3] == (before, after)
    assert (len(read.pairs), read.refused) == (ROWS, ())
    again = read_examples(DataRecipe(**dict(read.keys)), path, left, right)
    assert again.pairs == read.pairs
    assert set(dict(read.roles)) <= set(COLUMNS)
    assert read_sources(recipe, path, left).sources[3] == before


ROLES = {
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


@pytest.mark.parametrize("task, shape", ROLES, ids=[f"{task}: {shape}" for task, shape in ROLES])
def test_a_data_set_says_what_its_columns_hold(task, shape, tmp_path):
    read = TASKS[task].reading.read(DataRecipe(train=SHAPES[task][shape](tmp_path)), 0)
    assert dict(read.roles) == ROLES[task, shape]


def test_roles_of_sequences_and_of_images(tmp_path):
    cases = [f"{case},{step},{step / 2},{'ab'[case % 2]}" for case in range(6) for step in range(5)]
    (tmp_path / "long.csv").write_text("\n".join(["case,t,x,label", *cases]))
    read = read_examples(DataRecipe(), str(tmp_path / "long.csv"), SequenceSource(), LabelTarget())
    assert dict(read.roles) == {"x": "channel", "case": "case", "t": "time", "label": "label"}
    asked = [(scene, "is it red?", "yes" if "red" in scene else "no") for scene in SCENES]
    write_table(tmp_path / "asked.csv", [("p", "q", "a"), *asked])
    read = read_examples(DataRecipe(), str(tmp_path / "asked.csv"), ImageQuestionSource(), LabelTarget("answer"))
    assert list(dict(read.roles)) == ["p", "q", "a"]
    assert list(dict(read.roles).values())[1:] == ["question", "answer"]
