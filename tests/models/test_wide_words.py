"""The wide part of a tagger: its features are the perceptron's, whatever the padding, and transitions are mixed."""

import pytest
import torch

from atento.baselines.tagging import templates
from atento.data.text.vocabulary import SPECIAL_TOKENS
from atento.layers.crf import Transitions
from atento.models import LabelledBatch
from atento.models.builders.tagger import Tagset, build_word_tagger
from atento.models.wide_words import TEMPLATES, WideWords
from atento.spec import ModelRecipe
from atento.tasks.inputs.words import WordList

SENTENCES = [
    ["Anna", "and", "Ann", "saw", "7", "McDonalds", "in", "New-York", ",", "ann", "!"],
    ["The", "cats", "walked", ".", "The", "CAT", "walks", "77", "times", ",", "walking", "on", "and", "on"],
    ["a", "b", "A", "ab", "Ab", "aB", "1", "12", "1a", "!", "!!", "-"],
]
INNER = slice(2, -2)  # words whose neighbours are all real; outside of a sentence the perceptron has other names
TAGS = Tagset(("O", "B-x", "I-x"), "iob2")


def words_of(sentences):
    letters = sorted({letter for words in sentences for word in words for letter in word})
    return WordList(sorted({word.lower() for words in sentences for word in words}), letters, lower=True, seen=[])


def wide_of(input, capacity=997):
    wide = WideWords(input.sizes[1], len(TAGS.tags), capacity=capacity)
    wide.learn_letters(input.letters, len(SPECIAL_TOKENS))
    return wide


def test_two_words_share_a_feature_where_the_perceptron_says_so():
    input = words_of(SENTENCES)
    wide, pairs = wide_of(input), set()
    for words in SENTENCES:
        source, valid = input.tensors([input.encode_words(words)])
        keys = wide.keys(source, valid)[0]
        assert keys.shape == (len(words), TEMPLATES)
        for row, named in zip(keys[INNER].tolist(), templates(words)[INNER], strict=True):
            pairs |= set(zip(row, named, strict=True))
    assert len(pairs) == len({key for key, _ in pairs}) == len({name for _, name in pairs})


def test_neighbours_outside_of_a_sentence_and_padding_anywhere():
    torch.manual_seed(0)
    input = words_of(SENTENCES)
    wide = wide_of(input)
    alone = [wide.keys(*input.tensors([input.encode_words(words)]))[0] for words in SENTENCES]
    source, valid = input.tensors([input.encode_words(words) for words in SENTENCES])
    together = wide.keys(source, valid)
    for row, own, real in zip(together, alone, valid, strict=True):
        assert torch.equal(row[real], own)
    left = wide.keys(source.flip(1), valid.flip(1))  # real words last, in the other order
    right = wide.keys(*input.tensors([input.encode_words(words[::-1]) for words in SENTENCES]))
    for row, other, real in zip(left, right, valid, strict=True):
        assert torch.equal(row[real.flip(0)], other[real])
    (first, second), (third, _) = alone[0][:2], alone[1][:2]
    previous, before_that = 10, 11
    assert first[previous] == third[previous]  # both begin a sentence
    assert first[previous] != second[previous]
    assert first[before_that] == second[before_that]
    wide.table.fill(together[valid].unique(), torch.randn(len(together[valid].unique()), 3))
    scores = wide(source, valid)
    assert torch.equal(wide(source.masked_fill(~valid.unsqueeze(-1), 5), valid), scores)
    assert not scores[~valid].any()
    rows = wide.table.rows[wide.table.find(alone[1])].sum(dim=1) + wide.bias
    torch.testing.assert_close(scores[1][valid[1]], rows)


@pytest.mark.parametrize("name", ["lstm+wide", "lstm+crf+wide"])
def test_the_network_learns_alone_and_answers_are_made_of_both(name):
    torch.manual_seed(0)
    input = words_of(SENTENCES)
    tagger = build_word_tagger(ModelRecipe(name=name, hidden=8, characters=4, dropout=0.0), *input.sizes, TAGS)
    wide = tagger.wide
    wide.learn_letters(input.letters, len(SPECIAL_TOKENS))
    for part in (wide.bias, wide.start, wide.between, wide.end):
        torch.nn.init.normal_(part)
    source, valid = input.tensors([input.encode_words(words) for words in SENTENCES])
    batch = LabelledBatch(source, valid, torch.zeros_like(valid, dtype=torch.long))
    assert not tagger.train().scores(source, valid).any()
    torch.nn.init.normal_(tagger.head.map.weight)
    wide.weights_of_both.copy_(torch.tensor([0.25, 2.0]))
    network = tagger.train().scores(source, valid)
    both = 0.25 * wide(source, valid) + 2.0 * network
    torch.testing.assert_close(tagger.eval().scores(source, valid), both)
    torch.testing.assert_close(tagger(batch), both[valid])
    if tagger.chain is not None:
        torch.nn.init.normal_(tagger.chain.between)
        own = Transitions(tagger.chain.start, tagger.chain.between, tagger.chain.end)
        learned = tagger.chain.train().transitions()
        torch.testing.assert_close(learned.between[0, 0], own.between[0, 0])
        mixed = tagger.chain.eval().transitions()
        torch.testing.assert_close(mixed.between[0, 0], 0.25 * wide.between[0, 0] + 2.0 * own.between[0, 0])
        assert mixed.between[0, 2] < -1e3  # O I-x is still forbidden
