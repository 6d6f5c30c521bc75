import csv
import io
import json
import random

import pyarrow
import pyarrow.parquet
import pytest

from atento.data import read_table
from atento.data.files.opening import read_exact
from atento.data.tables import table as tables
from atento.data.tables.annotating import annotate
from atento.errors import InputError


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def table(folder, name, data, **options):
    return read_table(write(folder, name, data), **options)


def places(refused):
    return [f"{refusal.line}:{refusal.column}" for refusal in refused]


# Formats that read right


def test_tsv_takes_quotes_as_characters(tmp_path):
    read = table(tmp_path, "pairs.tsv", 'He said "go".\tVe.\n"open\tabierto\n')
    assert read.rows == (('He said "go".', "Ve."), ('"open', "abierto"))
    assert (read.file, read.kind, read.encoding, read.lines) == ("pairs.tsv", "tsv", "utf-8", (1, 2))


def test_csv_with_quotes_and_line_ends(tmp_path):
    read = table(tmp_path, "p.csv", 'source,target\r\n"a, ""b""","two\r\nlines"\r\nx "y" z,w\r\n')
    assert read.columns == ("source", "target")
    assert read.rows == (('a, "b"', "two\nlines"), ('x "y" z', "w"))
    assert read.lines == (2, 4)


@pytest.mark.parametrize("delimiter, name", [(";", "semicolon"), ("|", "bar"), ("\t", "tab")])
def test_csv_delimiters_are_found_and_said(tmp_path, delimiter, name):
    rows = [("Hello, you", "Hola, tú"), ("1,5", "2,5"), ("a", "b")]
    read = table(tmp_path, "p.csv", "\n".join(delimiter.join(row) for row in rows))
    assert read.rows == tuple(rows)
    assert f"the delimiter is a {name}, not a comma" in read.notes


def test_commas_below_a_header_of_one_name_belong_to_the_texts(tmp_path):
    texts = "review\nThe soup was superb, señor\nOur waiter was rude\n"
    read = table(tmp_path, "new.csv", texts)
    assert (read.columns, read.rows) == (("review",), (("The soup was superb, señor",), ("Our waiter was rude",)))
    assert "there is one column, and the commas belong to its texts" in read.notes
    written = annotate(str(tmp_path / "new.csv"), read, {"prediction": ["yes", "no"], "probability": [0.9, 0.8]})
    assert written[0].split("\n")[1] == "The soup was superb, señor;yes;0.9"  # no decimal comma: no semicolon told so
    quoted = table(tmp_path, "quoted.csv", 'review\n"superb, señor"\nrude, they said\n', bad_rows="skip")
    assert quoted.rows == (("superb, señor",),) and len(quoted.refused) == 1  # where quotes are used, they are missed


def test_decimal_commas_do_not_part_fields(tmp_path):
    assert table(tmp_path, "p.csv", "1,5;2,5\n3,5;4,5\n").rows == (("1,5", "2,5"), ("3,5", "4,5"))


def test_csv_agrees_with_the_standard_library(tmp_path):
    chance = random.Random(7)
    for _ in range(100):
        cells = ["".join(chance.choices('ab",\n é', k=chance.randint(1, 6))) for _ in range(3 * chance.randint(1, 9))]
        rows = [tuple(cell + "x" for cell in cells[at : at + 3]) for at in range(0, len(cells), 3)]
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        read = table(tmp_path, "p.csv", text.getvalue(), header="no")
        assert read.rows == tuple(rows)


def test_jsonl_objects(tmp_path):
    lines = ['{"source": "a", "n": 1e5}', '{"n": 0.50, "source": "b", "more": true}', '{"source": null, "n": -7}']
    read = table(tmp_path, "p.jsonl", "\n".join(lines))
    assert read.columns == ("source", "n", "more")
    assert read.rows == (("a", "1e5", ""), ("b", "0.50", "true"), ("", "-7", ""))
    assert "2 rows without the key 'more': read as empty" in read.notes


