"""The neural cache and dynamic evaluation against loops written from their formulas."""

import copy
import math

import pytest
import torch

from atento.models.builders.language_model import build_language_model
from atento.spec import ModelRecipe
from atento.tasks.generate.adapting import adapted, with_cache, with_dynamic_evaluation

V = 7


def model(name="gru"):
    torch.manual_seed(0)
    return build_language_model(ModelRecipe(name=name, hidden=6, heads=2, dropout=0.0), V, order=3).double().eval()


def row(length=41):
    return torch.randint(1, V, (length,), generator=torch.Generator().manual_seed(1))


@torch.no_grad()
def features_of(made, tokens):
    return made.decoder.features(tokens[None, :-1], made.empty_source(1))[0]


def test_the_cache_is_the_formula(monkeypatch):
    """p_cache(w) ∝ Σ exp(θ h_t · h_i) over the last steps that w followed; the first token has no past."""
    monkeypatch.setattr("atento.tasks.generate.adapting.QUERIES", 11)  # several chunks
    made, tokens = model(), row()
    found = with_cache(made, tokens, size=5, flatness=0.7, share=0.3)
    hidden = features_of(made, tokens)
    plain = made.decoder.to_logits(hidden).softmax(dim=-1).detach()
    for at in range(40):
        past = range(max(0, at - 5), at)
        weights = {step: math.exp(0.7 * float(hidden[at].float() @ hidden[step].float())) for step in past}
        word = int(tokens[at + 1])
        cached = sum(weights[step] for step in past if int(tokens[step + 1]) == word) / max(
            sum(weights.values()), 1e-30
        )
        share = 0.3 if at else 0.0
        assert found[at].exp().item() == pytest.approx((1 - share) * plain[at, word].item() + share * cached, abs=1e-5)


def test_dynamic_evaluation_scores_each_segment_before_it_is_learned():
    """w ← w − η ∇L of the segment just scored, its gradient clipped; the weights return bit for bit."""
    made, tokens = model(), row(23)
    before = copy.deepcopy(made.state_dict())
    found = with_dynamic_evaluation(made, tokens, rate=0.5, segment=4)
    assert all(torch.equal(one, made.state_dict()[name]) for name, one in before.items())

    expected, state = [], made.decoder.start(made.empty_source(1))
    for begin in range(0, 22, 4):
        here = slice(begin, min(begin + 4, 22))
        state = state._replace(cells=tuple(cell._replace(hidden=cell.hidden.detach()) for cell in state.cells))
        hidden, state = made.resume(tokens[:-1][here][None], state)
        logs = made.decoder.to_logits(hidden[0]).log_softmax(dim=-1).gather(1, tokens[1:][here, None]).squeeze(1)
        expected += logs.tolist() if not logs.requires_grad else logs.detach().tolist()
        made.zero_grad()
        (-logs.mean()).backward()
        torch.nn.utils.clip_grad_norm_(made.parameters(), 1.0)
        with torch.no_grad():
            for weight in made.parameters():
                weight -= 0.5 * weight.grad
    assert found.tolist() == pytest.approx(expected, abs=1e-4)
    still = with_dynamic_evaluation(model(), tokens, rate=0.0, segment=4)
    assert still[:4].tolist() == pytest.approx(found[:4].tolist()) and not torch.allclose(still, found)


def test_what_adapts_and_what_does_not():
    made, tokens = model("gru+ngram"), row()
    made.ngram.count([tokens.numpy()], skipped=1)
    made.shares.zero_()
    alone = made.mixed(torch.zeros(40), tokens, skipped=1)
    shown = adapted(made, None, tokens)
    assert set(shown) == {"cache", "dynamic evaluation"}
    assert all(torch.allclose(logs, alone) for logs in shown.values()), "counts alone, whatever the network learns"
    assert adapted(model("transformer"), None, tokens) == {}
