"""Many to one: what each kind reads is right, padding never counts, and planted signs are found."""

import pytest
import torch
from torch.nn import functional

from atento.errors import InputError
from atento.layers import TokenEmbedding, valid_from_lengths
from atento.models import Classifier, LabelHead, LabelledBatch, MultiLabelHead, OneVsRest, RegressionHead
from atento.models.backbones import RecurrentEncoder, RecurrentNumberEncoder
from atento.models.builders import build_classifier, count_parameters
from atento.models.names import FAMILIES
from atento.models.summaries import SUMMARIES
from atento.recurrent import GRUCell, Stack
from atento.spec import ModelRecipe

BATCH, STEPS, TOKENS, LABELS = 3, 7, 13, 5
NAMES = [*FAMILIES, "gru+additive", "lstm+dot+sparsemax", "transformer+general"]


def build(name, head=LabelHead, width=LABELS, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 10, "heads": 2, "feed_forward": 7, "dropout": 0.0, **choices})
    return build_classifier(recipe, TOKENS, head, width)


def some_batch(truth=None):
    torch.manual_seed(1)
    valid = valid_from_lengths(torch.tensor([7, 4, 1]), STEPS)
    truth = torch.tensor([4, 0, 2]) if truth is None else truth
    return LabelledBatch(torch.randint(1, TOKENS, (BATCH, STEPS)), valid, truth)


def learn(model, make_batch, *, steps, rate=0.01):
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for _ in range(steps):
        optimiser.zero_grad()
        model.loss(make_batch()).mean.backward()
        optimiser.step()
    return model.eval()


