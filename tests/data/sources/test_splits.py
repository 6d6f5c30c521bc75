"""Parts of a set by the names of its files."""

import pytest

from atento.data.sources.splits import find_splits, siblings_of, split_of, splits_in
from atento.spec import DataRecipe


@pytest.mark.parametrize(
    "name, part",
    [
        ("train.tsv", "train"),
        ("X.train.txt", "train"),
        ("wnut17train.conll", "train"),
        ("en_ewt-ud-train.conllu.xz", "train"),
        ("spanish-train-high", "train"),
        ("emerging.dev.conll", "valid"),
        ("SICK_trial.txt", "valid"),
        ("val.de", "valid"),
        ("TEST.csv", "test"),
        ("eng.testa", "valid"),
        ("eng.testb", "test"),
        ("contest.csv", None),
        ("latest.tsv", None),
        ("restaurants.csv", None),
        ("devices.csv", None),
    ],
)
def test_names(name, part):
    assert split_of(name) == part


def folder_of(place, *names):
    for number, name in enumerate(names, start=1):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("x\n" * number, encoding="utf-8")
    return str(place)


@pytest.mark.parametrize(
    "names, train, valid, test",
    [
        (("README.md", "train.tsv", "valid.tsv", "test.tsv"), "train.tsv", "valid.tsv", "test.tsv"),
        (("X.test.txt", "X.train.txt"), "X.train.txt", "", "X.test.txt"),
        (("val.de", "val.en", "train.en", "train.de"), "train.de,train.en", "val.de,val.en", ""),
        (("a-dev.conllu", "a-train.conllu.xz"), "a-train.conllu.xz", "a-dev.conllu", ""),
        (("w17train.conll", "new.dev.conll"), "w17train.conll", "new.dev.conll", ""),
        (("s-dev", "s-train-low", "s-train-high"), "s-train-high", "s-dev", ""),
        (("labels.txt", "train.tsv", "dev.tsv"), "train.tsv", "dev.tsv", ""),
        (("eng.train", "eng.testa", "eng.testb"), "eng.train", "eng.testa", "eng.testb"),
        (("spa.trn", "spa.dev", "spa.tst"), "spa.trn", "spa.dev", "spa.tst"),
        (("README", "input.txt"), "input.txt", "", ""),
        (("train.csv", "test.jsonl"), "train.csv", "", ""),
        (("train/pos/1.txt", "test/pos/1.txt"), "train", "", "test"),
        (("news-train/sport/1", "news-test/sport/1"), "news-train", "", "news-test"),
    ],
)
def test_folders(tmp_path, names, train, valid, test):
    parts = splits_in(folder_of(tmp_path, *names))
    bare = [value.replace(f"{tmp_path}/", "") for value in parts[:3]]
    assert bare == [train, valid, test]
    assert parts.notes


@pytest.mark.parametrize("names", [("a.txt", "b.txt"), ("pos/1.txt", "neg/1.txt"), ("jan.csv", "feb.csv")])
def test_folders_without_parts(tmp_path, names):
    assert splits_in(folder_of(tmp_path, *names)) is None


def test_what_is_left_aside_is_said(tmp_path):
    parts = splits_in(folder_of(tmp_path, "s-train-low", "s-train-high"))
    assert parts.notes[1] == "s-train-low left aside: the largest training file is taken"


def test_beside(tmp_path):
    folder_of(tmp_path, "a.train.csv", "a.dev.csv", "b.train.csv", "b.dev.csv", "b.test.csv", "other.csv")
    assert siblings_of(str(tmp_path / "a.train.csv")) == (str(tmp_path / "a.dev.csv"), "")
    assert siblings_of(str(tmp_path / "b.train.csv"))[1] == str(tmp_path / "b.test.csv")
    assert siblings_of(str(tmp_path / "other.csv")) == ("", "")


def test_several_files_of_one_part_are_named_and_none_is_taken(tmp_path):
    place = folder_of(tmp_path, "train.de", "train.en", "t16_test.de", "t16_test.en", "t17_test.de", "t17_test.en")
    for path in tmp_path.iterdir():
        path.write_text("ein Satz\n" * 9, encoding="utf-8")
    found, notes = find_splits(DataRecipe(train=place))
    assert "data.test" not in found
    choice = f"--set data.test={place}/t16_test.de,{place}/t16_test.en takes the first"
    assert notes[-1] == f"t16_test.de,t16_test.en and t17_test.de,t17_test.en could each be data.test; {choice}"


def test_a_file_with_more_columns_is_taken(tmp_path):
    (tmp_path / "train.tsv").write_text("text\tlabel\n" + "one\ta\ntwo\tb\n" * 20)
    (tmp_path / "dev.tsv").write_text("id\ttext\tvote\tlabel\n" + "1\tone\t2\ta\n2\ttwo\t3\tb\n" * 20)
    assert find_splits(DataRecipe(train=str(tmp_path)))[0]["data.valid"] == str(tmp_path / "dev.tsv")
