"""One text at every level, as a run with each kind of vocabulary shows it."""

from types import SimpleNamespace

import pytest

from atento.data import learn_vocabulary
from atento.errors import InputError
from atento.tasks.inputs.words import WordList
from atento.views.tokens import tokens_text, tokens_view

CORPUS = ["otitis crónica", "otitis media", "bronquitis crónica", "a bb  cc, dd-ee", "naïve café — 你好 שלום"] * 3
TEXT = "otitis crónica"


def codec(level, size=44):
    return SimpleNamespace(vocabulary=learn_vocabulary(level, CORPUS, size=size, least_count=1), lower=False)


@pytest.mark.spec("S05")
def test_a_model_of_subwords_shows_all_three():
    found = tokens_view(codec("subword"), f" {TEXT} ")
    assert found.text == TEXT
    assert [(level.level, len(level.tokens), level.own) for level in found.levels] == [
        ("characters", 14, False),
        ("subwords", 4, True),
        ("words", 2, False),
    ]
    characters, subwords, words = found.levels
    assert subwords.tokens == ["oti", "tis", "cró", "nica"]
    assert subwords.offsets == [[0, 3], [3, 6], [7, 10], [10, 14]]
    assert words.offsets == [[0, 6], [7, 14]]
    assert subwords.decoded == TEXT
    assert "".join(characters.tokens) == TEXT


@pytest.mark.parametrize(("level", "name"), [("char", "characters"), ("word", "words")])
def test_other_models_show_what_needs_no_learning(level, name):
    found = tokens_view(codec(level), TEXT)
    assert [one.level for one in found.levels] == ["characters", "words"]
    assert [one.level for one in found.levels if one.own] == [name]


def test_a_terminal_shows_places_and_what_is_unknown():
    text = tokens_text(tokens_view(codec("word"), "otitis aguda ♪"), width=40)
    assert "otitis 0–6   ?aguda 7–12   ?♪ 13–14" in text
    assert "3 words (what the model reads)" in text and "2 unknown, marked ?" in text
    assert "␣ 6–7" in text
    assert max(map(len, text.splitlines())) <= 40


def test_a_tagger_has_words_but_no_vocabulary_of_texts():
    words = WordList(["otitis"], ["o"], lower=True, seen=["otitis"])
    found = tokens_view(SimpleNamespace(input=words, lower=True), "Otitis MEDIA")
    assert found.text == "otitis media"
    assert not any(level.own for level in found.levels)


def test_a_model_that_reads_no_text_is_refused():
    with pytest.raises(InputError, match="reads no text"):
        tokens_view(SimpleNamespace(), "1 2 3")