def test_jsonl_lists(tmp_path):
    read = table(tmp_path, "p.jsonl", '["a", "b"]\n["c", 1]\n')
    assert (read.columns, read.rows) == (("1", "2"), (("a", "b"), ("c", "1")))


def test_parquet(tmp_path):
    frame = pyarrow.table({"source": ["007", None], "target": ["NA", "e\u0301"], "n": [1, 2]})
    pyarrow.parquet.write_table(frame, tmp_path / "p.parquet")
    read = read_table(str(tmp_path / "p.parquet"))
    assert read.columns == ("source", "target", "n")
    assert read.rows == (("007", "NA", "1"), ("", "é", "2"))
    assert read.lines == (1, 2)


@pytest.mark.parametrize(
    "text, kind, width",
    [
        ("a\tb\nc\td\n", "tsv", 2),
        ('\n{"a": "b"}\n', "jsonl", 1),
        ('["a", "b"]\n', "jsonl", 2),
        ("a;b\nc;d\n", "csv", 2),
        ("Hello, you.\nBye, now.\n", "text", 1),
        ("First.\n\nSecond, and last.\n", "text", 1),
    ],
)
def test_unknown_endings_are_judged_by_content_and_said(tmp_path, text, kind, width):
    read = table(tmp_path, "spanish-train", text, bad_rows="skip")
    assert (read.kind, len(read.columns)) == (kind, width)
    assert read.notes[0].startswith("spanish-train is read as ")


@pytest.mark.parametrize("name, text", [("p.tsv", "NA\t007\n1e5\t1_0\n"), ("p.csv", "NA,007\n1e5,1_0\n")])
def test_text_stays_as_written(tmp_path, name, text):
    assert table(tmp_path, name, text).rows == (("NA", "007"), ("1e5", "1_0"))


def test_plain_text_keeps_blank_lines_within(tmp_path):
    read = table(tmp_path, "poem.txt", "One line.\n\nAnother, longer.\n\n\n")
    assert (read.columns, read.rows) == (("text",), (("One line.",), ("",), ("Another, longer.",)))


def test_composed_characters_do_not_move_columns_nor_make_delimiters(tmp_path):
    read = table(tmp_path, "p.csv", "cafe\u0301,b,c\nd\u037ee,f,g\nx,y\n", bad_rows="skip", header="no")
    assert read.rows == (("café", "b", "c"), ("d;e", "f", "g"))
    read = table(tmp_path, "p.tsv", "a\tb\ncafe\u0301\tx\ty\n", bad_rows="skip")
    assert places(read.refused) == ["2:9"]


# Headers


@pytest.mark.parametrize(
    "name, text",
    [
        ("p.tsv", "source\ttarget\na\tb\n"),
        ("p.tsv", "English\tEspañol\na\tb\n"),
        ("p.tsv", "pair_ID\tsentence_A\tscore\n1\tA man.\t4.5\n"),
        ("p.csv", "source_text,target_text\na,b\n"),
        ("p.csv", "date,HUFL\n2016-07-01,5.8\n"),
        ("p.csv", "frase,oración\nI am here.,Estoy aquí.\nGo away now.,Vete ya.\n"),
        ("p.csv", "frase,traducción\nI am here,Estoy aquí\nGo away now,Vete ya\n"),
        ("p.csv", ",en,de\n0,a b,c d\n"),
    ],
)
def test_headers_are_seen_and_said(tmp_path, name, text):
    read = table(tmp_path, name, text)
    assert read.header
    assert len(read.rows) == text.count("\n") - 1
    assert any(note.startswith("line 1 is a header: columns are named ") for note in read.notes)


@pytest.mark.parametrize(
    "name, text",
    [
        ("p.tsv", "Go.\tVe.\nRun!\tCorre.\n"),
        ("p.tsv", "word\tW ER D\ncat\tK AE T\n"),
        ("p.tsv", "text\ttext\nword\tlabel\n"),
        ("p.csv", "Go,Ve\nRun,Corre\nI am here,Estoy aquí\n"),
        ("p.csv", "Great film,positive\nI did not like it at all,negative\nA good one for us all,positive\n"),
        ("p.csv", "NA,5\n3,4\n2,2\n"),
    ],
)
def test_data_is_not_taken_for_a_header(tmp_path, name, text):
    read = table(tmp_path, name, text)
    assert not read.header
    assert len(read.rows) == text.count("\n")
    assert "no header line: columns are named 1 and 2" in read.notes


