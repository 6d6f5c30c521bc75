"""Poolings against loops over their formulas, and what only attention can learn."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from atento.attention import Additive, Attention, Causal, Dot, Everything, Softmax, Sparsemax
from atento.blocks import AttentionPooling, LastPooling, MaxPooling, MeanPooling
from atento.errors import InputError

BATCH, TIME, SIZE, QUERY_SIZE, HIDDEN = 3, 5, 7, 11, 13
VALID = torch.tensor([[True, True, False, True, False], [False, True, True, True, True], [False] * 5])


def additive(distribution):
    return Attention(Additive(QUERY_SIZE, SIZE, hidden_size=HIDDEN), distribution, Everything())


def same(actual, expected, leaves):
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-13)
    upstream = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(actual, leaves, upstream), gradients, rtol=0, atol=1e-12)


@pytest.mark.spec("A33")
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_one_learned_query_sums_up(padded):
    """Σ_t softmax_t(v · tanh(W u + U x_t)) x_t, one item at a time."""
    pooling = AttentionPooling(QUERY_SIZE, additive(Softmax()))
    score = pooling.attention.score
    values, valid = torch.randn(BATCH, TIME, SIZE, requires_grad=True), VALID if padded else None
    expected, weights = [], torch.zeros(BATCH, TIME)
    for row in range(BATCH):
        real = [at for at in range(TIME) if valid is None or valid[row, at]]
        powers = {}
        for at in real:
            hidden = score.project_query.weight @ pooling.query + score.project_key.weight @ values[row, at]
            powers[at] = (score.collapse.weight[0] @ hidden.tanh()).exp()
        shares = {at: power / sum(powers.values()) for at, power in powers.items()}
        for at, share in shares.items():
            weights[row, at] = share.detach()
        expected.append(sum((share * values[row, at] for at, share in shares.items()), torch.zeros(SIZE)))
    same(pooling(values, valid=valid), torch.stack(expected), [values, *pooling.parameters()])
    torch.testing.assert_close(pooling.weights(values, valid=valid), weights, rtol=0, atol=1e-14)


@pytest.mark.spec("A33")
@pytest.mark.parametrize(
    "pooling, formula",
    [
        (MeanPooling(), lambda items: sum(items) / len(items)),
        (MaxPooling(), lambda items: torch.stack([max(feature) for feature in zip(*items, strict=True)])),
        (LastPooling(), lambda items: items[-1]),
    ],
    ids=["mean", "max", "last"],
)
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_the_simple_ones(pooling, formula, padded):
    values, valid = torch.randn(BATCH, TIME, SIZE, requires_grad=True), VALID if padded else None
    expected = []
    for row in range(BATCH):
        items = [values[row, at] for at in range(TIME) if valid is None or valid[row, at]]
        expected.append(formula(items) if items else torch.zeros(SIZE))
    same(pooling(values, valid=valid), torch.stack(expected), [values])


LONG, CLASSES = 61, 5


def planted(count):
    """One item of each sequence carries a flag; its class is what is asked. All other items carry a class too."""
    classes = torch.randint(CLASSES, (count, LONG))
    place = torch.randint(LONG, (count,))
    flags = functional.one_hot(place, LONG)
    values = torch.cat([flags.unsqueeze(-1), functional.one_hot(classes, CLASSES)], dim=-1).float()
    return values, classes.gather(1, place.unsqueeze(1)).squeeze(1), flags


def accuracy_after_training(pooling):
    """The same readout, the same steps, whatever sums up."""
    model = nn.ModuleDict({"pooling": pooling, "readout": nn.Linear(CLASSES + 1, CLASSES)}).float()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(200):
        values, target, _ = planted(64)
        optimiser.zero_grad()
        functional.cross_entropy(model["readout"](model["pooling"](values)), target).backward()
        optimiser.step()
    values, target, _ = planted(1000)
    return (model["readout"](pooling(values)).argmax(dim=-1) == target).float().mean().item()


@pytest.mark.spec("A33")
@pytest.mark.parametrize("distribution", [Softmax(), Sparsemax()], ids=["softmax", "sparsemax"])
def test_a_planted_item_is_found(distribution):
    pooling = AttentionPooling(CLASSES + 1, Attention(Dot(), distribution, Everything()))
    assert accuracy_after_training(pooling) > 0.95
    values, _, flags = planted(100)
    assert (pooling.weights(values) * flags).sum(dim=-1).mean() > 0.8


@pytest.mark.spec("A33")
@pytest.mark.parametrize("pooling", [MeanPooling(), MaxPooling(), LastPooling()], ids=["mean", "max", "last"])
def test_a_planted_item_is_lost_to_the_simple_ones(pooling):
    """Chance is 1 in 5; a mean over 61 items keeps a trace."""
    assert accuracy_after_training(pooling) < 0.5


def test_any_number_of_leading_axes():
    pooling, values = AttentionPooling(QUERY_SIZE, additive(Softmax())), torch.randn(2, 3, TIME, SIZE)
    whole = pooling(values)
    assert whole.shape == (2, 3, SIZE) and pooling.weights(values).shape == (2, 3, TIME)
    torch.testing.assert_close(pooling(values[1, 2]), whole[1, 2], rtol=0, atol=1e-14)


def test_what_does_not_fit_is_named():
    pooling, values = MeanPooling(), torch.randn(BATCH, TIME, SIZE)
    with pytest.raises(InputError, match=r"values must have the shape") as caught:
        pooling(values[0, 0])
    assert caught.value.found == "values (7,)"
    with pytest.raises(InputError, match="valid says of each item of values"):
        pooling(values, valid=VALID[:, :4])
    with pytest.raises(InputError, match="boolean") as caught:
        pooling(values, valid=VALID.long())
    assert "torch.int64" in caught.value.found
    with pytest.raises(InputError, match="AttentionPooling: size must be positive"):
        AttentionPooling(0, additive(Softmax()))
    with pytest.raises(InputError, match="within one sequence only"):
        AttentionPooling(SIZE, Attention(Dot(), Softmax(), Causal()))
