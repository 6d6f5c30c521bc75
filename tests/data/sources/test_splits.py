"""Parts of a set by the names of its files."""

import pytest

from atento.data.sources.splits import siblings_of, split_of, splits_in


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