def test_asked_names_make_a_header(tmp_path):
    text = "abc\txyz\nd\te\n"
    assert table(tmp_path, "p.tsv", text).columns == ("1", "2")
    assert table(tmp_path, "p.tsv", text, names=["xyz"]).columns == ("abc", "xyz")


def test_header_as_told(tmp_path):
    assert table(tmp_path, "p.tsv", "a\tb\nc\td\n", header="yes").columns == ("a", "b")
    assert table(tmp_path, "p.tsv", "source\ttarget\n", header="no").rows == (("source", "target"),)


# Rows that are refused


BAD_ROWS = [
    ("p.tsv", "a\tb\nxyz\nc\td\n", "2:4", "the row has 1 field where 2 are expected.", "'xyz'", "after a tab"),
    (
        "p.tsv",
        "a\tb\nx\ty\tz\nc\td\n",
        "2:5",
        "the row has 3 fields where 2 are expected.",
        "'x\\ty\\tz'",
        "surplus tab",
    ),
    ("p.tsv", "a\tb\n\nc\td\n", "2:1", "the line is blank.", "a blank line", "delete the line"),
    ("p.csv", "source,target\na,b,c\n", "2:5", "3 fields where 2", "'a,b,c'", "double quotes"),
    ("p.csv", 'source,target\n"a\nb",c,d\n', "3:6", "3 fields where 2", "'a\\nb,c,d'", "double quotes"),
    ("p.csv", "source,target\na\n", "2:2", "1 field where 2", "'a'", "after a comma"),
    ("p.csv", 'a,b\nc,"d\ne,f\n', "2:3", "a quote opens here and is never closed.", "'\"d'", "close the quote"),
    ("p.csv", 'a,b\nc,"d\ne,"f"\n', "2:3", "is not closed before its row ends.", "'\"d'", "close the quote"),
    ("p.csv", 'a,b\n"c" d,e\n', "2:4", "text follows a closing quote.", "' d,e'", 'write ""'),
    ("p.csv", "a,b\n \nc,d\n", "2:1", "the line is blank.", "a blank line", "delete the line"),
    ("p.jsonl", '{"a": 1}\n{"a": 2,}\n', "2:9", "this is not JSON: ", "'{\"a\": 2,}'", "one JSON object"),
    ("p.jsonl", '{"a": 1}\n{"a": 007}\n', "2:8", "this is not JSON: ", "007", "one JSON object"),
    ("p.jsonl", '{"a": 1}\n5\n', "2:1", "not a JSON object with keys.", "'5'", "write an object"),
    ("p.jsonl", '{"a": 1}\n["b"]\n', "2:1", "a list where the others are objects.", "b", "as an object"),
    ("p.jsonl", '["a"]\n["b"]\n{"a": 1}\n', "3:1", "an object where the others are lists.", "a", "as a list"),
    ("p.jsonl", '["a", "b"]\n["c"]\n["d", "e"]\n', "2:5", "1 field where 2", "'c'", "add what is missing"),
    (
        "p.jsonl",
        '{"a": "x"}\n{ "a" : [["x"]]}\n',
        "2:9",
        "the value of 'a' is a list of lists or objects, not text.",
        "x",
        "as one text",
    ),
    ("p.jsonl", '{"a": "x"}\n{"a": "\\ud800"}\n', "2:7", "a character that cannot be written.", "ud800", "escape"),
    ("p.jsonl", '{"a": "x"}\n{"a": 1, "a": 2}\n', "2:1", "the key 'a' comes twice", "a", "keep one"),
    ("p.jsonl", '{"a": "x"}\n' + "[" * 99999 + "\n", "2:1", "nested too deep.", "[[[", "one object"),
    ("p.jsonl", '{"a": "x"}\n\n{"a": "y"}\n', "2:1", "the line is blank.", "a blank line", "delete"),
]


