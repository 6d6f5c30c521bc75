"""Texts with a label, or with several."""

import json

import pytest

from atento.data.examples.labels import LabelSetTarget, LabelTarget, names_beside
from atento.data.examples.pairs import read_examples
from atento.data.examples.texts import TextSource
from atento.errors import InputError
from atento.spec import DataRecipe

TEXTS = ["a good one", "a bad one", "fine indeed", "what a mess", "I like it", "I hate it", "lovely, so", "ugly, no"]


def read_labelled(recipe, path):
    return read_examples(recipe, path, TextSource(), LabelTarget(names_beside=True))


def read_label_sets(recipe, path):
    return read_examples(recipe, path, TextSource(), LabelSetTarget())


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def csv(folder, header, rows, name="t.csv"):
    return write(folder, name, "\n".join([header, *rows]))


def test_text_and_label_by_name_or_by_guess(tmp_path):
    path = csv(tmp_path, "id;texto;otro;nota", [f"{at};{text};x{at};{at % 2}" for at, text in enumerate(TEXTS)])
    read = read_labelled(DataRecipe(), path)
    assert read.pairs[:2] == (("a good one", "0"), ("a bad one", "1"))
    assert read.notes[-1] == (
        "column 'texto' holds the text and column 'nota' holds the label; "
        "--set data.source=... --set data.label=... choose otherwise"
    )
    named = read_labelled(DataRecipe(source="otro", label="texto"), path)
    assert (named.pairs[1], named.notes[-1].startswith("column")) == (("x1", "a bad one"), False)


def test_values_stay_text(tmp_path):
    labels = ["NA", "007", "1e5", "null"]
    path = csv(tmp_path, "text,label", [f'"{text}",{labels[at % 4]}' for at, text in enumerate(TEXTS)])
    assert [target for _, target in read_labelled(DataRecipe(), path).pairs] == labels * 2
    assert [target for _, target in read_label_sets(DataRecipe(), path).pairs] == labels * 2


@pytest.mark.parametrize(
    "name, text, problem, fix",
    [
        ("a.csv", "text,label\nx y,a\n,b\n", "a.csv:3:1: the column 'text' is empty here.", "write a text there"),
        ("a.csv", "text,label\nx y,a\nz w,\n", "a.csv:3:5: the column 'label' is empty here.", "delete the row"),
        (
            "a.csv",
            "text,other\n" + "".join(f"t {n},{n}x\n" for n in range(9)),
            "no column looks like a label",
            "data.label=other",
        ),
        ("a.txt", "some text\nand more\n", "no column looks like a label", "data.label=text"),
    ],
)
def test_what_is_missing_is_said(tmp_path, name, text, problem, fix):
    with pytest.raises(InputError) as caught:
        read_labelled(DataRecipe(label="label" if "label" in text else ""), write(tmp_path, name, text))
    assert problem in caught.value.problem
    assert fix in caught.value.fix


def test_a_column_that_is_not_there(tmp_path):
    with pytest.raises(InputError) as caught:
        read_labelled(DataRecipe(label="lable"), csv(tmp_path, "text,label", ["x,y"]))
    assert caught.value.fix == "pass --set data.label=label"


def test_label_sets_of_every_make(tmp_path):
    sets = [["joy"], ["joy", "anger"], [], ["anger"], ["fear", "joy"], ["fear"], ["anger", "fear"], ["joy"]]
    expected = ["\t".join(labels) for labels in sets]
    lines = [json.dumps({"text": text, "emotions": labels}) for text, labels in zip(TEXTS, sets, strict=True)]
    paths = [write(tmp_path, "l.jsonl", "\n".join(lines))]
    for mark in ",;|":
        rows = [f"{text}\t{mark.join(labels)}" for text, labels in zip(TEXTS, sets, strict=True)]
        paths.append(csv(tmp_path, "text\temotions", rows, name=f"{ord(mark)}.tsv"))
    for path in paths:
        assert [target for _, target in read_label_sets(DataRecipe(), path).pairs] == expected
    switches = [f"{text}\t{int('joy' in one)}\t{int('fear' in one)}" for text, one in zip(TEXTS, sets, strict=True)]
    path = csv(tmp_path, "text\tjoy\tfear", switches, name="s.tsv")
    for recipe in (DataRecipe(), DataRecipe(label="joy,fear")):
        assert [target for _, target in read_label_sets(recipe, path).pairs][3:6] == ["", "joy\tfear", "fear"]


def test_a_separator_of_the_users_own(tmp_path):
    path = csv(tmp_path, "text,label", [f'"{text}",a/b' for text in TEXTS])
    assert read_label_sets(DataRecipe(separator="/"), path).pairs[0] == ("a good one", "a\tb")


def test_a_switch_says_yes_or_no(tmp_path):
    path = csv(tmp_path, "text,joy,fear", ["x y z,1,0", "u v w,0,maybe"])
    with pytest.raises(InputError) as caught:
        read_label_sets(DataRecipe(label="joy,fear"), path)
    assert caught.value.problem == "t.csv:3:9: the column 'fear' says neither yes nor no here."


def test_labels_by_the_names_beside(tmp_path):
    path = csv(tmp_path, "text,label", [f'"{text}",{at % 2}' for at, text in enumerate(TEXTS)])
    write(tmp_path, "labels.txt", "good\nbad\n")
    read = read_labelled(DataRecipe(), path)
    assert [target for _, target in read.pairs[:2]] == ["good", "bad"]
    assert "labels are numbers from 0 on; labels.txt beside gives 2 names" in read.notes


@pytest.mark.parametrize(
    "file, names, labels, expected",
    [
        ("labels.txt", "joy\nanger\nfear\n", ["0", "2"], {"0": "joy", "2": "fear"}),
        ("classes.txt", "World\nSports\n", ["1", "2"], {"1": "World", "2": "Sports"}),
        ("labels.txt", "joy\nanger\n", ["0", "5"], None),
        ("labels.txt", "joy\nanger\n", ["good", "1"], None),
        ("labels.txt", "joy\njoy\n", ["0", "1"], None),
        ("other.txt", "joy\nanger\n", ["0", "1"], None),
    ],
)
def test_names(tmp_path, file, names, labels, expected):
    (tmp_path / file).write_text(names, encoding="utf-8")
    found = names_beside(DataRecipe(), str(tmp_path / "train.tsv"), labels)
    assert (found[0] if found else None) == expected
    if found:
        assert file in found[1]
        assert names_beside(DataRecipe(siblings="no"), str(tmp_path / "train.tsv"), labels) is None


@pytest.mark.parametrize(
    "labels, kept",
    [
        (["good", "bad"] * 20 + ["-"], 40),
        (["good", "bad"] * 20 + ["unsup"] * 50, 40),
        (["+", "-"] * 20, 40),  # signs
        (["good", "bad", "-"] * 20, 60),  # too many for rows without a label
        (["labelled", "unlabelled"] * 20, 40),  # one of two labels
    ],
)
def test_rows_whose_label_says_that_they_have_none_are_left_out(tmp_path, labels, kept):
    path = csv(tmp_path, "text,label", [f"text {at} of many,{label}" for at, label in enumerate(labels)])
    read = read_labelled(DataRecipe(), path)
    assert len(read.pairs) == len(read.lines) == len(read.rows) == kept
    assert any("says that they have none" in note for note in read.notes) == (kept < len(labels))
