"""An ensemble says the mean of what its members say, by the formula in float64."""

import itertools
import math

import pytest
import torch

from atento.errors import InputError
from atento.models.builders import Vocabularies, build_translator
from atento.models.builders.classifier import build_classifier
from atento.models.builders.forecaster import build_forecaster
from atento.models.builders.language_model import build_language_model
from atento.models.builders.tagger import Tagset, build_word_tagger
from atento.models.classifier import LabelledBatch, OneVsRest
from atento.models.diagnostics.attribution import integrated_gradients
from atento.models.ensemble import (
    ForecasterEnsemble,
    JudgeEnsemble,
    TaggerEnsemble,
    ensemble_of,
    language_ensemble,
    thresholds_of,
)
from atento.models.forecaster import SeriesSizes
from atento.models.heads import LabelHead, MultiLabelHead, RegressionHead
from atento.models.protocols import reorder
from atento.spec import ModelRecipe

BATCH, SOURCE, TARGET, TOKENS = 2, 5, 3, 11
VALID = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


@pytest.fixture(params=["gru+dot", "transformer", "lstm+additive+hard-exact", "rnn"])
def members(request):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=request.param, hidden=12, heads=3)
    return [build_translator(recipe, Vocabularies(7, TOKENS)).double().eval() for _ in range(3)]


@torch.no_grad()
def test_probabilities_are_the_mean_of_the_members(members):
    source, previous = torch.randint(1, 7, (BATCH, SOURCE)), torch.randint(1, TOKENS, (BATCH, TARGET))
    joined = ensemble_of(members).eval()
    means = torch.stack([one.decoder(previous, one.encode(source, VALID)).softmax(dim=-1) for one in members]).mean(
        dim=0
    )
    encoded = joined.encode(source, VALID)
    torch.testing.assert_close(joined.decoder(previous, encoded).softmax(dim=-1), means)
    state, steps = joined.decoder.start(encoded), []
    for time in range(TARGET):
        logits, state = joined.decoder.step(previous[:, time], state)
        steps.append(logits.softmax(dim=-1))
    torch.testing.assert_close(torch.stack(steps, dim=1), means)
    swapped = joined.decoder.step(previous[:, 0].flip(0), reorder(joined.decoder.start(encoded), torch.tensor([1, 0])))
    torch.testing.assert_close(swapped.logits.flip(0).softmax(dim=-1), means[:, 0])


@torch.no_grad()
def test_attention_is_that_of_every_member(members):
    source, previous = torch.randint(1, 7, (BATCH, SOURCE)), torch.randint(1, TOKENS, (BATCH, TARGET))
    joined = ensemble_of(members).eval()
    if not joined.decoder.attends:
        assert not list(joined.decoder.attention_calls(previous, joined.encode(source, VALID)))
        return
    found = joined.decoder.weights(previous, joined.encode(source, VALID))
    each = [one.decoder.weights(previous, one.encode(source, VALID)) for one in members]
    torch.testing.assert_close(found, torch.cat(each, dim=1))


@pytest.mark.parametrize(
    ("head", "predicted"),
    [
        (LabelHead(3, 5), lambda outputs: outputs.softmax(dim=-1)),
        (MultiLabelHead(3, 5), torch.sigmoid),
        (RegressionHead(3, 5), lambda outputs: outputs),
    ],
    ids=["one label", "labels", "numbers"],
)
def test_outputs_of_a_head_stand_for_the_mean_prediction(head, predicted):
    torch.manual_seed(0)
    outputs = [7 * torch.randn(BATCH, 5, dtype=torch.float64) for _ in range(3)]
    mean = torch.stack([predicted(one) for one in outputs]).mean(dim=0)
    torch.testing.assert_close(predicted(head.mean(outputs)), mean)


def test_the_logit_of_a_mean_is_exact_where_probabilities_round_to_1():
    far = [torch.tensor([90.0, -90.0]), torch.tensor([100.0, -100.0])]
    mean = -math.log((math.exp(-90) + math.exp(-100)) / 2)  # of 1 − p, in float64
    torch.testing.assert_close(MultiLabelHead(3, 2).mean(far), torch.tensor([mean, -mean]))


def judges(width, head, make=None):
    torch.manual_seed(0)
    recipe = ModelRecipe(name="gru+additive", hidden=6, dropout=0.0)
    one = make or (lambda: build_classifier(recipe, 11, head, width))
    return [one().double().eval() for _ in range(3)]


@torch.no_grad()
def test_probabilities_of_labels_are_the_mean_of_the_members():
    members = judges(4, LabelHead)
    batch = LabelledBatch(torch.randint(1, 11, (BATCH, SOURCE)), VALID, torch.zeros(BATCH, dtype=torch.long))
    means = torch.stack([one(batch).softmax(dim=-1) for one in members]).mean(dim=0)
    joined = JudgeEnsemble(members)
    torch.testing.assert_close(joined(batch).softmax(dim=-1), means)
    torch.testing.assert_close(joined.loss(batch).total, -means[:, 0].log().sum())


