"""What is written reads back equal."""

import json

import pytest

from atento.data import read_table, write_table
from atento.data.tables.writing import WRITERS, find_writer
from atento.errors import InputError, MachineError

ODD_CELLS = ["plain", "a,b;c", 'say "go"', " lead", "trail ", "", "ñ 你好 😀", "שלום", "007", "NA", "1e5", "'", "=1+1"]
ODD_CELLS += ["u\u2028v", "x\x85y", "f\x0cg", "#", "-", "\u200b", "[1]", '{"a": 1}']
BREAKS = ["two\nlines", "cr\rhere", "crlf\r\nhere", "tab\there"]


def back(path):
    read = read_table(str(path))
    return {name: [row[place] for row in read.rows] for place, name in enumerate(read.columns)}


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_reads_back_equal(tmp_path, ending):
    columns = {
        "source": ODD_CELLS,
        "output": ODD_CELLS[::-1],
        "score": [f"-{place}.5" for place in range(len(ODD_CELLS))],
    }
    write_table(tmp_path / f"table{ending}", columns)
    assert back(tmp_path / f"table{ending}") == columns


@pytest.mark.parametrize("ending", WRITERS)
def test_breaks_inside_a_cell(tmp_path, ending):
    """Kept where the format can; JSON and Parquet keep every kind, CSV one kind, TSV none."""
    for cell in BREAKS:
        expected = cell
        if ending == ".csv":
            expected = cell.replace("\r\n", "\n").replace("\r", "\n")
        elif ending == ".tsv":
            expected = " ".join(cell.split())
        write_table(tmp_path / f"table{ending}", {"source": ["first", cell], "output": [cell, "last"]})
        assert back(tmp_path / f"table{ending}") == {"source": ["first", expected], "output": [expected, "last"]}


def test_numbers_stay_numbers_where_the_format_has_them(tmp_path):
    columns = {"source": ["a"], "score": [-1.25]}
    write_table(tmp_path / "t.jsonl", columns)
    assert json.loads((tmp_path / "t.jsonl").read_text(encoding="utf-8")) == {"source": "a", "score": -1.25}
    for ending in WRITERS:
        write_table(tmp_path / f"t{ending}", columns)
        assert back(tmp_path / f"t{ending}") == {"source": ["a"], "score": ["-1.25"]}


def test_the_name_says_the_format(tmp_path):
    assert find_writer(tmp_path / "T.CSV") is WRITERS[".csv"]
    with pytest.raises(InputError, match=r"did you mean '\.csv'"):
        find_writer(tmp_path / "t.cvs")
    with pytest.raises(InputError, match="no such folder"):
        find_writer(tmp_path / "nowhere" / "t.csv")


def test_whole_or_not_at_all(tmp_path):
    path = tmp_path / "t.csv"
    write_table(path, {"source": ["old"]})
    with pytest.raises(ValueError, match="zip"):
        write_table(path, {"source": ["new"], "output": []})  # columns of unequal length
    assert back(path) == {"source": ["old"]}
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(MachineError, match="could not be written"):
        write_table(tmp_path / "folder.csv", {"source": ["new"]})
    assert sorted(item.name for item in tmp_path.iterdir()) == ["folder.csv", "t.csv"]


def test_tagged_words_become_conll(tmp_path):
    columns = {"words": ["The\tcat", "Stop"], "tags": ["D\tN", "V"], "prediction": ["D N", "N"], "score": [-0.5, -1.0]}
    write_table(tmp_path / "out.conll", columns)
    assert (tmp_path / "out.conll").read_text() == "The\tD\tD\ncat\tN\tN\n\nStop\tV\tN\n\n"
    assert back(tmp_path / "out.conll")["words"] == ["The\tcat", "Stop"]
    write_table(tmp_path / "text.conll", {"source": ["Go home!"], "prediction": ["V N P"], "score": [-0.5]})
    assert (tmp_path / "text.conll").read_text() == "Go\tV\nhome\tN\n!\tP\n\n"
    with pytest.raises(InputError, match="no column has as many words as there are tags"):
        write_table(tmp_path / "no.conll", {"source": ["two words"], "prediction": ["positive"]})
    assert not (tmp_path / "no.conll").exists()
