"""Contracts of whole models: every family keeps them, and each fails on a model broken in just that way."""

import pytest
import torch

import atento
from atento.checks import translators
from atento.checks.translators import micro_batches, some_batch, token_loss
from atento.layers import Loss
from atento.models import Translator
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe

FAMILIES = [
    "rnn",
    "gru",
    "lstm",
    "lstm+dot",
    "gru+additive+sparsemax",
    "lstm+general+local",
    "transformer",
    "transformer+additive",
    "gru/transformer",
    "transformer/lstm+general",
]
SIZES = {"hidden": 12, "heads": 2, "feed_forward": 10, "layers": 2, "window": 2}


def build(name, kind=Translator):
    torch.manual_seed(0)
    made = build_translator(ModelRecipe(name=name, **SIZES), Vocabularies(17, 13))
    return kind(made.encoder, made.decoder)


def broken(checked):
    return {finding.contract for finding in checked.broken}


@pytest.mark.spec("X01")
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_keeps_every_contract(name):
    checked = atento.check(build(name))
    assert checked, checked
    aside = {finding.contract for finding in checked if finding.verdict == "does not apply"}
    assert aside <= {"weights", "padding side"}
    assert ("weights" in aside) == ("+" not in name and "transformer" not in name)
    assert ("padding side" in aside) == ("local" in name)


@pytest.mark.parametrize("name", ["lstm+dot", "transformer"])
def test_both_halves_can_be_checked_alone(name):
    model = build(name)
    assert atento.check(model.encoder)
    assert atento.check(model.decoder)


def spoil(model, **methods):
    """The model with methods of its decoder replaced; each gets the old one first."""
    decoder = model.decoder
    own = {name: spoiled(getattr(type(decoder), name), new) for name, new in methods.items()}
    decoder.__class__ = type("Spoiled", (type(decoder),), own)
    return model


def spoiled(old, new):
    return lambda self, *args, **options: new(old, self, *args, **options)


def stale(old, self, token, state):
    """The cache is not moved on."""
    return old(self, token, state)._replace(state=state)


def remembers_on_itself(old, self, token, state):
    """The state is kept on the module, where no beam can move its rows."""
    self.kept = state if state.at[0] == 0 else self.kept
    step = old(self, token, self.kept)
    self.kept = step.state
    return step


def hotter(old, self, token, state):
    step = old(self, token, state)
    return step._replace(logits=2 * step.logits)


def spread_out(old, self, previous, encoded, **options):
    weights = old(self, previous, encoded, **options)
    return torch.full_like(weights, 1 / weights.size(-1))


def leak(old, self, previous, encoded):
    """Each step also reads the next token, in training alone."""
    return old(self, previous.roll(-1, 1) if self.training else previous, encoded)


@pytest.mark.spec("X01")
@pytest.mark.parametrize("name", ["gru+dot", "transformer"])
@pytest.mark.parametrize(
    "methods, expected",
    [
        ({"step": stale}, {"cache", "state rows", "beam"}),
        ({"step": remembers_on_itself}, {"state rows", "beam"}),
        ({"step": hotter}, {"cache", "state rows", "beam"}),
        ({"weights": spread_out}, {"weights"}),
        ({"features": leak}, {"future in training"}),
    ],
    ids=["stale cache", "state on the module", "steps unlike the pass", "weights on padding", "leak in training"],
)
def test_a_broken_decoder(name, methods, expected):
    searched = expected - {"beam"} if name == "transformer" else expected  # a search takes steps of its own there
    assert broken(atento.check(spoil(build(name), **methods))) == searched


class AveragesSources(Translator):
    """Every source is read as the mean of the batch."""

    def encode(self, source, valid):
        encoded = super().encode(source, valid)
        return encoded._replace(states=encoded.states - encoded.states.mean(0))


@pytest.mark.spec("X01")
def test_a_model_that_averages_its_batch():
    found = broken(atento.check(build("gru+dot", AveragesSources)))
    assert {"neighbours", "micro-batches"} <= found
    assert not found & {"cache", "future", "weights", "batch order", "padding content"}


def mean_of_means(module, batch):
    """Each row's mean counts as much, however many tokens it has."""
    valid = batch.target_valid
    logits = module.decoder(batch.previous, module.encode(batch.source, batch.source_valid))
    losses = torch.nn.functional.cross_entropy(logits.mT, batch.target, reduction="none")
    rows = (losses * valid).sum(1) / valid.sum(1)
    return Loss(rows.mean() * valid.sum(), int(valid.sum()))


@pytest.mark.spec("X01")
def test_a_mean_of_means_does_not_add_up():
    model = build("gru+dot").double().eval()
    assert micro_batches(model, some_batch(model), token_loss).verdict == "held"
    assert micro_batches(model, some_batch(model), mean_of_means).verdict == "broken"


@pytest.mark.spec("X01")
def test_a_beam_that_is_not_greedy_at_one(monkeypatch):
    model = build("gru+dot")
    search = translators.beam
    monkeypatch.setattr(translators, "beam", lambda *args, width, **options: [
        found[::-1] for found in search(*args, width=max(2, width), **options)
    ])  # fmt: skip
    assert broken(atento.check(model)) == {"beam of one"}
