import json

import pytest

from atento.data.evidence.evidence import gather
from atento.errors import InputError


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_facts(tmp_path):
    text = "id,source,target\n1,Go.,Ve.\n2,Go.,Vete ya.\n3,Stop.,\n3,Stop.,\n4,x\n"
    evidence = gather(write(tmp_path, "p.csv", text))
    assert (evidence.file, evidence.kind, evidence.encoding, evidence.header) == ("p.csv", "csv", "utf-8", True)
    assert (evidence.rows, evidence.duplicates, evidence.sources_with_several_targets) == (4, 1, 1)
    assert [str(refusal) for refusal in evidence.refused] == ["p.csv:6:4: the row has 2 fields where 3 are expected."]
    number, source, target = evidence.columns
    assert (number.name, number.distinct, number.share_distinct, number.share_numeric) == ("id", 3, 0.75, 1.0)
    assert (source.mean_characters, source.max_characters, source.examples) == (4.0, 5, ("Go.", "Stop."))
    assert (target.share_empty, target.mean_words, target.share_numeric) == (0.5, 1.5, 0.0)


@pytest.mark.parametrize(
    "name, text, kind",
    [
        ("p.tsv", "a\tb\n", "tsv"),
        ("p.jsonl", '{"a": "b"}\n', "jsonl"),
        ("p.txt", "Some text.\nMore of it.\n", "text"),
        ("p.csv", "a,b\n", "csv"),
    ],
)
def test_kinds(tmp_path, name, text, kind):
    assert gather(write(tmp_path, name, text)).kind == kind


def test_parallel(tmp_path):
    evidence = gather(write(tmp_path, "a.de", "x\ny\n") + "," + write(tmp_path, "a.en", "x\ny\n"))
    assert (evidence.kind, [column.name for column in evidence.columns]) == ("parallel", ["de", "en"])


def test_json_holds_plain_types_only(tmp_path):
    evidence = gather(write(tmp_path, "p.tsv", "a\tb\nc\n"))
    plain = evidence.to_json()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["columns"][0]["examples"] == ["a"]
    assert plain["refused"][0]["line"] == 2


def test_a_file_of_bad_rows_only_is_still_evidence(tmp_path):
    evidence = gather(write(tmp_path, "p.jsonl", "no\njson\n"))
    assert (evidence.rows, evidence.columns, len(evidence.refused)) == (0, (), 2)


def test_kinship_by_hand(tmp_path):
    """Two texts of a row share 2 words of 2, and of neighbours none; both sides know that each row differs."""
    lines = "".join(f"a{n} b{n} c{n}\tb{n} a{n}\n" for n in range(9))
    assert gather(write(tmp_path, "p.tsv", lines)).text_similarity == 1
    same = "".join(f"the cat {n}\tthe cat {n + 50}\n" for n in range(9))
    assert gather(write(tmp_path, "p.tsv", same)).text_similarity == 0, "words that all rows share make no row kin"


def test_columns_that_the_user_named_are_the_roles(tmp_path):
    text = "text,more,kind,topic\n" + "".join(f"some words {n},other words {n},{n % 2},{n % 3}\n" for n in range(60))
    path = write(tmp_path, "p.csv", text)
    assert gather(path, label="kind").roles.label == 2
    named = gather(path, source="more", label="topic").roles
    assert (named.text, named.label) == (1, 3)
    switches = gather(path, label="kind, topic").roles
    assert (switches.label, switches.labels, switches.indicators) == (-1, -1, (2, 3))
    assert gather(path, source="more,text").roles.text == 1
    assert gather(path).to_json()["roles"]["text"] == "text"
    with pytest.raises(InputError, match="no column 'kin'"):
        gather(path, label="kin")


def test_a_very_wide_table_is_judged_by_its_first_and_last_columns_and_those_that_are_named(tmp_path):
    names = [f"c{at}x" for at in range(1500)]
    rows = [",".join([f"2020-01-{day:02}", *(f"{day}.{at % 7}" for at in range(1500))]) for day in range(1, 12)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(["date", *names]), *rows]) + "\n")
    found = gather(str(tmp_path / "wide.csv"), label="c700x")
    assert len(found.columns) == 1001 and found.columns[found.roles.label].name == "c700x"
    assert any("1,501 columns: judged by" in note for note in found.notes)
    assert found.series is not None and found.series.time == ("date",)
