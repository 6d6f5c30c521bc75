"""The readers of each text task, from a recipe to questions and to sources without labels."""

import json

import pytest

from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.text import (
    DOCUMENTS,
    LABEL_SET_PAIRS,
    LABEL_SETS,
    LABELLED,
    MATCHES,
    REWRITES,
    TAGGED,
    TEXT_ESTIMATES,
)
from atento.tasks.task import EvaluationExample


def write(folder, name, lines):
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_three_parts_of_one_file(tmp_path):
    path = write(tmp_path, "t.tsv", ["text\tlabel", *(f"text number {n}\t{n % 3}" for n in range(60))])
    read = LABELLED.read(DataRecipe(train=path, split="80/10/10"), 0)
    assert (len(read.train), len(read.valid), len(read.test)) == (48, 6, 6)
    assert all(len(one.references) == 1 for one in read.test)


def test_all_true_labels_are_references(tmp_path):
    lines = [json.dumps({"text": f"text {n}", "labels": ["a", "b"][: n % 3]}) for n in range(30)]
    asked = LABEL_SETS.read_labelled(DataRecipe(), write(tmp_path, "l.jsonl", lines), 0)
    assert asked.questions[:3] == (
        EvaluationExample("text 0", ()),
        EvaluationExample("text 1", ("a",)),
        EvaluationExample("text 2", ("a", "b")),
    )


def test_files_to_answer_need_no_labels(tmp_path):
    texts = write(tmp_path, "t.csv", ["id,review", "1,good one", "2,bad one"])
    for reader in (LABELLED, LABEL_SETS):
        opened = reader.read_unlabelled(DataRecipe(label="stars"), texts, 0)
        assert (opened.sources, opened.columns["id"]) == (["good one", "bad one"], ["1", "2"])
    plain = write(tmp_path, "p.txt", ["The cat sat", "It ran ."])
    assert LABELLED.read_unlabelled(DataRecipe(), plain, 0).sources == ["The cat sat", "It ran ."]
    assert TAGGED.read_unlabelled(DataRecipe(), plain, 0).sources == ["The\tcat\tsat", "It\tran\t."]
    words = write(tmp_path, "w.conll", ["The", "cat", "", "It"])
    assert TAGGED.read_unlabelled(DataRecipe(), words, 0).sources == ["The\tcat", "It"]
    couples = write(tmp_path, "c.tsv", ["sentence1\tsentence2", "a man eats\ta man dines", "a dog runs\tit sleeps"])
    assert MATCHES.read_unlabelled(DataRecipe(), couples, 0).sources[1:] == ["a dog runs\tit sleeps"]
    labelled = write(tmp_path, "m.tsv", ["s1\ts2\tlabel", "a b c\td e f\t0", "g h i\tj k l\t1"])
    assert MATCHES.read_unlabelled(DataRecipe(), labelled, 0).sources == ["a b c\td e f", "g h i\tj k l"]
    prompts = write(tmp_path, "q.txt", ["To be", "", "Or not"])
    assert DOCUMENTS.read_unlabelled(DataRecipe(), prompts, 0).sources == ["To be", "Or not"]


def test_an_empty_source_is_refused_by_place(tmp_path):
    path = write(tmp_path, "t.csv", ["id,text", "1,good", "2,"])
    with pytest.raises(InputError, match=r"t\.csv:3:3: the column 'text' is empty here"):
        LABELLED.read_unlabelled(DataRecipe(source="text"), path, 0)
    assert LABELLED.read_unlabelled(DataRecipe(source="text", bad_rows="skip"), path, 0).sources == ["good"]


def test_one_document_is_cut_in_time(tmp_path):
    path = write(tmp_path, "long.txt", ["so he said" + " and" * (n % 7) if n % 3 else "" for n in range(100)])
    text = DOCUMENTS.rows(DataRecipe(), path).pairs[0][0]
    read = DOCUMENTS.read(DataRecipe(train=path, split="80/10/10"), 0)
    assert read.train[0][0] + read.valid[0].source + read.test[0].source == text
    assert len(read.train[0][0]) == int(0.8 * len(text))
    whole = DOCUMENTS.read(DataRecipe(train=path, split="90/10/0"), 0)
    assert (len(whole.train[0][0]), whole.test) == (int(0.9 * len(text)), ())


def test_many_documents_are_dealt_out_whole(tmp_path):
    path = write(tmp_path, "lines.txt", [f"document {n}" for n in range(100)])
    read = DOCUMENTS.read(DataRecipe(train=path, split="80/10/10"), 0)
    assert (len(read.train), len(read.valid), len(read.test)) == (80, 10, 10)


def test_other_parts_are_read_by_the_columns_of_the_first(tmp_path):
    sets = ["0", "1,2", "2", "0,2"]
    train = write(tmp_path, "a.tsv", [f"{n}\ttext number {n}\t{sets[n % 4]}\t{n % 2}" for n in range(60)])
    short = ["1\tone of them\t0,2\tx", "2\tanother one\t1,2\ty"]  # too short to tell by itself
    other = write(tmp_path, "b.tsv", short)
    read = LABEL_SETS.read(DataRecipe(train=train, valid=other, test=other), 0)
    assert read.valid == (EvaluationExample("one of them", ("0", "2")), EvaluationExample("another one", ("1", "2")))
    named = write(tmp_path, "c.tsv", ["text\tlabels", *(f"more text {n}\t{sets[n % 4]}" for n in range(60))])
    read = LABEL_SETS.read(DataRecipe(train=train, valid=named, test=other), 0)
    assert read.valid[1] == EvaluationExample("more text 1", ("1", "2"))


def test_two_texts_with_several_labels_with_a_third_text_and_a_text_with_a_number(tmp_path):
    topics = ["x", "x;y", "x;y;z"]
    rows = [f"the first of {n}\tthe second of {n}\tboth as {n} words\t{topics[n % 3]}\t{n}.5" for n in range(40)]
    path = write(tmp_path, "t.tsv", ["premise\thypothesis\tsummary\ttopics\tscore", *rows])
    couple = "the first of 7\tthe second of 7"
    asked = LABEL_SET_PAIRS.read_labelled(DataRecipe(label="topics"), path, 0)
    assert asked.questions[7] == (couple, ("x", "y"))
    recipe = DataRecipe(train=path, source="premise,hypothesis", target="summary")
    assert REWRITES.read_labelled(recipe, path, 0).questions[7] == (couple, ("both as 7 words",))
    assert REWRITES.read_unlabelled(recipe, path, 0).sources[7] == couple
    read = REWRITES.read(recipe, 0)
    assert (len(read.train), len(read.valid), len(read.test)) == (36, 2, 2)
    asked = TEXT_ESTIMATES.read_labelled(DataRecipe(source="premise", target="score"), path, 0)
    assert asked.questions[7] == ("the first of 7", ("7.5",))
