"""Pronouncing dictionaries, and what is none."""

import pytest

from atento.data import read_table
from atento.data.tables.sniffing import kind_by_content

SOUNDS = dict(zip("abdeikmnostu", ["AA1", "B", "D", "EH0", "IH", "K", "M", "N", "OW", "S", "T", "UH"], strict=True))
WORDS = [f"{one}{two}{three}" for one in "bdkmnst" for two in "aeiou" for three in ("ta", "sin", "mo")]
ENTRIES = [(word, " ".join(SOUNDS[letter] for letter in word)) for word in WORDS]


@pytest.mark.parametrize("form", ["{}  {}", "{} {}", "{} 0.75 {}", "{}  {} # a name"])
def test_words_and_their_phones(tmp_path, form):
    path = tmp_path / "lexicon.txt"
    path.write_text(";;; a comment\n" + "".join(form.format(*entry) + "\n" for entry in ENTRIES) + "bata(2)  B AA1\n")
    table = read_table(str(path))
    assert (table.kind, table.columns) == ("lexicon", ("word", "phones"))
    assert table.rows == (*ENTRIES, ("bata", "B AA1"))
    assert table.notes[-1] == "1 comment left out"
    assert table.place(0, 0) == ("lexicon.txt", 2, 1)
    assert table.place(0, 1)[1:] == (2, len(form.split("{}")[0] + form.split("{}")[1]) + 5)


def test_a_line_without_phones_is_refused_by_its_place(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_text("".join(f"{word} {phones}\n" for word, phones in ENTRIES) + "lonely\n")
    (refused,) = read_table(str(path), bad_rows="skip").refused
    assert str(refused) == f"lexicon.txt:{len(ENTRIES) + 1}:1: the line is no word with its phones."


@pytest.mark.parametrize(
    "lines",
    [
        [f"{word} {at} {at + 1} {at + 2}" for at, word in enumerate(WORDS)],  # numbers
        [f"the {word} of a man who is in a house" for word in WORDS],  # text
        ["the cat sat on a mat", "a cat and a dog ran"] * 60,
        [f"{word} {phones}" for word, phones in ENTRIES[:40]],  # too few to tell
        [f"{word} {' '.join(['A', 'C', 'G', 'T'] * 12)}" for word in WORDS],  # names of strings of DNA
    ],
)
def test_other_lines_are_no_dictionary(lines):
    assert kind_by_content("\n".join(lines)) != "lexicon"