@pytest.mark.parametrize("name, text, place, problem, found, fix", BAD_ROWS)
def test_bad_rows_stop_with_place_and_fix_or_are_listed(tmp_path, name, text, place, problem, found, fix):
    with pytest.raises(InputError) as caught:
        table(tmp_path, name, text)
    error = caught.value
    assert error.problem.startswith(f"{name}:{place}: ")
    assert problem in error.problem
    assert found in error.found
    assert fix in error.fix
    assert error.fix.endswith("or pass --set data.bad_rows=skip to leave such rows out")
    read = table(tmp_path, name, text, bad_rows="skip")
    assert places(read.refused) == [place]
    assert str(read.refused[0]).startswith(f"{name}:{place}: ")
    assert problem in read.refused[0].problem


def test_the_first_of_several_bad_rows_stops_and_the_others_are_counted(tmp_path):
    with pytest.raises(InputError) as caught:
        table(tmp_path, "p.tsv", "a\tb\nc\td\nx\n\ny\tz\tw\ne\tf\n")
    assert caught.value.problem.startswith("p.tsv:3:2: ")
    assert "(2 more bad rows in the file)" in caught.value.found


def test_rows_after_an_open_quote_are_not_lost(tmp_path):
    read = table(tmp_path, "p.csv", 'a,b\n"c,d\ne,f\ng,"h\ni,j\n', bad_rows="skip")
    assert read.rows == (("a", "b"), ("e", "f"), ("i", "j"))
    assert places(read.refused) == ["2:1", "4:3"]


def test_keys_that_nobody_asked_for_may_be_missing(tmp_path):
    text = '{"a": "x", "b": "y", "c": "z"}\n{"a": "x", "b": "y"}\n'
    assert table(tmp_path, "p.jsonl", text, names=["a", "b"]).rows[1] == ("x", "y", "")
    assert table(tmp_path, "p.jsonl", text).rows[1] == ("x", "y", "")
    with pytest.raises(InputError, match=r"(?s)^p.jsonl:2:20: the key 'c' is missing.*fix: +add 'c'"):
        table(tmp_path, "p.jsonl", text, names=["c"])


# Files that are refused whole


@pytest.mark.parametrize(
    "name, data, problem, found, fix",
    [
        ("p.csv", "source,target\n\n", "p.csv:1:1: the file has no rows.", "source and target", "below the header"),
        ("p.csv", "a,b,a\n1,2,3\n", "p.csv:1: 2 columns are named 'a'.", "a, b and a", "its own name"),
        ("p.csv", '"a,b\nc,d\n', "p.csv:1:1: a quote opens here", "in the header line", "close the quote"),
        (
            "p.json",
            '{"data": [{"title": "t", "paragraphs": []}]}',
            "p.json:1:1: this is a set of questions whose answers are spans",
            "1 articles",
            "columns",
        ),
        (
            "p.json",
            '{"a": [{"x": 1}], "b": [{"x": 1}, {"x": 2}]}',
            "p.json:1:1: the JSON document holds several lists of objects.",
            "a (1) and b (2)",
            "jq '.b' FILE",
        ),
        ("p.parquet", "no parquet at all", "p.parquet:1:1: this cannot be read as Parquet.", "magic bytes", "again"),
        ("p.parquet", "", "p.parquet:1:1: this cannot be read as Parquet.", "0 bytes", "again"),
    ],
)
def test_files_without_a_table(tmp_path, name, data, problem, found, fix):
    with pytest.raises(InputError) as caught:
        table(tmp_path, name, data, header="yes", bad_rows="skip")
    assert caught.value.problem.startswith(problem)
    assert found in caught.value.found
    assert fix in caught.value.fix


def test_parquet_rows_with_a_nul_are_refused(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"a": ["x", "y\0"], "b": ["1", "2"]}), tmp_path / "p.parquet")
    read = read_table(str(tmp_path / "p.parquet"), bad_rows="skip")
    assert (read.rows, places(read.refused)) == ((("x", "1"),), ["2:1"])


