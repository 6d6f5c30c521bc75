"""JSON as web services, pandas and annotation tools write it: nested objects, documents, spans."""

import json

import pytest

from atento.api.inspect import inspect
from atento.data.tables.table import read_table
from atento.errors import InputError


def table(folder, text, name="rows.json", **keys):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_table(str(path), **keys)


ROWS = [{"t": "a b", "n": 1.50, "ok": True}, {"t": "c", "n": 2, "ok": None}]
CELLS = (("a b", "1.5", "true"), ("c", "2", ""))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        json.dumps({"version": 1, "meta": {"by": "us"}, "data": ROWS}),
        json.dumps({"columns": ["t", "n", "ok"], "index": [0, 1], "data": [list(row.values()) for row in ROWS]}),
        json.dumps({key: {"0": ROWS[0][key], "1": ROWS[1][key]} for key in ROWS[0]}),
        json.dumps({key: [row[key] for row in ROWS] for key in ROWS[0]}, indent=1),
        "\n".join(json.dumps(row, indent=4) for row in ROWS),
        "\n".join(map(json.dumps, ROWS)),
    ],
    ids=["list", "indented", "one list inside", "split", "columns", "lists", "concatenated", "lines"],
)
def test_every_form_of_the_same_rows(tmp_path, text):
    read = table(tmp_path, text)
    assert (read.columns, read.rows, read.refused) == (("t", "n", "ok"), CELLS, ())


def test_numbers_stay_as_they_are_written(tmp_path):
    assert table(tmp_path, '[{"a": 1e5, "b": 007.0}]'.replace("007.0", "0.50")).rows == (("1e5", "0.50"),)


def test_a_value_inside_another_is_named_by_both_keys_and_has_its_place(tmp_path):
    text = (
        '[\n {"ticket": {"body": "it broke", "id": 1}, "routing": {"queue": "b"}, "log": [{"x": 1}]},\n {"ticket": {\n'
    )
    text += '   "body": "help"}, "routing": {"queue": "c"}}\n]'
    read = table(tmp_path, text, names=["ticket.body", "routing.queue"])
    assert read.columns == ("ticket.body", "ticket.id", "routing.queue")
    assert read.rows == (("it broke", "1", "b"), ("help", "", "c"))
    assert [tuple(read.place(row, 0)) for row in (0, 1)] == [("rows.json", 2, 22), ("rows.json", 4, 12)]
    assert tuple(read.place(1, 2))[1:] == (4, 42)
    assert "'log' holds lists of objects or of lists and is not read" in read.notes


def test_texts_in_a_list_are_rows(tmp_path):
    assert table(tmp_path, '[\n"one",\n"two"\n]').rows == (("one",), ("two",))


TEXT = "Ada Lovelace, in Bern."
SPANS = {
    "doccano": {"text": TEXT, "label": [[17, 21, "LOC"], [0, 12, "PER"]], "Comments": []},
    "doccano, relations": {
        "text": TEXT,
        "entities": [
            {"id": 1, "label": "PER", "start_offset": 0, "end_offset": 12},
            {"id": 2, "label": "LOC", "start_offset": 17, "end_offset": 21},
        ],
    },
    "Prodigy": {
        "text": TEXT,
        "tokens": [{"text": "Ada", "start": 0, "end": 3, "id": 0}],
        "spans": [{"start": 0, "end": 12, "label": "PER"}, {"start": 17, "end": 21, "label": "LOC"}],
    },
    "Label Studio JSON-MIN": {
        "text": TEXT,
        "label": [
            {"start": 0, "end": 12, "text": "Ada Lovelace", "labels": ["PER"]},
            {"start": 17, "end": 21, "text": "Bern", "labels": ["LOC"]},
            {"start": 0, "end": 3, "text": "Ada", "labels": ["FIRST"]},
        ],
    },
}


@pytest.mark.parametrize("tool", SPANS)
def test_spans_are_words_with_tags(tmp_path, tool):
    empty = {key: ("plain" if key == "text" else []) for key in SPANS[tool]}
    read = table(tmp_path, "\n".join(map(json.dumps, (SPANS[tool], empty))), "all.jsonl")
    words, tags = (read.columns.index(name) for name in ("words", "tags"))
    assert read.rows[0][words] == "Ada\tLovelace\t,\tin\tBern\t."
    assert read.rows[0][tags] == "B-PER\tI-PER\tO\tO\tB-LOC\tO"
    assert (read.rows[1][words], read.rows[1][tags]) == ("plain", "O")
    assert any("inside another left out" in note for note in read.notes) == (tool == "Label Studio JSON-MIN")


def test_a_span_outside_its_text_is_refused_at_its_place(tmp_path):
    lines = [json.dumps({"text": "Ada", "label": [[0, 3, "PER"]]}), '{"text": "Bo", "label": [[0, 3, "PER"]]}']
    with pytest.raises(InputError, match=r"all.jsonl:2:25: a span from 0 to 3 does not lie in its text of 2"):
        table(tmp_path, "\n".join(lines), "all.jsonl")


def test_choices_of_label_studio_are_labels(tmp_path):
    tasks = [
        {
            "id": at,
            "data": {"review": text},
            "annotations": [
                {"result": [], "was_cancelled": True},
                {"result": [{"from_name": "mood", "type": "choices", "value": {"choices": [label]}}]},
            ],
        }
        for at, (text, label) in enumerate([("so good", "yes"), ("so bad", "no")])
    ]
    read = table(tmp_path, json.dumps(tasks))
    assert (read.columns, read.rows) == (("review", "mood"), (("so good", "yes"), ("so bad", "no")))


def test_languages_inside_another_value_and_columns_without_anything(tmp_path):
    rows = [{"translation": {"en": f"one {at}", "es": f"uno {at}"}} for at in range(40)]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert inspect(path).used_as == {"translation.en": "source", "translation.es": "target"}
    rows = [{"instruction": f"say {at} twice", "input": "", "output": f"{at} and {at}"} for at in range(40)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert inspect(path).used_as == {"prompt": "source", "response": "target"}
    assert read_table(str(path)).rows[0] == ("say 0 twice", "0 and 0")
    named = read_table(str(path), names=["instruction", "output"])
    assert named.columns == ("instruction", "input", "output")
    assert read_table(str(path), names=["prompt", "response"]).columns == ("prompt", "response")
