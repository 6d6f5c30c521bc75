"""Sentences with a tag for each word."""

import pytest

from atento.data.examples.pairs import read_examples
from atento.data.examples.tagged import TagTarget, WordSource
from atento.errors import InputError
from atento.spec import DataRecipe


def read_tagged(recipe, path):
    return read_examples(recipe, path, WordSource(), TagTarget())


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


ROWS = "The cat sat\tDET NOUN VERB\nA dog ran\tDET NOUN VERB\nNo one left\tDET PRON VERB\n"


def test_words_parted_by_spaces(tmp_path):
    read = read_tagged(DataRecipe(), write(tmp_path, "t.tsv", ROWS))
    assert read.pairs[0] == ("The\tcat\tsat", "DET\tNOUN\tVERB")


def test_words_of_a_treebank_and_another_tag(tmp_path):
    text = "1\tse\tél\tPRON\tP0\tCase=Acc\t2\tobj\t_\t_\n2\tva\tir\tVERB\tVM\t_\t0\troot\t_\t_\n\n"
    path = write(tmp_path, "es.conllu", text * 3)
    assert read_tagged(DataRecipe(), path).pairs[0] == ("se\tva", "PRON\tVERB")
    assert "column 'upos' holds the tags" in read_tagged(DataRecipe(), path).notes[-1]
    assert read_tagged(DataRecipe(label="xpos"), path).pairs[0][1] == "P0\tVM"
    assert read_tagged(DataRecipe(label="deprel", source="lemma"), path).pairs[0] == ("él\tir", "obj\troot")


def test_a_column_by_its_number(tmp_path):
    path = write(tmp_path, "a.conll", "EU NNP B-ORG\nruns VBZ O\n\nPeter NNP B-PER\n")
    assert read_tagged(DataRecipe(label="2"), path).pairs[0] == ("EU\truns", "NNP\tVBZ")


def test_counts_that_differ_are_named_by_place(tmp_path):
    path = write(tmp_path, "t.tsv", ROWS + "Too few\tDET\n" + ROWS)
    with pytest.raises(InputError) as caught:
        read_tagged(DataRecipe(source="1", label="2"), path)
    assert caught.value.problem == "t.tsv:4:9: there are 2 words and 1 tag."
    assert "'Too few' and 'DET'" in caught.value.found


def test_texts_without_tags_are_refused(tmp_path):
    with pytest.raises(InputError, match="no column of words has one of tags"):
        read_tagged(DataRecipe(), write(tmp_path, "t.tsv", "a b c\td e\nf g\th i j\n"))


def test_tags_that_no_words_go_with_are_refused_though_named(tmp_path):
    with pytest.raises(InputError, match="no column of words has one of tags"):
        read_tagged(DataRecipe(label="2"), write(tmp_path, "t.tsv", "a b c\td e\nf g\th i j\n"))
