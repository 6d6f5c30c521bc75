"""How an encoder–decoder learns from a batch: coins, own tokens and chunks, by hand."""

import itertools

import pytest
import torch

from atento.attention import recorded_draws
from atento.data.text.vocabulary import END, START
from atento.layers import token_cross_entropy
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TRANSLATE
from atento.tasks.outputs.sequence_loss import cut_targets, mix_own_tokens
from rows import one_row

PAIRS = [("ab", "x y"), ("ba", "y x"), ("aab", "x x y"), ("c", "z")] * 8


@pytest.fixture(scope="module")
def codec():
    return TRANSLATE.learning.learn(TokensRecipe(source="char", target="word"), PAIRS)


@pytest.fixture
def batch(codec):
    return TRANSLATE.learning.batch(codec, [TRANSLATE.learning.encode(codec, pair) for pair in PAIRS[:4]])


def build(codec, name, **choices):
    torch.manual_seed(0)
    return TRANSLATE.learning.build(ModelRecipe(name=name, hidden=16, heads=2, dropout=0.0, **choices), codec)


@pytest.mark.spec("E03")
@pytest.mark.parametrize("name", ["lstm+additive", "transformer"])
def test_own_tokens_stand_where_the_coins_fall(codec, batch, name):
    """The same coins thrown again tell which inputs must be true; elsewhere stands the likeliest word."""
    module = build(codec, name)
    torch.manual_seed(5)
    mixed = mix_own_tokens(module, batch, 0.5, "argmax").previous
    torch.manual_seed(5)
    true = (torch.rand(batch.previous.shape) < 0.5) | ~batch.target_valid
    true[:, 0] = True
    assert torch.equal(mixed[true], batch.previous[true])
    assert (~true).any()
    encoded = module.encode(batch.source, batch.source_valid)
    for row, at in (~true).nonzero().tolist():
        before = mixed if module.decoder.is_recurrent else batch.previous
        logits = module.decoder(before[row : row + 1, :at], one_row(encoded, row))
        logits[..., [0, 1, START, END]] = -torch.inf
        assert mixed[row, at] == logits[0, -1].argmax()


def test_nothing_of_a_mixture_is_differentiated(codec, batch):
    module = build(codec, "gru")
    mixed = mix_own_tokens(module, batch, 0.0, "sampled")
    assert not mixed.previous.requires_grad
    assert all(parameter.grad is None for parameter in module.parameters())
    assert (mixed.previous[batch.target_valid][:1] == START).all()


def test_chunks_hold_every_step_once(batch):
    for steps in (1, 2, 3, 9):
        parts = cut_targets(batch, steps)
        assert [part.target.size(1) for part in parts[:-1]] == [steps] * (len(parts) - 1)
        for name in ("previous", "target", "target_valid"):
            whole = torch.cat([getattr(part, name) for part in parts], dim=1)
            assert torch.equal(whole, getattr(batch, name))
        assert all(torch.equal(part.source, batch.source) for part in parts)
    assert TRANSLATE.learning.truncated_bptt.items(batch) == sum(len(target.split()) + 1 for _, target in PAIRS[:4])


def test_a_decoder_that_carries_no_state_has_no_chunks(codec, batch):
    module = build(codec, "transformer")
    with pytest.raises(TypeError, match="TransformerDecoder carries no state"):
        TRANSLATE.learning.truncated_bptt.start(module, batch)


@pytest.mark.spec("A17")
@pytest.mark.parametrize("attend", ["luong", "bahdanau"])
def test_the_gradient_of_drawn_keys_has_the_exact_one_as_its_mean(codec, monkeypatch, attend):
    """All nine ways to look twice at three keys: Σ P(ways) × estimate against the gradient of Σ P(ways) × loss."""
    module = build(codec, "gru+general+hard-reinforce", attend=attend).double().train()
    batch = TRANSLATE.learning.batch(codec, [TRANSLATE.learning.encode(codec, ("aab", "z"))])
    leaves = list(module.parameters())
    expected, exact = [torch.zeros_like(leaf) for leaf in leaves], torch.zeros(())
    for ways in itertools.product(range(3), repeat=2):
        left = list(ways)

        def pick(logarithms, left=left):
            chosen = [left.pop(0) for _ in range(logarithms.size(-2))]
            return torch.tensor(chosen).view(1, -1, 1)

        monkeypatch.setattr("atento.attention.distributions.hard.sample_indices", pick)
        loss = TRANSLATE.learning.loss(module, batch, 0.0)
        left[:] = ways
        with recorded_draws() as draws:
            module(batch)
        chance = torch.cat(draws, dim=-1).sum().exp()
        estimate = torch.autograd.grad(loss.total, leaves, retain_graph=True)
        for mean, gradient in zip(expected, estimate, strict=True):
            mean += chance.detach() * gradient
        plain = token_cross_entropy(logits_of(module, batch, left, ways), batch.target[batch.target_valid])
        torch.testing.assert_close(loss.total, plain.total)  # the estimate is no cost
        exact = exact + chance * plain.total
    torch.testing.assert_close(expected, list(torch.autograd.grad(exact, leaves)), rtol=0, atol=1e-12)


def logits_of(module, batch, left, ways):
    left[:] = ways
    return module(batch)


def test_an_example_is_judged_by_the_others(codec, monkeypatch):
    """Two alike examples cost alike: neither draw was better than expected, and the scores learn nothing."""
    module = build(codec, "gru+general+hard-reinforce").double().train()
    monkeypatch.setattr(
        "atento.attention.distributions.hard.sample_indices",
        lambda logarithms: torch.zeros_like(logarithms[..., :1]).long(),
    )
    batch = TRANSLATE.learning.batch(codec, [TRANSLATE.learning.encode(codec, ("aab", "x x y"))] * 2)
    TRANSLATE.learning.loss(module, batch, 0.0).total.backward()
    torch.testing.assert_close(module.decoder.attention.score.weight.weight.grad.norm().item(), 0.0, rtol=0, atol=1e-12)
    module.zero_grad()
    unlike = TRANSLATE.learning.batch(
        codec, [TRANSLATE.learning.encode(codec, pair) for pair in (("aab", "x x y"), ("c", "z"))]
    )
    TRANSLATE.learning.loss(module, unlike, 0.0).total.backward()
    assert module.decoder.attention.score.weight.weight.grad.norm() > 1e-6