@torch.no_grad()
def test_thresholds_are_the_ensembles_own_also_where_each_label_has_its_network():
    recipe = ModelRecipe(name="gru", hidden=6, dropout=0.0)
    alone = lambda: OneVsRest([build_classifier(recipe, 11, MultiLabelHead, 1) for _ in range(4)])  # noqa: E731
    for members in (judges(4, MultiLabelHead), judges(4, MultiLabelHead, alone)):
        joined = JudgeEnsemble(members)
        (thresholds,) = thresholds_of(joined)
        thresholds.copy_(torch.tensor([0.1, 0.2, 0.3, 0.4]))
        assert all((one == 0.5).all() for member in members for one in thresholds_of(member))
        assert torch.cat(thresholds_of(joined)).shape == (4,)
        batch = LabelledBatch(torch.randint(1, 11, (BATCH, SOURCE)), VALID, torch.zeros(BATCH, 4).double())
        means = torch.stack([one(batch).sigmoid() for one in members]).mean(dim=0)
        torch.testing.assert_close(joined(batch).sigmoid(), means)


TAGS = 3


def taggers(name):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, hidden=6, characters=4, dropout=0.0)
    made = [build_word_tagger(recipe, 11, 5, Tagset(("A", "B", "C"), "")).double().eval() for _ in range(3)]
    for number, tagger in enumerate(made):
        for part in (*(tagger.chain.parameters() if tagger.chain is not None else ()), *tagger.head.parameters()):
            torch.nn.init.normal_(part)
        if tagger.wide is not None:  # a linear model of its own, and how much it counts
            tagger.wide.bias.normal_()
            tagger.wide.between.normal_()
            tagger.wide.weights_of_both.copy_(torch.tensor([0.3 + number, 1.1]))
    return made


WORDS = torch.cat([torch.arange(1, 11).view(2, 5, 1), torch.ones(2, 5, 3, dtype=torch.long)], dim=-1)


@torch.no_grad()
@pytest.mark.parametrize("name", ["gru", "gru+wide"])
def test_probabilities_of_tags_are_the_mean_of_the_members(name):
    members = taggers(name)
    means = torch.stack([one.probabilities(WORDS, VALID) for one in members]).mean(dim=0)
    joined = TaggerEnsemble(members).eval()
    torch.testing.assert_close(joined.probabilities(WORDS, VALID), means)
    assert (joined.scores(WORDS, VALID)[~VALID] == 0).all()
    torch.testing.assert_close(joined.predict(WORDS, VALID).labels, means.argmax(dim=-1).masked_fill(~VALID, 0))


@torch.no_grad()
@pytest.mark.parametrize("name", ["gru+crf", "gru+crf+wide"])
def test_taggers_with_a_crf_are_pooled_as_the_product_of_their_sequences(name):
    """P(y) ∝ Π P_m(y)^(1/3), summed over all 3⁵ sequences."""
    members = taggers(name)
    joined = TaggerEnsemble(members).eval()
    words, valid = WORDS[:1], VALID[:1]
    every = torch.tensor(list(itertools.product(range(TAGS), repeat=SOURCE)))  # (3⁵, 5)
    logs = []
    for member in members:
        scores, chain = member.scores(words, valid)[0], member.chain.transitions()
        own = scores[torch.arange(SOURCE), every].sum(dim=1) + chain.start[every[:, 0]] + chain.end[every[:, -1]]
        logs.append((own + chain.between[every[:, :-1], every[:, 1:]].sum(dim=1)).log_softmax(dim=0))
    pool = torch.stack(logs).mean(dim=0).softmax(dim=0)
    best = joined.predict(words, valid)
    torch.testing.assert_close(best.labels[0], every[pool.argmax()])
    torch.testing.assert_close(best.log_probability[0], pool.max().log())
    marginals = torch.stack([(pool[:, None] * (every == tag)).sum(dim=0) for tag in range(TAGS)], dim=-1)
    torch.testing.assert_close(joined.probabilities(words, valid)[0], marginals)
    loss = joined.loss(LabelledBatch(words, valid, every[7:8])).total
    torch.testing.assert_close(loss, -pool[7].log())


HORIZON, LOOK_BACK, CHANNELS = 3, 5, 2
LEVELS = (0.1, 0.5, 0.9)


def forecasters(**settings):
    torch.manual_seed(0)
    recipe = ModelRecipe(name="gru", hidden=6, dropout=0.0, quantiles="0.1,0.5,0.9", **settings)
    made = [build_forecaster(recipe, SeriesSizes(CHANNELS, 0, LOOK_BACK, HORIZON)).double().eval() for _ in range(3)]
    for one in made:
        for weight in one.parameters():
            torch.nn.init.normal_(weight, std=0.5)
        one.conformal.offsets.normal_()
    return made


