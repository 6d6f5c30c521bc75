"""Tables as programs write them: ruled, aligned by spaces, with instructions, escapes and blank rows; TMX; Excel."""

import io
import sys
import zipfile

import pytest
from tests.journeys.real_files.workbooks import workbook

from atento.data.sources.reading import read_source
from atento.errors import InputError, MachineError

REVIEWS = [(f"{at}", f"a review of words {at}", "no" if at % 2 else "yes") for at in range(1, 21)]


def read(folder, name, text, **keys):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_source(str(path), **keys)


def ruled(bar: str) -> str:
    return "".join(f"{bar} {' | '.join(row)} {bar}\n".strip() + "\n" for row in REVIEWS)


FORMS = {
    "psql": f" id | text | label \n----+------+-------\n{ruled('')}(20 rows)\n\n",
    "Markdown": f"| id | text | label |\n|:---|------|-------|\n{ruled('|')}",
    "mysql": f"+----+------+-----+\n| id | text | label |\n+----+------+-----+\n{ruled('|')}+----+------+-----+\n",
    "sep=": "sep=;\nid;text;label\n" + "".join(";".join(row) + "\n" for row in REVIEWS),
    "blank rows": "id,text,label\n" + "".join(",".join(row) + "\n" for row in REVIEWS) + ",,\n ,,\n,,\n",
    "R": '"text" "label"\n' + "".join(f'"{row[0]}" "{row[1]}" "{row[2]}"\n' for row in REVIEWS),
    "a CSV file by the name of a TSV file": "id,text,label\n" + "".join(",".join(row) + "\n" for row in REVIEWS),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_rows(tmp_path, form):
    name = {"sep=": "t.csv", "blank rows": "t.csv"}.get(form, "t.tsv" if "TSV" in form else "table")
    table = read(tmp_path, name, FORMS[form])
    assert table.rows == tuple(REVIEWS)
    assert table.columns[1:] == ("text", "label")
    assert table.refused == ()
    lines = FORMS[form].split("\n")
    for row in (0, 19):
        file, line, column = table.place(row, 1)
        assert lines[line - 1][column - 1 :].lstrip(' "').startswith(REVIEWS[row][1]), (file, line, column)


def test_blank_rows_are_counted_in_a_note(tmp_path):
    table = read(tmp_path, "t.csv", FORMS["blank rows"])
    assert "3 blank rows left out (lines 22, 23 and 24)" in table.notes


def test_quotes_with_backslashes_are_known_by_the_whole_file(tmp_path):
    table = read(tmp_path, "dump.csv", 'id,text\n1,"he said \\"no\\", twice"\n2,"a \\\\ and more"\n3,plain\n')
    assert table.rows == (("1", 'he said "no", twice'), ("2", "a \\ and more"), ("3", "plain"))
    assert read(tmp_path, "p.csv", 'a,b\n"ends in \\",x\n"and ""so""",y\n').rows[0] == ("ends in \\", "x")


def test_quotes_of_a_tsv_file_are_quotes_where_some_are_doubled_inside(tmp_path):
    assert read(tmp_path, "a.tsv", 'text\tlabel\n"so ""he"" said"\tx\nplain\ty\n').rows[0] == ('so "he" said', "x")
    assert read(tmp_path, "b.tsv", 'text\tlabel\n"so he said"\tx\nplain\ty\n').rows[0] == ('"so he said"', "x")
    assert read(tmp_path, "c.tsv", 'text\tlabel\n"so ""he"" said"\tx\n"open\ty\n').rows[1] == ('"open', "y")


@pytest.mark.parametrize("count", [600, 3000])
@pytest.mark.parametrize("form", ["{label} {text}\n", "{label}\t{text}\n"])
def test_labels_count_wherever_they_are_in_a_file(tmp_path, form, count):
    rows = [(label, f"some words of text {at}") for label in "01" for at in range(count)]
    table = read(tmp_path, "sorted", "".join(form.format(label=label, text=text) for label, text in rows))
    assert table.rows == tuple(rows)


def test_features_of_libsvm_are_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="LIBSVM"):
        read(tmp_path, "a1a", "".join(f"{'+1' if at % 2 else '-1'} 3:{at} 7:0.5 \n" for at in range(30)))


UNIT = '<tu><tuv xml:lang="en"><seg>{} <bpt i="1">x</bpt></seg></tuv><tuv lang="eu"><seg>{}</seg></tuv></tu>\n'
BODY = "".join(UNIT.format(f"one {at}", f"bat {at}") for at in range(9))


