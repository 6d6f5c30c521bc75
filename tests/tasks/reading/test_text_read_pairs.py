"""From a recipe to three parts that share nothing."""

import unicodedata
from pathlib import Path

import pytest

from atento.data.builtin import is_builtin
from atento.data.builtin.numbers import english, german
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.reader import by_source
from atento.tasks.reading.text import PAIRS


def write(path, pairs):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return str(path)


@pytest.fixture
def many(tmp_path):
    """A hundred sources, each with two targets."""
    return write(tmp_path / "many.tsv", [(f"q {n // 2}", f"a {n}") for n in range(200)])


def test_parts_are_shares_of_distinct_sources(many):
    read = PAIRS.read(DataRecipe(train=many, split="80/10/10"), 0)
    parts = [
        {source for source, _ in read.train},
        {one.source for one in read.valid},
        {one.source for one in read.test},
    ]
    assert [len(part) for part in parts] == [80, 10, 10]
    assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    assert len(read.train) == 160
    assert all(len(one.references) == 2 for one in (*read.valid, *read.test))


def test_one_seed_one_split_whatever_the_order(many, tmp_path):
    lines = Path(many).read_text(encoding="utf-8").splitlines()
    turned = write(tmp_path / "turned.tsv", [line.split("\t") for line in reversed(lines)])
    first = PAIRS.read(DataRecipe(train=many), 0)
    again = PAIRS.read(DataRecipe(train=many), 0)
    assert first.fingerprint == again.fingerprint
    other = PAIRS.read(DataRecipe(train=turned), 0)
    assert {one.source for one in first.test} == {one.source for one in other.test}
    assert {one.source for one in PAIRS.read(DataRecipe(train=many), 1).test} != {one.source for one in first.test}


def test_the_fingerprint_knows_every_text_and_its_part(tmp_path):
    rows = [(f"s{n}", f"t{n}") for n in range(30)]
    held = write(tmp_path / "held.tsv", [("x", "y")])
    found = set()
    for changed in (rows, rows[:-1], [*rows[:-1], ("s29", "other")], [("s0t0", ""), *rows[1:]][1:]):
        path = write(tmp_path / "p.tsv", changed)
        found.add(PAIRS.read(DataRecipe(train=path, valid=held, test=held), 0).fingerprint)
    path = write(tmp_path / "p.tsv", rows)
    found.add(PAIRS.read(DataRecipe(train=path, valid=held), 0).fingerprint)
    assert len(found) == 5


def test_what_is_held_out_is_not_trained_on(tmp_path):
    rows = [(f"s{n}", f"t{n}") for n in range(20)]
    train, valid = write(tmp_path / "t.tsv", rows), write(tmp_path / "v.tsv", [rows[3], ("new", "one")])
    read = PAIRS.read(DataRecipe(train=train, valid=valid, split="90/5/5"), 0)
    assert {one.source for one in read.valid} == {"s3", "new"}
    assert len(read.test) == 1
    assert len(read.train) == 18
    assert any("1 training rows left out" in note for note in read.notes)
    with pytest.raises(InputError, match="no training rows are left"):
        PAIRS.read(DataRecipe(train=train, valid=train, test=train), 0)


def test_characters_are_composed(tmp_path):
    apart = unicodedata.normalize("NFD", "größe")
    path = write(tmp_path / "p.tsv", [(f"{apart} {n}", "size") for n in range(20)])
    read = PAIRS.read(DataRecipe(train=path), 0)
    assert all("größe" in source for source, _ in read.train)


def test_rows_of_one_source_are_one_question():
    assert by_source([("a", "1"), ("b", "2"), ("a", "3"), ("a", "1")]) == (("a", ("1", "3")), ("b", ("2",)))


def test_an_existing_file_beats_a_built_in_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_builtin("numbers")
    write(tmp_path / "numbers", [(f"s{n}", f"t{n}") for n in range(20)])
    assert not is_builtin("numbers")
    assert len(PAIRS.read(DataRecipe(train="numbers"), 0).train) == 18


def test_the_built_in_set_goes_either_way():
    read = PAIRS.read(DataRecipe(train="numbers", source="en", target="de"), 3)
    words = {english(number): german(number) for number in range(1000)}
    known = [(source, target) for source, target in read.train if source in words]
    assert known and all(words[source] == target for source, target in known)


@pytest.mark.parametrize("key", ["valid", "test", "split"])
def test_a_built_in_set_has_parts_of_its_own(key):
    with pytest.raises(InputError, match=rf"data\.{key}: numbers is built in[\s\S]*leave data\.{key} out"):
        PAIRS.read(DataRecipe(train="numbers", **{key: "80/10/10"}), 0)
