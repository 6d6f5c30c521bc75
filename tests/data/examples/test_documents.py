"""Texts by themselves."""

import pytest

from atento.data.examples.documents import DocumentSource, NoTarget
from atento.data.examples.pairs import read_examples
from atento.spec import DataRecipe


def read_documents(recipe, path):
    return read_examples(recipe, path, DocumentSource(), NoTarget())


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


PLAY = "First:\nSpeak, speak.\n\nAll:\nWe will.\n\n"


def test_prose_is_one_document_as_it_is(tmp_path):
    read = read_documents(DataRecipe(), write(tmp_path, "play.txt", PLAY))
    assert read.pairs == ((PLAY, ""),)
    said = (
        "play.txt: all of it is one document (1 document); --set data.documents=lines or paragraphs cuts it otherwise"
    )
    assert read.notes[-1] == said


def test_many_lines_with_no_blank_one_are_documents(tmp_path):
    names = [f"name{at} of it" for at in range(30)]
    read = read_documents(DataRecipe(), write(tmp_path, "names.txt", "\n".join(names)))
    assert [text for text, _ in read.pairs] == names
    assert len(read_documents(DataRecipe(documents="file"), write(tmp_path, "names.txt", "\n".join(names))).pairs) == 1


@pytest.mark.parametrize(
    "documents, expected, lines",
    [
        ("lines", ["First:", "Speak, speak.", "All:", "We will."], (1, 2, 4, 5)),
        ("paragraphs", ["First:\nSpeak, speak.", "All:\nWe will."], (1, 4)),
    ],
)
def test_the_user_may_choose(tmp_path, documents, expected, lines):
    read = read_documents(DataRecipe(documents=documents), write(tmp_path, "play.txt", PLAY))
    assert ([text for text, _ in read.pairs], read.lines) == (expected, lines)


def test_a_column_of_a_table_and_files_of_a_folder(tmp_path):
    read = read_documents(DataRecipe(), write(tmp_path, "t.csv", "id,text\n1,some words\n2,and more\n"))
    assert read.pairs == (("some words", ""), ("and more", ""))
    folder = tmp_path / "books"
    folder.mkdir()
    write(folder, "a.txt", PLAY)
    write(folder, "b.txt", "Other.\n")
    assert read_documents(DataRecipe(), str(folder)).pairs == ((PLAY, ""), ("Other.\n", ""))