@pytest.mark.spec("R04")
@pytest.mark.parametrize("name", NAMES)
def test_neither_padding_nor_neighbours_matter(name):
    model, batch = build(name), some_batch()
    weights = list(model.parameters())
    expected = model(batch)
    slopes = torch.autograd.grad(model.loss(batch).total, weights)
    other = batch._replace(source=batch.source.masked_fill(~batch.valid, 3))
    assert torch.equal(model(other), expected)
    for ours, theirs in zip(torch.autograd.grad(model.loss(other).total, weights), slopes, strict=True):
        assert torch.equal(ours, theirs)
    for row in range(BATCH):
        length = int(batch.valid[row].sum())
        source = functional.pad(batch.source[row : row + 1, :length], (2, 1), value=3)  # before and after
        alone = LabelledBatch(source, functional.pad(batch.valid[row : row + 1, :length], (2, 1)), batch.truth)
        torch.testing.assert_close(model(alone), expected[row : row + 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_sequence_of_nothing_gives_finite_numbers(name):
    model, batch = build(name), some_batch()
    loss = model.loss(batch._replace(valid=batch.valid & torch.tensor([[True], [False], [True]]))).total
    slopes = torch.autograd.grad(loss, list(model.parameters()))
    assert loss.isfinite()
    assert all(slope.isfinite().all() for slope in slopes)


def test_the_loss_is_the_head_s():
    batch, truth = some_batch(), torch.tensor([[1.0], [2.0], [-1.0]])
    model, numbers = build("gru"), build("gru", head=RegressionHead, width=1)
    probabilities = model(batch).log_softmax(-1)
    torch.testing.assert_close(
        model.loss(batch).total, -(probabilities[0, 4] + probabilities[1, 0] + probabilities[2, 2])
    )
    torch.testing.assert_close(numbers.loss(some_batch(truth)).total, (numbers(batch) - truth).square().sum())


def test_attention_pools_by_the_named_composition():
    model, batch = build("lstm+additive+sparsemax"), some_batch()
    weights = model.weights(batch)
    assert weights.shape == (BATCH, STEPS)
    assert (weights[~batch.valid] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH))
    states = model.encoder.encode(batch.source, batch.valid).states
    torch.testing.assert_close(model(batch), model.head((weights.unsqueeze(-1) * states).sum(1)))


def sign_batch():
    """Which of three signs stands anywhere among noise."""
    truth = torch.randint(3, (32,))
    lengths = torch.randint(3, STEPS + 1, (32,))
    source = torch.randint(4, TOKENS, (32, STEPS))
    place = (torch.rand(32) * lengths).long()
    source[torch.arange(32), place] = 1 + truth
    return LabelledBatch(source, valid_from_lengths(lengths, STEPS), truth)


@pytest.mark.spec("R04")
@pytest.mark.parametrize("name", ["lstm", "gru+additive", "transformer"])
def test_one_word_decides(name):
    """As in a sentiment: a sign anywhere in the sequence is all that counts."""
    model = learn(build(name, width=3, hidden=16), sign_batch, steps=150, rate=0.02)
    torch.manual_seed(9)
    batch = sign_batch()
    assert (model.head.predict(model(batch)) == batch.truth).all()
    if name == "gru+additive":
        assert model.weights(batch)[(batch.source <= 3) & batch.valid].mean() > 2 / STEPS  # it looks at the sign


def wave_batch():
    """The beats of a slow heart, every nine steps, or of a fast one, every six; from any moment on, with noise."""
    truth, time = torch.randint(2, (32,)), torch.arange(30.0)
    beats = torch.where(truth == 1, 6.0, 9.0).unsqueeze(1) * torch.arange(-1, 6) + 5 * torch.rand(32, 1)  # (B, 7)
    heights = torch.exp(-((time[:, None] - beats[:, None]) ** 2)).sum(-1) + 0.05 * torch.randn(32, 30)
    return LabelledBatch(heights.unsqueeze(-1), torch.ones(32, 30, dtype=torch.bool), truth)


@pytest.mark.spec("R04")
def test_a_wave_of_numbers_is_classified():
    torch.manual_seed(0)
    encoder = RecurrentNumberEncoder(Stack(GRUCell, 1, 16), SUMMARIES["last"])
    model = learn(Classifier(encoder, LabelHead(16, 2)), wave_batch, steps=120, rate=0.02)
    torch.manual_seed(9)
    batch = wave_batch()
    assert (model.head.predict(model(batch)) == batch.truth).double().mean() > 0.95


def several_batch():
    """Three labels, each with a sign of its own; some texts have none, some all."""
    truth = torch.randint(2, (32, 3))
    source = torch.randint(4, TOKENS, (32, STEPS))
    for label in range(3):
        source[:, 2 * label] = torch.where(truth[:, label] == 1, 1 + label, source[:, 2 * label])
    return LabelledBatch(source, torch.ones(32, STEPS, dtype=torch.bool), truth)


@pytest.mark.spec("L04")
def test_one_network_for_all_labels_against_one_a_label():
    """Both learn. One for all has a third of the weights, and each label moves what the others read."""
    recipe = ModelRecipe(name="gru", hidden=8, dropout=0.0)
    torch.manual_seed(0)
    one = build_classifier(recipe, TOKENS, MultiLabelHead, 3)
    each = OneVsRest([build_classifier(recipe, TOKENS, MultiLabelHead, 1) for _ in range(3)])
    assert count_parameters(each) == 3 * (count_parameters(one) - 2 * (8 + 1))
    batch = several_batch()
    assert one(batch).shape == each(batch).shape == (32, 3)
    total = torch.stack([network(batch)[:, 0] for network in each.networks], dim=1)
    torch.testing.assert_close(each(batch), total)
    expected = functional.binary_cross_entropy_with_logits(each(batch), batch.truth.double(), reduction="sum")
    assert each.loss(batch).items == 96
    torch.testing.assert_close(each.loss(batch).total, expected)
    touched = torch.autograd.grad(each(batch)[:, 0].sum(), each.networks[1].head.map.weight, allow_unused=True)[0]
    assert touched is None or not touched.any()
    assert torch.autograd.grad(one(batch)[:, 0].sum(), one.encoder.embedding.table.weight)[0].any()
    for model in (one, each):
        learn(model, several_batch, steps=120, rate=0.02)
        torch.manual_seed(9)
        asked = several_batch()
        assert ((model(asked) > 0) == asked.truth.bool()).double().mean() > 0.98


def test_what_does_not_fit_is_refused():
    encoder = RecurrentEncoder(TokenEmbedding(TOKENS, 4), Stack(GRUCell, 4, 6), SUMMARIES["last"])
    with pytest.raises(InputError, match="encoder of size 6, head of size 5"):
        Classifier(encoder, LabelHead(5, 2))
    with pytest.raises(InputError, match="does not pool by attention"):
        Classifier(encoder, LabelHead(6, 2)).weights(some_batch())
    with pytest.raises(InputError, match=r"widths \[2\]"):
        OneVsRest([Classifier(encoder, LabelHead(6, 2))])
    with pytest.raises(InputError, match=r"widths \[\]"):
        OneVsRest([])