def tmx(before: str = "", units: str = BODY) -> str:
    return f'<?xml version="1.0"?>\n{before}<tmx version="1.4"><header/><body>\n{units}</body></tmx>\n'


def test_a_translation_memory(tmp_path):
    for name, before in (("m.tmx", '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'), ("memory", "")):
        table = read(tmp_path, name, tmx(before))
        assert (table.columns, len(table.rows), table.rows[0]) == (("en", "eu"), 9, ("one 0 x", "bat 0"))
    alone = '<tu><tuv xml:lang="en"><seg>only</seg></tuv></tu>\n'
    assert "1 unit without en and eu left out" in read(tmp_path, "m.tmx", tmx(units=BODY + alone)).notes


@pytest.mark.parametrize(
    "text, problem",
    [
        (tmx('<!DOCTYPE tmx [<!ENTITY a "aaaa">]>'), "declares entities of its own"),
        (tmx().replace("</body>", ""), "is not valid XML"),
        (tmx(units='<tu><tuv xml:lang="en"><seg>only</seg></tuv></tu>'), "needs two languages"),
    ],
)
def test_a_translation_memory_that_is_refused(tmp_path, text, problem):
    with pytest.raises(InputError, match=problem):
        read(tmp_path, "m.tmx", text)


def add_sheet(path, name):
    """A second sheet in a workbook."""
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info).decode() for info in archive.infolist()}
    sheet = f'<sheet name="{name}" sheetId="2" r:id="rId9"/></sheets>'
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace("</sheets>", sheet)
    relations, link = "xl/_rels/workbook.xml.rels", parts["xl/_rels/workbook.xml.rels"].split("<Relationship ")[1]
    more = "<Relationship " + link.replace("rId1", "rId9").replace("sheet1", "sheet2")
    parts[relations] = parts[relations].replace("</Relationships>", more + "</Relationships>")
    parts["xl/worksheets/sheet2.xml"] = parts["xl/worksheets/sheet1.xml"].replace("<v>1.0</v>", "<v>7</v>")
    kind = parts["[Content_Types].xml"]
    override = kind[kind.index('<Override PartName="/xl/worksheets') :].split("/>")[0] + "/>"
    parts["[Content_Types].xml"] = kind.replace("</Types>", override.replace("sheet1", "sheet2") + "</Types>")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in parts.items():
            archive.writestr(part, text)


@pytest.fixture
def book(tmp_path):
    rows = [[text, float(at), 1.5] for at, text, _ in REVIEWS]
    workbook(tmp_path / "b.xlsx", ["text", "n", "x"], [*rows[:7], [None, None, None], *rows[7:], [" ", None, None]])
    return tmp_path / "b.xlsx"


def test_a_workbook(book):
    table = read_source(str(book))
    assert (table.columns, len(table.rows)) == (("text", "n", "x"), 20)
    assert table.rows[0] == ("a review of words 1", "1", "1.5")
    assert tuple(table.place(7, 1)) == ("b.xlsx", 10, 2)  # the row and column of the sheet


def test_one_of_several_sheets_is_named_by_a_key(book):
    add_sheet(book, "Year 2")
    with pytest.raises(InputError) as caught:
        read_source(str(book))
    assert "the workbook has 2 sheets" in caught.value.problem and "'Sheet1' and 'Year 2'" in caught.value.found
    assert caught.value.fix == "pass --set data.sheet=Sheet1"
    assert read_source(str(book), sheet="Year 2").rows[0][1] == "7"
    with pytest.raises(InputError, match=r"(?s)no sheet 'year2'.*--set 'data.sheet=Year 2'"):
        read_source(str(book), sheet="year2")


def test_a_workbook_without_its_extra_names_the_line_to_install(book, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MachineError, match=r'pip install "atento\[excel\]"'):
        read_source(str(book))


@pytest.mark.parametrize("part, problem", [("<!DOCTYPE x>", "declares entities"), (" " * 2**23, "over 1000 times")])
def test_a_workbook_that_attacks_is_refused(book, part, problem):
    with zipfile.ZipFile(book, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/more.xml", part)
    with pytest.raises(InputError, match=problem):
        read_source(str(book))


def test_a_damaged_workbook_is_refused(tmp_path):
    saved = io.BytesIO()
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("a.txt", "no workbook")
    (tmp_path / "b.xlsx").write_bytes(saved.getvalue())
    with pytest.raises(InputError, match="cannot be read as an Excel workbook"):
        read_source(str(tmp_path / "b.xlsx"))
