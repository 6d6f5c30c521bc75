"""Words by their letters: against the filters written out, whatever the padding and the neighbours."""

import pytest
import torch
from torch.autograd import gradcheck

from atento.layers.embeddings import TokenEmbedding
from atento.models.letters import LETTER_SIZE, WIDTHS, LetterReader, WordEmbedding

ALPHABET, WIDTH, WORDS, SIZE = 11, 7, 13, 5


def spelled(reader, letters):
    """One word by the formula: marks at both ends, every window of every filter, the largest answer or 0."""
    first, last = ALPHABET, ALPHABET + 1
    vectors = [reader.table.weight[letter] for letter in (first, *letters, last)]
    found = []
    for filter_ in reader.filters:
        seen = filter_.in_features // LETTER_SIZE
        padded = vectors + [torch.zeros(LETTER_SIZE)] * (seen - 1)
        windows = [torch.cat(padded[at : at + seen]) for at in range(len(vectors))]
        found.append(torch.stack([filter_(window) for window in windows]).amax(0).clamp(min=0))
    return torch.cat(found)


@pytest.mark.spec("K04")
def test_letters_by_the_formula():
    reader = LetterReader(ALPHABET, WIDTH)
    assert [filter_.in_features // LETTER_SIZE for filter_ in reader.filters] == list(WIDTHS)
    words = [[4, 5, 6], [7], [10, 4, 4, 9, 8], []]
    letters = torch.tensor([[*word, *[0] * (6 - len(word))] for word in words])
    expected = torch.stack([*(spelled(reader, word) for word in words[:3]), torch.zeros(WIDTH)])
    torch.testing.assert_close(reader(letters), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(reader(letters[:2, :3]), expected[:2], rtol=0, atol=1e-12)  # less padding


def test_gradients():
    reader = LetterReader(ALPHABET, WIDTH)
    letters = torch.tensor([[4, 5, 0], [6, 0, 0]])
    assert gradcheck(
        lambda weight: torch.func.functional_call(reader, {"table.weight": weight}, letters),
        reader.table.weight.detach().clone().requires_grad_(),
    )


def some_words():
    """(2, 3, 1 + 4): a word twice, one unknown, padding at the end."""
    cat, dog, gap = [6, 4, 5, 6, 0], [1, 7, 8, 9, 10], [0] * 5
    return torch.tensor([[cat, dog, cat], [dog, gap, gap]])


@pytest.mark.spec("K04")
def test_a_word_is_its_own_vector_plus_its_letters():
    letters = LetterReader(ALPHABET, WIDTH)
    embedding, words = WordEmbedding(WORDS, SIZE, letters=letters), some_words()
    vectors = embedding(words)
    for row, place in ((0, 0), (0, 1), (1, 0)):
        word, *spelling = words[row, place].tolist()
        kept = [letter for letter in spelling if letter]
        expected = embedding.table.weight[word] + embedding.map(spelled(letters, kept))
        torch.testing.assert_close(vectors[row, place], expected, rtol=0, atol=1e-12)
    assert (vectors[1, 1:] == 0).all()


def test_letters_are_read_once_for_each_distinct_word():
    embedding, asked = WordEmbedding(WORDS, SIZE, letters=LetterReader(ALPHABET, WIDTH)), []
    embedding.letters.register_forward_pre_hook(lambda _, args: asked.append(len(args[0])))
    embedding(some_words().repeat(5, 1, 1))
    assert asked == [3]  # cat, dog, nothing


def test_without_letters_a_word_is_its_vector():
    embedding = WordEmbedding(WORDS, SIZE, letters=None)
    assert isinstance(embedding, TokenEmbedding)
    assert torch.equal(embedding(some_words()), embedding.table(some_words()[..., 0]))
