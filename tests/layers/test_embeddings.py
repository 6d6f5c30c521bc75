import torch

from atento.layers import PositionedEmbedding, SinusoidalPositions, TokenEmbedding

VOCABULARY, SIZE = 7, 5


def test_each_token_has_its_own_vector():
    embedding = TokenEmbedding(VOCABULARY, SIZE)
    tokens = torch.tensor([[3, 1], [6, 3]])
    vectors = embedding(tokens)
    assert vectors.shape == (2, 2, SIZE)
    for row in range(2):
        for at in range(2):
            assert torch.equal(vectors[row, at], embedding.table.weight[tokens[row, at]])


def test_padding_is_a_zero_vector_that_learns_nothing():
    embedding = TokenEmbedding(VOCABULARY, SIZE)
    vectors = embedding(torch.tensor([[0, 3]]))
    assert (vectors[0, 0] == 0).all()
    vectors.sum().backward()
    gradient = embedding.table.weight.grad
    assert (gradient[0] == 0).all()
    assert (gradient[3] == 1).all()


def test_vectors_start_about_as_long_as_one():
    """Drawn with standard deviation size^-½, so that their squares sum to about 1."""
    torch.manual_seed(1)
    lengths = TokenEmbedding(1009, 101).table.weight[1:].square().sum(-1)
    assert abs(lengths.mean().item() - 1) < 0.02


def test_the_same_token_differs_from_place_to_place():
    embedding = PositionedEmbedding(VOCABULARY, SinusoidalPositions(SIZE))
    vectors = embedding(torch.tensor([[3, 3]]), torch.arange(2))
    assert not torch.allclose(vectors[0, 0], vectors[0, 1])
    per_row = embedding(torch.tensor([[3], [3]]), torch.tensor([[0], [1]]))
    torch.testing.assert_close(per_row[:, 0], vectors[0])


def test_dropout_only_while_training():
    embedding = PositionedEmbedding(VOCABULARY, SinusoidalPositions(SIZE), dropout=0.5)
    tokens = torch.tensor([[1, 2, 3]])
    assert (embedding(tokens, torch.arange(3)) == 0).any()
    assert not (embedding.eval()(tokens, torch.arange(3)) == 0).any()
