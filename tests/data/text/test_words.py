"""Words of a sentence, by hand."""

import pytest

from atento.data.text.words import split_words


@pytest.mark.parametrize(
    "source, words",
    [
        ("a b\tc.", ["a b", "c."]),  # tabs: as given
        ("c.", ["c."]),  # one word, as given
        ('He said: "don\'t (go)!"', ["He", "said", ":", '"', "don't", "(", "go", ")", "!", '"']),
        ("3.5 per-cent ...", ["3.5", "per-cent", ".", ".", "."]),
        ("  two  words ", ["two", "words"]),
        ("", []),
    ],
)
def test_text_without_tabs_is_cut(source, words):
    assert split_words(source) == words
