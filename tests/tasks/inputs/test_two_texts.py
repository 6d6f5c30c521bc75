"""Two texts as numbers: one vocabulary, what each token finds in the other text, labels, and what is refused."""

import json

import pytest
import torch

from atento.data.text.encoding import ALIKE, ONLY_HERE, SAME, overlaps, two_texts
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.inputs.two_texts import TwoTexts, sentence_spans

PAIRS = [
    ("A man walks.\tThe man is walking", "yes"),
    ("A dog sleeps\tNo dog sleeps", "no"),
    ("Two cats\tA cat", "yes"),
    ("Birds\tFish", "unclear"),
]


def learn(pairs, **choices):
    return TwoTexts.learn(TokensRecipe(**choices), [source for source, _ in pairs], writes=False)


@pytest.fixture(scope="module")
def texts():
    return learn(PAIRS, lowercase=True)


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
    assert overlaps(own, other) == expected


def test_a_word_that_training_never_met_is_still_the_same_word(texts):
    read = texts.encode("The quokka walks\tA Quokka sleeps")
    place = texts.tokens("The quokka walks\tA Quokka sleeps")[0].index("quokka")
    assert read.first[place] == read.second[1] == 1  # unknown
    assert (read.first_overlap[place], read.second_overlap[1]) == (SAME, SAME)
    assert len(read.first) == len(read.first_overlap) == 3


def test_both_texts_share_one_vocabulary_and_small_letters(texts):
    read = texts.encode("The MAN\tthe man")
    assert read.first == read.second
    assert 1 not in read.first
    assert texts.tokens("The MAN\tx")[0] == ["The", "MAN"]
    other = learn(PAIRS).encode("The MAN\tthe man")
    assert other.first != other.second
    assert other.first_overlap == [SAME, SAME]


def test_saved_and_loaded_it_reads_the_same(texts):
    again = TwoTexts.load(json.loads(json.dumps(texts.to_json())))
    assert [again.encode(source) for source, _ in PAIRS] == [texts.encode(source) for source, _ in PAIRS]
    assert again.to_json() == texts.to_json()


@pytest.mark.parametrize("spoil", [{"vocabulary": 3}, {"lower": 1}])
def test_a_spoilt_file_is_refused(texts, spoil):
    with pytest.raises(InputError, match=r"not a vocabulary|does not say 'lower'"):
        TwoTexts.load({**texts.to_json(), **spoil})


def test_two_texts_have_a_tab_between():
    assert two_texts("one\ttwo") == ("one", "two")
    assert two_texts("one ||| two") == ("one", "two")
    with pytest.raises(InputError, match="two texts, with a tab between"):
        two_texts("one and two")


def test_texts_of_no_word_are_read_as_something(texts):
    read = texts.encode(" \t ")
    assert read.first == read.second == [1]
    assert read.first_overlap == [ONLY_HERE]


def test_strings_are_cut_into_characters():
    texts = learn([("ACGT\tACGA", "near"), ("GGG\tTTT", "far")], lowercase=True)
    assert len(texts.encode("ACGT\tA").first) == 4
    assert "characters" in texts.notes[0]


SOURCE = "Ana lives in Lima. Pedro has a dog! Is it big?\tDoes Pedro have a dog?"


@pytest.fixture(scope="module")
def passages():
    return learn([(SOURCE, "yes"), ("A b\tC d", "no")], lowercase=True)


def test_sentences_of_a_text():
    text = SOURCE.split("\t")[0]
    spans = sentence_spans(text)
    assert [text[start:end] for start, end in spans] == ["Ana lives in Lima.", "Pedro has a dog!", "Is it big?"]


@pytest.mark.spec("K10")
@pytest.mark.parametrize(
    ("token", "sentence"), [(1, "Ana lives in Lima."), (8, "Pedro has a dog!"), (13, "Is it big?")]
)
def test_the_sentence_that_was_looked_at_most(passages, token, sentence):
    weights = torch.full((2, 3, 6, 14), 0.01)
    weights[..., token] = 0.3
    assert passages.quote(SOURCE, weights) == sentence


def test_a_look_at_one_place_outweighs_one_that_spreads(passages):
    weights = torch.zeros(1, 1, 2, 14)
    weights[0, 0, 0, 5:10] = 0.2  # spread over the second sentence
    weights[0, 0, 1, 0] = 0.9
    assert passages.quote(SOURCE, weights) == "Ana lives in Lima."


def test_of_one_sentence_the_words_as_they_stand(passages):
    weights = torch.tensor([0.1, 0.2, 0.05, 0.4, 0.9])[None, None, None].expand(1, 1, 5, 5)  # most on the full stop
    assert passages.quote("Ana lives in Lima.\tWhere?", weights) == "Ana … lives … Lima"
