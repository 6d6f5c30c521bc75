"""Two texts as numbers: one vocabulary, what each token finds in the other text, labels, and what is refused."""

import json

import pytest
import torch

from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.classify.two_texts_codec import ALIKE, ONLY_HERE, SAME, MatchCodec, echoes, two_texts

PAIRS = [
    ("A man walks.\tThe man is walking", "yes"),
    ("A dog sleeps\tNo dog sleeps", "no"),
    ("Two cats\tA cat", "yes"),
    ("Birds\tFish", "unclear"),
]


@pytest.fixture(scope="module")
def codec():
    return MatchCodec.learn(TokensRecipe(lower=True), PAIRS)


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        (["a", "man", "walks"], ["the", "man", "is", "walking"], [ONLY_HERE, SAME, ALIKE]),
        (["cat", "cats"], ["cats"], [ALIKE, SAME]),
        (["perros", "."], ["perro", "."], [ALIKE, SAME]),
        (["is", "it"], ["its"], [ONLY_HERE, ONLY_HERE]),  # two letters are no beginning
        (["1234"], ["12345"], [ONLY_HERE]),  # numbers that begin alike are others
        ([], ["a"], []),
        (["a"], [], [ONLY_HERE]),
    ],
)
def test_what_the_other_text_has_of_a_token(own, other, expected):
    assert echoes(own, other) == expected


def test_a_word_that_training_never_met_is_still_the_same_word(codec):
    read = codec.read("The quokka walks\tA Quokka sleeps")
    place = codec.pieces("The quokka walks\tA Quokka sleeps")[0].index("quokka")
    assert read.first[place] == read.second[1] == 1  # unknown
    assert (read.first_echo[place], read.second_echo[1]) == (SAME, SAME)
    assert len(read.first) == len(read.first_echo) == 3


def test_both_texts_share_one_vocabulary_and_small_letters(codec):
    read = codec.encode(("The MAN\tthe man", "no"))
    assert read.first == read.second
    assert 1 not in read.first
    assert read.label == codec.labels.index("no")
    assert codec.pieces("The MAN\tx")[0] == ["The", "MAN"]
    other = MatchCodec.learn(TokensRecipe(), PAIRS).read("The MAN\tthe man")
    assert other.first != other.second
    assert other.first_echo == [SAME, SAME]


def test_labels_and_their_weights(codec):
    assert codec.labels == ("no", "unclear", "yes")
    assert codec.counts == (1, 1, 2)
    torch.testing.assert_close(codec.balanced(0.0), torch.ones(3).double())
    weights = codec.balanced(1.0)
    assert weights[2] * 2 == pytest.approx(float(weights[0]))
    assert float(weights @ torch.tensor([1.0, 1.0, 2.0]).double()) == pytest.approx(4)
    assert "3 labels, most often yes 50%, no 25%, unclear 25%" in codec.notes[1]


def test_saved_and_loaded_it_reads_the_same(codec):
    again = MatchCodec.load(json.loads(json.dumps(codec.to_json())))
    for source, label in PAIRS:
        assert again.encode((source, label)) == codec.encode((source, label))
    assert again.to_json() == codec.to_json()


@pytest.mark.parametrize(
    "spoil", [{"labels": []}, {"labels": ["a", "a"]}, {"counts": [1]}, {"lower": 1}, {"labels": 3}]
)
def test_a_spoilt_file_is_refused(codec, spoil):
    with pytest.raises(InputError, match=r"this file holds no labels|how capital letters are read"):
        MatchCodec.load({**codec.to_json(), **spoil})


def test_two_texts_have_a_tab_between():
    assert two_texts("one\ttwo") == ("one", "two")
    assert two_texts("one ||| two") == ("one", "two")
    with pytest.raises(InputError, match="two texts, with a tab between"):
        two_texts("one and two")


def test_one_label_is_nothing_to_tell_apart():
    with pytest.raises(InputError, match="nothing to tell apart"):
        MatchCodec.learn(TokensRecipe(), [("a b\tc d", "x"), ("e f\tg h", "x")])


def test_texts_of_no_word_are_read_as_something(codec):
    read = codec.read(" \t ")
    assert read.first == read.second == [1]
    assert read.first_echo == [ONLY_HERE]


def test_strings_are_cut_into_characters():
    codec = MatchCodec.learn(TokensRecipe(lower=True), [("ACGT\tACGA", "near"), ("GGG\tTTT", "far")])
    assert len(codec.read("ACGT\tA").first) == 4
    assert "characters" in codec.notes[0]