@torch.no_grad()
def test_each_quantile_is_the_mean_of_the_members_with_their_own_offsets():
    members = forecasters()
    past, known = torch.randn(BATCH, LOOK_BACK, CHANNELS).double(), torch.zeros(BATCH, LOOK_BACK + HORIZON, 0).double()
    joined = ForecasterEnsemble(members)
    each = torch.stack([one.calibrated_rollout(past, known, HORIZON) for one in members])
    torch.testing.assert_close(joined.calibrated_rollout(past, known, HORIZON), each.mean(dim=0))
    members[0].conformal.offsets = None  # of an older run
    each = torch.stack([one.calibrated_rollout(past, known, HORIZON) for one in members])
    torch.testing.assert_close(joined.calibrated_rollout(past, known, HORIZON), each.mean(dim=0))


@torch.no_grad()
def test_a_rollout_goes_on_from_the_mean():
    members = forecasters(strategy="recursive")
    joined = ForecasterEnsemble(members)
    path, found = torch.randn(BATCH, LOOK_BACK, CHANNELS).double(), []
    past, known = path, torch.zeros(BATCH, LOOK_BACK + HORIZON, 0).double()
    for _ in range(HORIZON):
        step = sum(one(path[:, -LOOK_BACK:], known[:, : LOOK_BACK + 1]) for one in members) / 3  # (B, 1, C, Q)
        found.append(step)
        path = torch.cat([path, step[..., 1]], dim=1)
    torch.testing.assert_close(joined.rollout(past, known, HORIZON), torch.cat(found, dim=1))


@torch.no_grad()
@pytest.mark.parametrize("name", ["gru", "transformer"])
def test_the_next_token_has_the_mean_probability_in_one_pass_and_step_by_step(name):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, hidden=12, heads=3, dropout=0.0)
    members = [build_language_model(recipe, TOKENS).double().eval() for _ in range(3)]
    joined = language_ensemble(members).eval()
    tokens, nothing = torch.randint(1, TOKENS, (BATCH, TARGET)), members[0].empty_source(BATCH)
    means = torch.stack([one.decoder(tokens, nothing).softmax(dim=-1) for one in members]).mean(dim=0)
    torch.testing.assert_close(joined.decoder(tokens, nothing).softmax(dim=-1), means)
    features, state = joined.resume(tokens[:, :-1], joined.decoder.start(joined.empty_source(BATCH)))
    torch.testing.assert_close(joined.decoder.to_logits(features).softmax(dim=-1), means[:, :-1])
    torch.testing.assert_close(joined.decoder.step(tokens[:, -1], state).logits.softmax(dim=-1), means[:, -1])
    assert joined.decoder.is_recurrent == (name == "gru")


@torch.no_grad()
def test_counts_stand_once_beside_the_mean_of_the_networks():
    torch.manual_seed(0)
    recipe, row = ModelRecipe(name="gru+ngram", hidden=6, dropout=0.0), torch.tensor([3, 5, 7, 5, 7, 3])
    members = [build_language_model(recipe, TOKENS, order=2).double().eval() for _ in range(3)]
    for number, member in enumerate(members):
        member.ngram.count([row.numpy()], skipped=1)
        member.shares.fill_(0.2 + 0.1 * number)
    joined = language_ensemble(members).eval()
    torch.testing.assert_close(joined.shares, torch.full((2,), 0.3, dtype=torch.float64))
    logits, past = [torch.randn(1, TOKENS).double() for _ in members], torch.tensor([[5]])
    mean = torch.stack([one.softmax(dim=-1) for one in logits]).mean(dim=0)
    counted = torch.from_numpy(members[0].ngram.model().following([5])[0])
    mixed = joined.following(mean.log(), past).exp()
    torch.testing.assert_close(mixed, 0.3 * mean + 0.7 * counted)
    names = {name for name in joined.state_dict() if "ngram" in name}
    assert names == {name for name in members[0].state_dict() if "ngram" in name}


def test_an_ensemble_of_nothing_is_refused():
    for kind in (JudgeEnsemble, TaggerEnsemble, ForecasterEnsemble, ensemble_of, language_ensemble):
        with pytest.raises(InputError, match="one member"):
            kind([])


@torch.no_grad()
def test_attributions_add_up_over_the_members():
    members = judges(4, LabelHead)
    joined = JudgeEnsemble(members)
    batch = LabelledBatch(torch.randint(1, 11, (1, SOURCE)), torch.ones(1, SOURCE, dtype=torch.bool), torch.zeros(1))
    found = integrated_gradients(joined, lambda values: joined(batch)[0].log_softmax(dim=-1)[1])
    assert found.tokens.shape == (SOURCE,)
    assert found.remainder < 0.02
