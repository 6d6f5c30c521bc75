"""The regularizers of Merity et al. (2018) against their formulas."""

import pytest
import torch

from atento.errors import InputError
from atento.layers.embeddings import PositionedEmbedding, TokenEmbedding
from atento.layers.positions import NoPositions
from atento.layers.regularization import ActivationPenalty, LockedDropout, WordDropout


def test_one_mask_for_all_steps_of_a_sequence():
    torch.manual_seed(0)
    dropout = LockedDropout(0.4)
    values = torch.randn(7, 5, 31, dtype=torch.float64)
    masks = dropout(values) / values  # (B, T, D) 0 or 1/(1 − p)
    assert torch.allclose(masks, masks[:, :1].expand_as(masks))
    assert masks.unique().tolist() == pytest.approx([0.0, *[1 / 0.6] * (len(masks.unique()) - 1)])
    assert 0.3 < (masks[:, 0] == 0).double().mean() < 0.5
    assert not torch.equal(masks[0, 0], masks[1, 0])  # each sequence has its own
    step = values[:, 0]
    assert ((dropout(step) == 0).double().mean() - 0.4).abs() < 0.15
    assert torch.equal(dropout.eval()(values), values)


def test_a_dropped_word_is_zero_everywhere_in_a_batch():
    torch.manual_seed(1)
    tokens, vectors = torch.randint(0, 23, (5, 41)), torch.randn(5, 41, 3)
    factors = (WordDropout(0.3)(vectors, tokens, 23) / vectors)[..., 0]
    pairs = list(zip(tokens.flatten().tolist(), factors.flatten().tolist(), strict=True))
    by_word = {token: round(factor, 5) for token, factor in pairs}
    for token, factor in pairs:
        assert factor == pytest.approx(by_word[token], abs=1e-4)
    assert {0.0, round(1 / 0.7, 5)} == set(by_word.values())


@pytest.mark.parametrize("kind", ["plain", "positioned"])
def test_embeddings_drop_words_while_training_alone(kind):
    torch.manual_seed(2)
    if kind == "plain":
        embedding = TokenEmbedding(13, 5, word_dropout=0.5, locked=True)
        read = embedding
    else:
        embedding = PositionedEmbedding(13, NoPositions(5), word_dropout=0.5)
        read = lambda tokens: embedding(tokens, torch.arange(tokens.size(1)))  # noqa: E731
    tokens = torch.arange(1, 13).repeat(2, 2)
    dropped = (read(tokens) == 0).all(dim=-1)
    assert torch.equal(dropped[:, :12], dropped[:, 12:]) and dropped.any() and not dropped.all()
    embedding.eval()
    assert not (read(tokens) == 0).all(dim=-1).any()


def test_penalties_of_large_and_of_restless_activations():
    """α mean((m ∘ h)²) + β mean((h_{t+1} − h_t)²), written out; each is added to one loss only."""
    torch.manual_seed(3)
    hidden, dropped = torch.randn(2, 3, 5, 7, dtype=torch.float32).unbind(0)
    part = ActivationPenalty(2.0, 3.0)
    part(dropped, hidden)
    large = sum(float(value) ** 2 for value in dropped.flatten()) / (3 * 5 * 7)
    restless = sum(
        float(hidden[row, time + 1, unit] - hidden[row, time, unit]) ** 2
        for row in range(3)
        for time in range(4)
        for unit in range(7)
    ) / (3 * 4 * 7)
    assert float(part.penalty()) == pytest.approx(2 * large + 3 * restless, rel=1e-5)
    assert part.penalty() == 0.0
    part(dropped[:, :1], hidden[:, :1])  # one step has no change
    assert float(part.penalty()) == pytest.approx(2 * dropped[:, :1].square().mean().item(), rel=1e-5)
    part.eval()(dropped, hidden)
    assert part.penalty() == 0.0


def test_a_probability_is_below_one():
    for make in (LockedDropout, WordDropout):
        with pytest.raises(InputError, match="at least 0 and below 1"):
            make(1.0)
        assert "p=0.5" in repr(make(0.5))
    assert "temporal=1" in repr(ActivationPenalty(2, 1))
