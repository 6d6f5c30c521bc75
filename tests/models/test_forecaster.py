"""Forecasters of every family: what they owe to their windows, their neighbours and what is known beforehand."""

import pytest
import torch

from atento.errors import InputError
from atento.models import Forecaster, ForecastNetwork, SeriesBatch, SeriesSizes
from atento.models.builders import build_forecaster
from atento.models.forecaster import no_anchor
from atento.spec import ModelRecipe
from cases import all_pairs, in_case

BATCH, PAST, HORIZON, CHANNELS, COVARIATES = 5, 13, 7, 3, 2
SIZES = SeriesSizes(CHANNELS, COVARIATES, PAST, HORIZON)
NAMES = [
    "linear",
    "rnn",
    "jordan",
    "gru",
    "lstm",
    "lstm+additive",
    "gru+dot",
    "gru+additive+sparsemax",
    "lstm+general+hard",
    "gru+dot+local-predictive",
    "transformer",
    "transformer+patches",
    "transformer+patches+additive+sparsemax",
]
LEVELS = "0.1,0.5,0.8"

every_name = pytest.mark.parametrize("name", NAMES)


def build(name, sizes=SIZES, *, noise=0.0, **choices):
    recipe = ModelRecipe(name=name, **{"hidden": 8, "heads": 2, "patch": 3, "dropout": 0.2, **choices})
    model = build_forecaster(recipe, sizes, noise=noise).eval()
    for weight in model.parameters():  # a fresh one says nothing yet
        torch.nn.init.normal_(weight, std=0.4)
    return model


def windows(sizes=SIZES, rows=BATCH):
    return SeriesBatch(
        torch.randn(rows, sizes.look_back, sizes.channels),
        torch.randn(rows, sizes.look_back + sizes.horizon, sizes.covariates),
        torch.randn(rows, sizes.horizon, sizes.channels),
    )


@pytest.mark.spec("K08")
@pytest.mark.parametrize("name, channels, patch", all_pairs(NAMES, ["each", "joint"], [1, 3]))
def test_what_every_family_owes(name, channels, patch):
    model, batch = build(name, channels=channels, patch=patch, quantiles=LEVELS), windows()
    outputs = model(batch.past, batch.known)
    assert outputs.shape == (BATCH, HORIZON, CHANNELS, 3)
    assert (outputs.diff(dim=-1) >= 0).all()  # quantiles never cross
    # neighbours in the batch never matter
    alone = model(batch.past[2:3], batch.known[2:3])
    torch.testing.assert_close(alone[0], outputs[2], rtol=0, atol=1e-12)
    # what is added to a series is added to its forecast
    added = torch.tensor([1000.0, -3.0, 0.25])
    moved = model(batch.past + added, batch.known)
    torch.testing.assert_close(moved, outputs + added[:, None], rtol=0, atol=1e-9)
    # what is known of the horizon is seen
    known = batch.known.clone()
    known[:, -1] += 1.0
    assert (model(batch.past, known) - outputs)[:, -1].abs().max() > 1e-6


@pytest.mark.spec("K08")
@every_name
def test_a_target_is_only_judged_against(name):
    """Another future changes the loss and nothing that was said, also where a model walks on its own output."""
    for choices in ({}, {"strategy": "recursive"}):
        model, batch = build(name, **choices), windows()
        batch.target.requires_grad_()
        said = model.rollout(batch.past, batch.known, HORIZON)
        loss = model.loss(batch)
        expected = 2 * (batch.target - model.point_forecast(said)).detach()
        (found,) = torch.autograd.grad(loss.total, batch.target)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
        assert loss.items == batch.target.numel()


@every_name
def test_a_channel_by_itself_sees_no_other(name):
    model, batch = build(name, channels="each"), windows()
    other = batch.past.clone()
    other[..., 1] = torch.randn(BATCH, PAST)
    before, after = model(batch.past, batch.known), model(other, batch.known)
    torch.testing.assert_close(before[:, :, [0, 2]], after[:, :, [0, 2]], rtol=0, atol=1e-12)
    joint = build(name, channels="joint")
    assert (joint(batch.past, batch.known) - joint(other, batch.known))[:, :, 0].abs().max() > 1e-6


@every_name
def test_the_anchor_is_the_first_forecast(name):
    """Before anything is learned, and with covariates that have done nothing yet."""
    batch = windows()
    anchors = {"last": batch.past[:, -1:], "mean": batch.past.mean(dim=1, keepdim=True), "none": torch.zeros(1, 1, 1)}
    for anchor, expected in anchors.items():
        model = build_forecaster(ModelRecipe(name=name, hidden=8, heads=2, anchor=anchor, patch=3), SIZES).eval()
        found = model.point_forecast(model(batch.past, batch.known))
        with in_case(anchor):
            torch.testing.assert_close(found, expected.expand(BATCH, HORIZON, CHANNELS), rtol=0, atol=1e-12)


def test_only_an_anchored_forecast_moves_along():
    batch = windows()
    for anchor, moves in (("last", True), ("mean", True), ("none", False)):
        model = build("gru", anchor=anchor)
        off = model(batch.past + 2.0, batch.known) - model(batch.past, batch.known) - 2.0
        assert bool(off.abs().max() < 1e-12) is moves


