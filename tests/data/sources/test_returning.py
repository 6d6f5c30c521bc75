"""A file comes back as it was, byte for byte, with the new columns beside each row."""

import codecs
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from atento.data.series.time_formats import time_format, write_times
from atento.data.sources.reading import read_source
from atento.data.sources.returning import as_table, require_output, returned, write_returned
from atento.errors import InputError

# name of the file, what stands in it, what comes back; ⟦a b⟧ are a prediction and a probability that were added
FILES = {
    "semicolons, cp1252, CRLF": (
        "a.csv",
        'id;Reseña;Nota\r\n01;"sí; no";1,5\r\n02;;2,0\r\n'.encode("cp1252"),
        'id;Reseña;Nota;prediction;probability\r\n01;"sí; no";1,5;sí;0,25\r\n02;;2,0;;\r\n'.encode("cp1252"),
    ),
    "UTF-8 with its mark, no end of line": (
        "a.csv",
        codecs.BOM_UTF8 + b"text,n\none two,1\n,2",
        codecs.BOM_UTF8 + "text,n,prediction,probability\none two,1,sí,0.25\n,2,,".encode(),
    ),
    "UTF-16, big end first": (
        "a.csv",
        codecs.BOM_UTF16_BE + "text;n\nhay que ver;1\n;2\n".encode("utf-16-be"),
        codecs.BOM_UTF16_BE + "text;n;prediction;probability\nhay que ver;1;sí;0,25\n;2;;\n".encode("utf-16-be"),
    ),
    "everything quoted, a line break inside": (
        "a.csv",
        b'"text","n"\n"two\nlines","1"\n"","2"\n',
        '"text","n","prediction","probability"\n"two\nlines","1","sí","0.25"\n"","2","",""\n'.encode(),
    ),
    "texts quoted, as R writes them": (
        "a.csv",
        b'"text","n"\n"one, two",1\n"",2\n',
        '"text","n","prediction","probability"\n"one, two",1,"sí",0.25\n"",2,,\n'.encode(),
    ),
    "tabs": (
        "a.tsv",
        b'text\tn\nsay "go" now\t1\n\t2\n',
        'text\tn\tprediction\tprobability\nsay "go" now\t1\tsí\t0.25\n\t2\t\t\n'.encode(),
    ),
    "JSON lines, types untouched": (
        "a.jsonl",
        b'{"text": "a b", "n": 1.50, "tags": ["vip"], "o": {"x": null}}\n{"text": "", "n": 1e3, "tags": []}\n',
        '{"text": "a b", "n": 1.50, "tags": ["vip"], "o": {"x": null}, "prediction": "sí", "probability": 0.25}\n'
        '{"text": "", "n": 1e3, "tags": [], "prediction": null, "probability": null}\n'.encode(),
    ),
    "compact JSON lines in ASCII": (
        "a.jsonl",
        b'{"text":"\\u00e9 b","n":1}\n{"text":"","n":2}\n',
        b'{"text":"\\u00e9 b","n":1,"prediction":"s\\u00ed","probability":0.25}\n'
        b'{"text":"","n":2,"prediction":null,"probability":null}\n',
    ),
    "a JSON document, indented": (
        "a.json",
        b'[\n  {\n    "text": "a b",\n    "n": 1\n  },\n  {\n    "text": "",\n    "n": 2\n  }\n]\n',
        '[\n  {\n    "text": "a b",\n    "n": 1,\n    "prediction": "sí",\n    "probability": 0.25\n  },\n'
        '  {\n    "text": "",\n    "n": 2,\n    "prediction": null,\n    "probability": null\n  }\n]\n'.encode(),
    ),
    "semicolons, money with decimal commas": (
        "a.csv",
        "text;n\r\none;12\u00a0159,37 €\r\ntwo;8\u00a0444,00 €\r\n".encode("cp1252"),
        "text;n;prediction;probability\r\none;12\u00a0159,37 €;sí;0,25\r\ntwo;8\u00a0444,00 €;;\r\n".encode("cp1252"),
    ),
    "semicolons, texts alone": (
        "a.csv",
        b"text;n\none;x\ntwo;y\n",
        "text;n;prediction;probability\none;x;sí;0,25\ntwo;y;;\n".encode(),
    ),
    "semicolons, decimal points": (
        "a.csv",
        b"text;n\none;1.5\ntwo;2.25\n",
        "text;n;prediction;probability\none;1.5;sí;0.25\ntwo;2.25;;\n".encode(),
    ),
    "lines of text": ("a.txt", b"one two\nthree\n", "one two\tsí\t0.25\nthree\t\t\n".encode()),
}


@pytest.mark.parametrize("file, content, expected", FILES.values(), ids=FILES)
def test_what_was_there_stays_as_it_was(tmp_path, file, content, expected):
    path = tmp_path / file
    path.write_bytes(content)
    table = read_source(str(path), header="no" if file.endswith("txt") else "yes")
    assert len(table.rows) == 2, table
    columns = {name: [row[at] for row in table.rows] for at, name in enumerate(table.columns)}
    added = {"prediction": ["sí", None], "probability": [0.25, None]}
    out = tmp_path / f"out{path.suffix}"
    assert write_returned(out, str(path), table, columns, added, returned(str(path), table, columns, added)) == []
    assert out.read_bytes() == expected


CONLL = "-DOCSTART- -X- O\n\nEl D O\ngato N B-x\n\n# a comment\nVe V O\n"