# Whatever the bytes: an InputError or every row accounted for


def parquet_bytes():
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"source": [f"a {n}" for n in range(9)], "n": list(range(9))}), sink)
    return sink.getvalue()


VALID = {
    "p.csv": 'source,target\n"a, b",c\n"x ""y"" z",w\n"two\nlines",é\nñandú,ok\n'.encode() * 2,
    "p.tsv": "Who ate?\t¿Quién comió?\nGo.\tVe.\nRun!\tCorre\n".encode() * 3,
    "p.jsonl": b'{"source": "a", "target": "\\u00e9"}\n{"source": "b", "target": 1e5}\n' * 3,
    "p.txt": b"a;b\nc;d\nNA;007\n" * 3,
    "p.parquet": parquet_bytes(),
}
JUNK = [b'"', b'""', b"\n", b"\r\n", b"\n\n", b"\t", b",", b";", b"{", b"[", b"}", b"\\", b"\0", b"\xff", b"\xc3\xa9"]
JUNK += [b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\x1c", b"[" * 3000, b"\\ud800", b" ", b"9" * 5000]


def mutate(data, chance):
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        kind = chance.random()
        if kind < 0.5:
            data[at:at] = chance.choice(JUNK)
        elif kind < 0.7:
            del data[at : at + chance.randint(1, 8)]
        elif kind < 0.9:
            data[at : at + 1] = bytes([chance.randrange(256)])
        else:
            del data[at:]
    return bytes(data)


def check_every_row_is_accounted_for(path):
    read = read_table(path, bad_rows="skip")
    starts = [*read.lines, *(refusal.line for refusal in read.refused)]
    assert all(len(row) == len(read.columns) for row in read.rows)
    assert len(set(starts)) == len(starts)
    if read.kind == "parquet":
        assert len(starts) == pyarrow.parquet.read_metadata(path).num_rows
        return
    text = read_exact(path).text
    lines = len(text.rstrip().split("\n"))
    header = any(note.startswith("line ") for note in read.notes)
    if read.kind == "csv" and '"' in text:
        held = sum(1 + sum(cell.count("\n") for cell in row) for row in read.rows) + len(read.refused) + header
        assert held == lines if not read.refused else held <= lines
    else:
        assert len(starts) + header == lines


@pytest.mark.parametrize("name", VALID)
def test_mutated_files_never_surprise(tmp_path, name):
    chance = random.Random(f"mutations of {name}")
    read = 0
    for _ in range(300):
        path = write(tmp_path, name, mutate(VALID[name], chance))
        try:
            check_every_row_is_accounted_for(path)
            read += 1
        except InputError as error:
            assert error.found
            assert error.fix
    assert read  # some mutations do no harm


def test_refusals_are_plain_values(tmp_path):
    read = table(tmp_path, "p.tsv", "a\tb\nx\n", bad_rows="skip")
    assert json.dumps(vars(read.refused[0]))


def test_equal_content_is_parsed_once_within_a_context(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with tables.parsed_once():
        first = tables.read_table(str(path))
        with tables.parsed_once():
            assert tables.read_table(str(path)) is first
        assert tables.read_table(str(path)) is first
        assert tables.read_table(str(path), header="no") is not first
        path.write_text("a,b\n3,4\n", encoding="utf-8")  # as long, and perhaps in the same tick of the clock
        assert tables.read_table(str(path)).rows == (("3", "4"),)
    assert tables.read_table(str(path)) is not tables.read_table(str(path))


def test_few_tables_are_kept(tmp_path):
    with tables.parsed_once():
        for number in range(2 * tables.MAX_PARSED):
            (tmp_path / "a.csv").write_text(f"a,b\n{number},2\n", encoding="utf-8")
            tables.read_table(str(tmp_path / "a.csv"))
        assert len(tables.PARSED_TABLES.get()) == tables.MAX_PARSED
    assert tables.PARSED_TABLES.get() is None