class Counting(ForecastNetwork):
    """Says the sum of the window and of what is known of the horizon, step by step."""

    def __init__(self, horizon):
        super().__init__()
        self.horizon = horizon

    def forward(self, past, known):
        steps = torch.arange(1, self.horizon + 1).view(1, -1, 1, 1)
        return past.sum(dim=1)[:, None, :, None] * 0.1 + steps + known[:, -self.horizon :, :1, None]


@pytest.mark.spec("D04")
@pytest.mark.parametrize("horizon, steps", [(1, 5), (3, 3), (3, 7), (3, 6), (4, 2)])
def test_a_walk_on_its_own_output_by_hand(horizon, steps):
    """Passes of `horizon` steps, the last one ending at the last step asked for."""
    sizes = SeriesSizes(1, 1, 4, horizon)
    model = Forecaster(Counting(horizon), sizes, anchor=no_anchor)
    past, known = torch.randn(2, 4, 1), torch.randn(2, 4 + max(steps, horizon), 1)
    path, done = past.clone(), 0
    while done < steps:
        first = min(done, max(0, steps - horizon))
        window = path[:, first : first + 4]
        said = [0.1 * window.sum(dim=1) + step + 1 + known[:, 4 + first + step] for step in range(horizon)]
        path = torch.cat([path, torch.stack(said[done - first :], dim=1)], dim=1)
        done = first + horizon
    found = model.rollout(past, known, steps)
    torch.testing.assert_close(found[..., 0], path[:, 4 : 4 + steps], rtol=0, atol=1e-12)


@pytest.mark.spec("D04")
def test_a_rollout_learns_through_its_own_steps():
    """A recursive forecaster's loss over several steps has the gradient of the walk written out."""
    sizes = SIZES._replace(channels=1, covariates=0)
    model, batch = build("gru", sizes, strategy="recursive"), windows(sizes)
    assert model.horizon == 1
    weights = list(model.parameters())
    found = torch.autograd.grad(model.loss(batch).total, weights)
    path = batch.past
    for _ in range(HORIZON):
        empty = path.new_zeros(BATCH, PAST + 1, 0)
        path = torch.cat([path, model.point_forecast(model(path[:, -PAST:], empty))], dim=1)
    expected = torch.autograd.grad((path[:, PAST:] - batch.target).square().sum(), weights)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


@pytest.mark.spec("K08")
def test_quantiles_are_judged_by_the_pinball_loss():
    model, batch = build("gru", quantiles="0.2,0.7"), windows()
    outputs = model(batch.past, batch.known)
    off = batch.target.unsqueeze(-1) - outputs
    shares = torch.tensor([0.2, 0.7])
    expected = torch.where(off > 0, shares * off, (shares - 1) * off).sum() / 2
    torch.testing.assert_close(model.loss(batch).total, expected, rtol=0, atol=1e-12)
    between = 0.4 * outputs[..., 0] + 0.6 * outputs[..., 1]  # 0.5 lies three fifths of the way from 0.2 to 0.7
    torch.testing.assert_close(model.point_forecast(outputs), between, rtol=0, atol=1e-12)


def test_noise_falls_on_what_is_read_while_training_only():
    model, batch = build("linear", noise=0.3), windows()
    quiet = model.loss(batch).total
    assert torch.equal(model.loss(batch).total, quiet)
    model.train()
    torch.manual_seed(1)
    noisy = model.loss(batch).total
    torch.manual_seed(1)
    moved = batch._replace(past=batch.past + 0.3 * torch.randn_like(batch.past))
    assert torch.equal(model.eval().loss(moved).total, noisy)
    assert not torch.equal(noisy, quiet)


def test_covariates_explain_what_they_can():
    """effect(known) is taken off the past and added to the horizon: a series that is nothing but its effect is met."""
    sizes = SIZES._replace(channels=1, covariates=1)
    model = build_forecaster(ModelRecipe(name="linear"), sizes)
    with torch.no_grad():
        model.effect.weight.fill_(3.0)
    known = torch.randn(BATCH, PAST + HORIZON, 1)
    series = 3.0 * known + 7.0
    found = model.point_forecast(model(series[:, :PAST], known))
    torch.testing.assert_close(found, series[:, PAST:], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["lstm+additive", "transformer", "transformer+patches"])
def test_where_it_looked(name):
    model, batch = build(name, channels="each", layers=2), windows()
    found = model.weights(batch.past, batch.known)
    assert found.shape[:2] == (BATCH, CHANNELS)
    torch.testing.assert_close(found.sum(dim=-1), torch.ones(found.shape[:-1]))


def test_a_network_without_attention_looked_nowhere():
    batch = windows()
    assert build("gru").weights(batch.past, batch.known).numel() == 0


def test_windows_of_another_shape_are_named():
    model, batch = build("gru"), windows()
    for past, known in (
        (batch.past[:, 1:], batch.known),
        (batch.past, batch.known[:, 1:]),
        (batch.past, batch.known[..., 1:]),
    ):
        with pytest.raises(InputError, match=r"give past \(B, 13, 3\) and known \(B, 20, 2\)"):
            model(past, known)