def test_words_get_their_tags_and_other_lines_stay(tmp_path):
    for content, name in ((CONLL, "a.conll"), (CONLL.replace(" ", "\t").replace("#\ta\t", "# a "), "b.conll")):
        (tmp_path / name).write_text(content.replace("\n", "\r\n"), newline="")
        table = read_source(str(tmp_path / name))
        added = {"prediction": ["O B-y", "O"], "log_probability": [-1.0, -2.0]}
        text, _, kind = returned(str(tmp_path / name), table, {}, added)
        sign = "\t" if name == "b.conll" else " "
        tagged = [f"El{sign}D{sign}O{sign}O", f"gato{sign}N{sign}B-x{sign}B-y", f"Ve{sign}V{sign}O{sign}O"]
        lines = text.split("\r\n")
        assert [lines[2], lines[3], lines[6]] == tagged
        assert [lines[0], lines[1], lines[4], lines[5]] == [content.split("\n")[at] for at in (0, 1, 4, 5)]
        assert kind == "conll"


def test_another_suffix_is_another_format_with_the_types_of_the_file(tmp_path):
    rows = [{"text": "a b", "n": 1, "tags": ["x", "y"], "o": {"k": None}}, {"text": "c", "n": 2, "tags": [], "o": {}}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a b", "c"], "n": [1, 2]}), tmp_path / "a.parquet")
    added = {"prediction": ["sí", None]}
    for name in ("a.jsonl", "a.parquet"):
        file = str(tmp_path / name)
        table = read_source(file)
        columns = {name: [row[at] for row in table.rows] for at, name in enumerate(table.columns)}
        for out in (tmp_path / "out.parquet", tmp_path / "out.jsonl"):
            if out.suffix == ".jsonl" and name == "a.jsonl":
                continue  # the file's own form
            write_returned(out, file, table, columns, added, returned(file, table, columns, added))
            found = pyarrow.parquet.read_table(out).to_pylist() if out.suffix == ".parquet" else []
            found = found or [json.loads(line) for line in out.read_text(encoding="utf-8").split("\n")[:-1]]
            assert [(row["n"], row["prediction"]) for row in found] == [(1, "sí"), (2, None)]
            assert name != "a.jsonl" or [row["tags"] for row in found] == [["x", "y"], []]


def test_rows_that_cannot_be_read_keep_their_places(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,n\none two,1\nlost\nthree,3\n")
    table = read_source(str(path), header="yes")
    columns, added = {"text": ["one two", "three"], "n": ["1", "3"]}, {"prediction": ["p", "q"]}
    form = returned(str(path), table, columns, added)
    assert form.text == "text,n,prediction\none two,1,p\nlost\nthree,3,q\n"
    write_returned(tmp_path / "out.jsonl", str(path), table, columns, added, form)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().split("\n")[:-1]]
    assert [row["prediction"] for row in rows] == ["p", None, "q"]


def test_a_character_that_the_encoding_lacks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text;n\nsí señor;1\n¿qué?;2\n".encode("cp1252"))
    table = read_source(str(path), header="yes")
    added = {"prediction": ["日本", "sí"]}
    form = returned(str(path), table, {"text": ["", ""], "n": ["", ""]}, added)
    (note,) = write_returned(tmp_path / "out.csv", str(path), table, {}, added, form)
    assert "UTF-8" in note and "cp1252" in note
    assert (tmp_path / "out.csv").read_bytes().startswith(codecs.BOM_UTF8)


def test_an_output_that_is_the_input_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\none\n")
    (tmp_path / "b.csv").symlink_to(path)
    for out in (path, tmp_path / "b.csv", tmp_path / "." / "a.csv"):
        with pytest.raises(InputError, match="never written over"):
            require_output(out, str(path))
    with pytest.raises(InputError, match="no such folder"):
        require_output(tmp_path / "no" / "b.csv", str(path))
    with pytest.raises(InputError, match="table format"):
        require_output(tmp_path / "b.docx", str(path))


def test_a_table_of_its_own_is_written_as_the_file_is(tmp_path):
    path = tmp_path / "ventas.csv"
    path.write_bytes("Mes;Ventas año\r\n01/07/2012;12,5\r\n01/08/2012;13,25\r\n".encode("cp1252"))
    form = as_table(str(path), {"Mes": ["01/09/2012"], "Ventas año": [14.5]})
    assert form.dialect.encode(form.text) == "Mes;Ventas año\r\n01/09/2012;14,5\r\n".encode("cp1252")


@pytest.mark.parametrize(
    "cells, last, expected",
    [
        (["01/07/2012", "01/08/2012"], "2012-08-01", "01/08/2012"),
        (["07/01/2012", "08/01/2012"], "2012-08-01", "08/01/2012"),
        (["7/1/2012", "8/1/2012"], "2012-08-01", "8/1/2012"),
        (["2012-07", "2012-08"], "2012-08", "2012-08"),
        (["2012-07-31T23:00:00Z", "2012-08-01T00:00:00Z"], "2012-08-01", "2012-08-01T00:00:00Z"),
        (["1.7.2012 9:00", "1.8.2012 10:30"], "2012-08-01T10:30", "1.8.2012 10:30"),
        (["20120731", "20120801"], "2012-08-01", "20120801"),
        (["01JUL2012", "01AUG2012"], "2012-08-01", ""),  # strftime writes Aug: not what the file has
        (["Q3 2012", "Q4 2012"], "2012-10-01", ""),
    ],
)
def test_times_are_written_as_the_file_writes_them(cells, last, expected):
    form = time_format(cells, np.datetime64(last))
    assert (write_times(np.array([last], dtype="datetime64[s]"), form)[0] if form else "") == expected
