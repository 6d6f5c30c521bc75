"""The sentence, or the words, that were looked at most."""

import pytest
import torch

from atento.spec import TokensRecipe
from atento.tasks.classify.two_texts import evidence_of, sentence_spans, tokens_within
from atento.tasks.classify.two_texts_codec import MatchCodec

SOURCE = "Ana lives in Lima. Pedro has a dog! Is it big?\tDoes Pedro have a dog?"


@pytest.fixture(scope="module")
def codec():
    return MatchCodec.learn(TokensRecipe(lower=True), [(SOURCE, "yes"), ("A b\tC d", "no")])


def test_sentences_and_their_tokens(codec):
    text = SOURCE.split("\t")[0]
    spans = sentence_spans(text)
    assert [text[start:end] for start, end in spans] == ["Ana lives in Lima.", "Pedro has a dog!", "Is it big?"]
    places = codec.vocabulary.offsets(text)
    assert [len(tokens_within(places, span)) for span in spans] == [5, 5, 4]


@pytest.mark.spec("K10")
@pytest.mark.parametrize(
    ("token", "sentence"), [(1, "Ana lives in Lima."), (8, "Pedro has a dog!"), (13, "Is it big?")]
)
def test_the_sentence_that_was_looked_at_most(codec, token, sentence):
    weights = torch.full((2, 3, 6, 14), 0.01)
    weights[..., token] = 0.3
    assert evidence_of(codec, SOURCE, weights) == sentence


def test_a_look_at_one_place_outweighs_one_that_spreads(codec):
    weights = torch.zeros(1, 1, 2, 14)
    weights[0, 0, 0, 5:10] = 0.2  # spread over the second sentence
    weights[0, 0, 1, 0] = 0.9
    assert evidence_of(codec, SOURCE, weights) == "Ana lives in Lima."


def test_of_one_sentence_the_words_as_they_stand(codec):
    weights = torch.tensor([0.1, 0.2, 0.05, 0.4, 0.9])[None, None, None].expand(1, 1, 5, 5)  # most on the full stop
    assert evidence_of(codec, "Ana lives in Lima.\tWhere?", weights) == "Ana … lives … Lima"
