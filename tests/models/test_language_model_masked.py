"""Masked models: what is hidden, and what is selected."""

import pytest
import torch

from atento.errors import InputError
from atento.models import MaskedBatch
from atento.models.builders import build_masked_model
from atento.models.language_model import mask_tokens
from atento.spec import ModelRecipe

BATCH, TIME, TOKENS, MASK = 3, 7, 11, 2


def build(name="transformer", **choices):
    torch.manual_seed(0)
    sizes = {"hidden": 10, "layers": 2, "heads": 2, "dropout": 0.0}
    return build_masked_model(ModelRecipe(name=name, **{**sizes, **choices}), TOKENS).double().eval()


def some_batch():
    torch.manual_seed(1)
    target = torch.randint(4, TOKENS, (BATCH, TIME))
    valid = torch.arange(TIME) < torch.tensor([[7], [4], [5]])
    selected = torch.rand(BATCH, TIME) < 0.4
    return MaskedBatch(target.masked_fill(selected, MASK), valid, target, selected)


@pytest.mark.spec("T10")
def test_shares_of_what_is_hidden():
    """15 % are selected; of these 80 % are masks, 10 % any token, 10 % stay (Devlin et al., 2019)."""
    torch.manual_seed(5)
    tokens = torch.randint(4, 1000, (200, 500))
    may = torch.rand(200, 500) < 0.9
    read, selected = mask_tokens(tokens, may, rate=0.15, mask=MASK, first=4, size=1000)
    count = selected.sum().item()
    assert not (selected & ~may).any()
    assert torch.equal(read[~selected], tokens[~selected])
    assert count / may.sum().item() == pytest.approx(0.15, abs=0.005)
    assert (read[selected] == MASK).sum().item() / count == pytest.approx(0.8, abs=0.02)
    assert (read[selected] == tokens[selected]).sum().item() / count == pytest.approx(0.1, abs=0.02)
    others = read[selected & (read != MASK) & (read != tokens)]
    assert others.min() >= 4 and others.max() < 1000


def test_one_token_at_least_is_selected():
    tokens = torch.full((2, 3), 5)
    may = torch.tensor([[False, True, False], [False, False, False]])
    _, selected = mask_tokens(tokens, may, rate=1e-9, mask=MASK, first=4, size=9)
    assert torch.equal(selected, may)


@pytest.mark.spec("T10")
@pytest.mark.parametrize("name", ["transformer", "lstm", "gru"])
def test_the_loss_is_that_of_the_selected_tokens_alone(name):
    model, batch = build(name), some_batch()
    expected, count = 0.0, 0
    for row in range(BATCH):
        length = int(batch.valid[row].sum())
        states = model.encoder.encode(batch.source[row : row + 1, :length], torch.ones(1, length, dtype=torch.bool))
        logits = states.states[0] @ model.table.weight.T + model.bias
        for at in range(length):
            if batch.selected[row, at]:
                expected -= logits[at].log_softmax(-1)[batch.target[row, at]]
                count += 1
    loss = model.loss(batch)
    assert loss.items == count
    torch.testing.assert_close(loss.total, expected, rtol=0, atol=1e-10)
    unseen = batch._replace(target=torch.where(batch.selected & batch.valid, batch.target, torch.tensor(4)))
    assert torch.equal(model.loss(unseen).total, loss.total)


@pytest.mark.spec("T10")
@pytest.mark.parametrize("name", ["transformer", "lstm"])
def test_both_sides_have_a_say(name):
    model, batch = build(name), some_batch()
    selected = torch.zeros_like(batch.selected)
    selected[:, 3] = True
    asked = batch._replace(valid=torch.ones_like(batch.valid), selected=selected)
    logits = model(asked)
    for place in (1, 5):
        other = asked.source.clone()
        other[:, place] = 4 + (other[:, place] - 3) % 7
        assert not torch.allclose(model(asked._replace(source=other)), logits)


def test_what_has_no_meaning_is_refused():
    for choices in ({"name": "lstm+dot"}, {"name": "lstm/gru"}, {"name": "lstm", "directions": 1}):
        with pytest.raises(InputError):
            build(**choices)
