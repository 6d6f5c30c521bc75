"""Words by their characters: against torch's GRU on each word alone, whatever the padding and the neighbours."""

import math

import pytest
import torch
from torch.autograd import gradcheck

from atento.errors import InputError
from atento.layers import TokenEmbedding
from atento.models.backbones import CharacterEncoder, WordEmbedding
from atento.models.backbones.words import distinct_rows

ALPHABET, WIDTH, WORDS, SIZE = 11, 6, 13, 5


def spelled(reader, characters):
    """One word alone through torch's own GRU: where each direction has read it all."""
    outputs, _ = reader.stack.to_torch()(reader.table.weight[list(characters)].unsqueeze(0))
    return torch.cat([outputs[0, -1, : WIDTH // 2], outputs[0, 0, WIDTH // 2 :]])


@pytest.mark.spec("K04")
def test_characters_are_torchs_gru_on_each_word():
    reader = CharacterEncoder(ALPHABET, WIDTH)
    words = [[4, 5, 6], [7], [10, 4, 4, 9, 8], []]
    characters = torch.tensor([[*word, *[0] * (6 - len(word))] for word in words])
    expected = torch.stack([*(spelled(reader, word) for word in words[:3]), torch.zeros(WIDTH)])
    torch.testing.assert_close(reader(characters), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(reader(characters[:2, :3]), expected[:2], rtol=0, atol=1e-12)  # less padding


def test_gradients():
    reader = CharacterEncoder(4, 2)
    characters = torch.tensor([[1, 2, 0], [3, 0, 0]])
    assert gradcheck(
        lambda weight: torch.func.functional_call(reader, {"table.weight": weight}, characters),
        reader.table.weight.detach().clone().requires_grad_(),
    )


def some_words():
    """(2, 3, 1 + 4): a word twice, one unknown, padding at the end."""
    cat, dog, gap = [6, 4, 5, 6, 0], [1, 7, 8, 9, 10], [0] * 5
    return torch.tensor([[cat, dog, cat], [dog, gap, gap]])


@pytest.mark.spec("K04")
def test_a_word_is_its_own_vector_plus_its_characters():
    characters = CharacterEncoder(ALPHABET, WIDTH)
    embedding, words = WordEmbedding(WORDS, SIZE, characters=characters), some_words()
    vectors = embedding(words)
    for row, place in ((0, 0), (0, 1), (1, 0)):
        word, *spelling = words[row, place].tolist()
        kept = [character for character in spelling if character]
        expected = embedding.table.weight[word] + embedding.map(spelled(characters, kept)) / math.sqrt(SIZE)
        torch.testing.assert_close(vectors[row, place], expected, rtol=0, atol=1e-12)
    assert (vectors[1, 1:] == 0).all()
    embedding.factor = WordEmbedding(WORDS, SIZE, characters=None, scaled=True).factor
    torch.testing.assert_close(embedding(words), math.sqrt(SIZE) * vectors)
    torch.testing.assert_close(
        embedding.encode_characters(characters, words[0, :, 1:]), characters(words[0, :, 1:])
    )  # as on a GPU


def test_characters_are_read_once_for_each_distinct_word():
    embedding, asked = WordEmbedding(WORDS, SIZE, characters=CharacterEncoder(ALPHABET, WIDTH)), []
    embedding.characters.register_forward_pre_hook(lambda _, args: asked.append(len(args[0])))
    embedding(some_words().repeat(5, 1, 1))
    assert asked == [3]  # cat, dog, nothing


@pytest.mark.parametrize("rows", [1, 2, 997])
def test_distinct_rows_are_torchs_in_their_order(rows):
    numbers = torch.tensor([0, 1, 255, 256, 70_000])[torch.randint(0, 5, (rows, 3))]
    distinct, place = distinct_rows(numbers)
    expected, at = torch.unique(numbers, dim=0, return_inverse=True)
    assert torch.equal(distinct, expected) and torch.equal(place, at)


def test_without_characters_a_word_is_its_vector():
    embedding = WordEmbedding(WORDS, SIZE, characters=None)
    assert isinstance(embedding, TokenEmbedding)
    assert torch.equal(embedding(some_words()), embedding.table(some_words()[..., 0]))


@pytest.mark.parametrize("width", [7, 1])
def test_both_directions_are_equally_wide(width):
    with pytest.raises(InputError, match=f"width={width}"):
        CharacterEncoder(ALPHABET, width)
