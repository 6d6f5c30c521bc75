"""The loop, with a task whose validations are decided beforehand."""

import dataclasses
import math

import pytest
import torch
from torch import nn

from atento.errors import Interrupted, RunError
from atento.layers import Loss
from atento.layers.products import has_bf16_instructions, is_rounded
from atento.spec import TokensRecipe, TrainRecipe
from atento.tasks.catalogue import TRANSLATE
from atento.tasks.outputs.output import Example
from atento.tasks.task import Answer, EvaluationExample
from atento.training import EventLog, Plan, learning_rate, load_checkpoint, loop, new_learner, read_events, train
from atento.training.checkpoints import CheckpointClock, save_checkpoint
from atento.training.gradients import clip_gradients, rounds_products, uses_bf16
from atento.training.learner import Progress, RecentLosses
from atento.training.loop import take_step

REFERENCE = "abcdefghij"


class Script:
    """A task of one weight: `qualities` are the letters of ten that each validation gets right, `losses` its losses."""

    def __init__(self, qualities=(), *, scale=1.0, losses=None):
        self.qualities, self.scale, self.losses = iter(qualities), scale, losses and iter(losses)
        self.smoothings, self.weights_asked = [], []

    def loss(self, module, batch, smoothing):
        self.smoothings.append(smoothing)
        if self.losses and not module.training:
            return Loss(torch.tensor(next(self.losses)) * batch.source.size(0), batch.source.size(0))
        return Loss(self.scale * module.weight.sum() * batch.source.size(0), batch.source.size(0))

    def answer(self, module, codec, sources, recipe):
        assert not module.training
        self.weights_asked.append(module.weight.detach().clone())
        right = next(self.qualities)  # of every answer, or of each
        rights = [right] * len(sources) if isinstance(right, int) else right
        return [Answer(REFERENCE[:right] + "?" * (10 - right), 0.0) for right in rights]

    def task(self):
        return dataclasses.replace(
            TRANSLATE,
            learning=dataclasses.replace(TRANSLATE.learning, loss=self.loss, length=lambda codec, example: 4),
            answering=dataclasses.replace(TRANSLATE.answering, answer=self.answer),
            judging=dataclasses.replace(TRANSLATE.judging, metrics=lambda codec: (TRANSLATE.judging.selects,)),
        )


@pytest.fixture
def run(tmp_path, whole_recipe):
    """Train on twelve examples, four of them a batch, three batches an epoch."""

    def start(script, *, examples=1, closed_form=False, **values):
        recipe = whole_recipe(**{"batch_tokens": 16, "warmup": 0, "decay": "constant", "lr": 0.01, **values})
        plan = Plan(
            task=script.task(),
            recipe=recipe,
            codec=TRANSLATE.learning.learn(TokensRecipe(), [("ab", "ba")]),
            examples=[Example([5, 6], [5])] * 12,
            validation=[EvaluationExample("x", (REFERENCE,))] * examples,
            fingerprint="f",
            device=torch.device("cpu"),
            folder=tmp_path,
            closed_form=closed_form,
        )
        module = nn.Linear(1, 1, bias=False)
        nn.init.zeros_(module.weight)
        learner = new_learner(module, recipe)
        return plan, learner, EventLog(tmp_path)

    return start


class Watched(Script):
    """It notes in which passes a large product would round its factors to bfloat16."""

    def loss(self, module, batch, smoothing):
        passes = [("training" if module.training else "validation", "forward", is_rounded(1 << 30))]
        found = super().loss(module, batch, smoothing)
        if found.total.requires_grad:
            found.total.register_hook(lambda _: passes.append(("training", "backward", is_rounded(1 << 30))))
        self.passes = [*getattr(self, "passes", []), passes]
        return found


@pytest.mark.parametrize("precision", ["auto", "fp32"])
def test_training_rounds_large_products_where_the_processor_gains_by_it_and_nothing_else_does(run, precision):
    script = Watched([2, 5])
    plan, learner, log = run(script, steps=4, validations=2, precision=precision)
    train(plan, learner, log)
    rounds = precision == "auto" and has_bf16_instructions()
    seen = {one for passes in script.passes for one in passes}
    assert {one for one in seen if one[0] == "training"} == {
        ("training", way, rounds) for way in ("forward", "backward")
    }
    assert {one[2] for one in seen if one[0] == "validation"} == {False}
    assert not rounds_products("auto", torch.device("cuda")) and not is_rounded(1 << 30)
    assert uses_bf16(precision, torch.device("cpu")) == rounds
    assert uses_bf16(precision, torch.device("cuda")) == (precision == "auto")
    assert uses_bf16("bf16", torch.device("cpu"))


def test_patience_ends_it_and_the_best_weights_come_back(run):
    script = Script([2, 5, 9, 8, 7, 6, 5])
    plan, learner, log = run(script, steps=10, validations=10, patience=3)
    train(plan, learner, log)
    assert learner.progress.step == 6
    assert learner.progress.best_step == 3
    assert learner.progress.stop_reason == "no better than step 3 in 3 validations"
    assert torch.equal(learner.module.weight, script.weights_asked[2])
    assert not torch.equal(learner.module.weight, script.weights_asked[-1])
    steps = [event["step"] for event in read_events(log.path) if event["event"] == "validation"]
    assert steps == [1, 2, 3, 4, 5, 6]


def test_a_better_one_in_time_goes_on(run):
    script = Script([2, 9, 8, 8, 10, 3, 3, 3, 3, 3])
    plan, learner, log = run(script, steps=10, validations=10, patience=4)
    train(plan, learner, log)
    assert (learner.progress.step, learner.progress.best_step) == (9, 5)
    assert torch.equal(learner.module.weight, script.weights_asked[4])


@pytest.mark.parametrize(
    "qualities, losses, best, gain",
    [
        ([5, 5, 5, 5, 5, 5, 5], [0.7, 0.5, 0.3, 0.4, 0.6, 0.5, 0.9], 3, 1),  # all equal: the lowest loss
        ([2, 5, 5, 4, 5, 5, 5], [0.7, 0.5, 0.4, 0.1, 0.3, 0.3, 0.6], 5, 2),  # nor a lower loss of a lower score
        ([2, 5, 5, 6, 5, 5, 5], [0.7, 0.5, 0.4, 0.9, 0.3, 0.2, 0.1], 4, 4),  # the metric comes first
        ([2, 5, 5, 5, 5, 5, 5], [0.7, math.inf, 0.4, 0.9, 0.3, 0.2, 0.1], 2, 2),  # a loss that is not known
    ],
)
def test_of_equal_validations_the_one_of_lower_loss_is_kept(run, qualities, losses, best, gain):
    script = Script(qualities, losses=losses)
    plan, learner, log = run(script, steps=7, validations=7, patience=9)
    train(plan, learner, log)
    assert (learner.progress.best_step, learner.progress.gain_step) == (best, gain)
    assert torch.equal(learner.module.weight, script.weights_asked[best - 1])


def test_a_tie_of_lower_loss_is_no_gain_for_the_patience(run):
    """The loss falls at every validation, as that of a model that is already right may do without end."""
    script = Script([2, 5, 5, 5, 5, 5, 5], losses=[0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    plan, learner, log = run(script, steps=7, validations=7, patience=3, decay="plateau")
    train(plan, learner, log)
    assert learner.progress.stop_reason == "no better than step 2 in 3 validations"
    assert (learner.progress.step, learner.progress.best_step, learner.progress.plateaus) == (5, 5, 3)


def test_a_run_that_goes_on_compares_with_the_loss_it_had(run):
    """Stopped between two equal validations and put back from its checkpoint, it keeps what the whole run keeps."""
    qualities, losses = [5, 5, 5, 5], [0.4, 0.3, 0.35, 0.2]
    plan, whole, log = run(Script(qualities, losses=losses), steps=4, validations=4)
    train(plan, whole, log)
    plan, learner, log = run(Script(qualities[:2], losses=losses[:2]), steps=2, validations=2)
    train(plan, learner, log)
    plan, learner, log = run(Script(qualities[2:], losses=losses[2:]), steps=4, validations=4)
    load_checkpoint(plan.folder, learner, fingerprint="f")
    learner.progress.stop_reason = ""
    train(plan, learner, log)
    assert learner.progress.best_loss == whole.progress.best_loss == pytest.approx(0.2)
    assert (learner.progress.best_step, learner.progress.gain_step) == (4, 1)
    assert torch.equal(learner.module.weight, whole.module.weight)


def test_a_run_that_goes_on_keeps_what_had_the_lower_loss(run):
    train(*run(Script([5, 5], losses=[0.4, 0.3]), steps=2, validations=2))
    plan, learner, log = run(Script([5], losses=[0.35]), steps=3, validations=3)
    load_checkpoint(plan.folder, learner, fingerprint="f")
    learner.progress.stop_reason = ""
    train(plan, learner, log)
    assert (learner.progress.step, learner.progress.best_step) == (3, 2)


def test_the_rate_falls_after_a_validation_without_improvement(run):
    script = Script([2, 9, 8, 8, 10, 3, 3, 3, 3, 3])
    keys = {"decay": "plateau", "plateau_factor": 0.5, "warmup": 0, "lr": 0.8}
    plan, learner, log = run(script, steps=7, validations=7, patience=9, **keys)
    train(plan, learner, log)
    assert learner.progress.plateaus == 4, "after steps 3, 4, 6 and 7"
    (last,) = {group["lr"] for group in learner.optimizer.param_groups}
    assert last == pytest.approx(0.8 * 0.5**3)


@pytest.mark.parametrize(
    "qualities, scale, ended",
    [
        ([0] * 20, 1.0, 20),  # the score is at its floor and the loss falls at every step: it may yet learn
        ([0] * 20, 0.0, 6),  # neither moves
        ([0, 1, *[0] * 18], 1.0, 6),  # once the score has moved, the patience is for the score
        ([10] * 20, 1.0, 6),  # perfect from the start: no lower loss makes it better
    ],
)
def test_at_the_floor_of_the_score_the_patience_waits_for_the_loss(run, qualities, scale, ended):
    plan, learner, log = run(Script(qualities, scale=scale), steps=20, validations=20, patience=1, lr=0.5)
    train(plan, learner, log)
    assert learner.progress.step == ended


def test_the_losses_before_a_stop_count_at_the_next_validation(run):
    plan, learner, log = run(Script([0]), steps=3, validations=1)
    learner.progress.loss_sum, learner.progress.loss_steps = 30.0, 7  # of a session that was stopped
    train(plan, learner, log)
    assert learner.progress.lowest_loss == pytest.approx(3.0, abs=0.01)


def test_the_first_quarter_is_for_settling(run):
    """Six validations no better than the first would be the end, had one of them not come so early."""
    script = Script([5, 4, 4, 4, 4, 4, 4, 10])
    plan, learner, log = run(script, steps=8, validations=8, patience=6)
    train(plan, learner, log)
    assert learner.progress.stop_reason == "all 8 steps taken"
    assert learner.progress.best_step == 8


@pytest.mark.spec("B04")
def test_what_began_in_closed_form_is_judged_first_and_kept_if_nothing_is_better(run):
    script = Script([7, 6, 5, 6])
    plan, learner, log = run(script, closed_form=True, examples=5, steps=3, validations=3)
    train(plan, learner, log)
    assert learner.progress.best_step == 0
    assert learner.module.weight.item() == 0.0
    steps = [event["step"] for event in read_events(log.path) if event["event"] == "validation"]
    assert steps == [0, 1, 2, 3]


@pytest.mark.spec("B04")
def test_what_began_in_closed_form_is_left_only_for_more_than_chance(run):
    """Twice one letter better in the mean: once through one lucky answer of eight, then through all of them."""
    lucky, steady = [1, 3, 3, 3, 3, 3, 3, 10], [4] * 8
    script = Script([3, lucky, 3, steady, 3])
    plan, learner, log = run(script, closed_form=True, examples=8, steps=4, validations=4)
    train(plan, learner, log)
    assert learner.progress.best_step == 3
    assert torch.equal(learner.module.weight, script.weights_asked[3])
    script = Script([lucky, 3, 3])
    plan, learner, log = run(script, examples=8, steps=3, validations=3)  # what began at random has nothing to surpass
    train(plan, learner, log)
    assert learner.progress.best_step == 1


@pytest.mark.spec("B04")
def test_a_run_that_goes_on_knows_how_it_began(run):
    """Stopped after a step and put back from its checkpoint, it still asks for more than chance."""
    lucky = [1, 3, 3, 3, 3, 3, 3, 10]
    plan, learner, log = run(Script([3, 2]), closed_form=True, examples=8, steps=1, validations=1)
    train(plan, learner, log)
    first, progress = learner.closed_form_statistics, learner.progress
    plan, learner, log = run(Script([lucky]), closed_form=True, examples=8, steps=2, validations=2)
    load_checkpoint(plan.folder, learner, fingerprint="f")
    assert torch.equal(learner.closed_form_statistics, first)
    assert learner.progress.best == progress.best
    learner.progress.stop_reason = ""
    train(plan, learner, log)
    assert (learner.progress.step, learner.progress.best_step) == (2, 0)


def test_limits_of_steps_and_epochs(run):
    plan, learner, log = run(Script([1] * 9), steps=7, validations=1)
    train(plan, learner, log)
    assert (learner.progress.step, learner.progress.epoch, learner.progress.position) == (7, 2, 1)
    plan, learner, log = run(Script([1] * 9), epochs=2, validations=1)
    train(plan, learner, log)
    assert (learner.progress.step, learner.progress.examples) == (6, 24)
    assert learner.progress.stop_reason == "all 2 epochs taken"


def test_a_limit_of_time(run):
    plan, learner, log = run(Script([1] * 99), budget=0.2, validations=1)
    train(plan, learner, log)
    assert learner.progress.elapsed >= 0.2
    assert learner.progress.stop_reason == "time budget of 0.2 s used up"


def test_nothing_to_validate_keeps_the_last_weights(run):
    script = Script([])
    plan, learner, log = run(script, examples=0, steps=6, validations=6, patience=1)
    train(plan, learner, log)
    assert learner.progress.step == 6
    assert learner.best_weights == {}
    assert learner.module.weight.item() == pytest.approx(-0.06, abs=1e-3)


def test_label_smoothing_is_passed_on(run):
    script = Script([1])
    plan, learner, log = run(script, steps=2, validations=1, label_smoothing=0.3)
    train(plan, learner, log)
    assert script.smoothings == [0.3, 0.3, 0.3]  # two steps and a validation


def test_gradients_are_clipped(run):
    for clip, norm in ((0.5, 0.5), (0.0, 80.0)):
        plan, learner, _ = run(Script(scale=80.0), steps=2, clip=clip)
        take_step(plan, learner, [0, 1, 2, 3], batches=3)
        assert float(learner.module.weight.grad.norm()) == pytest.approx(norm, rel=1e-4)


def test_the_rate_of_every_step_is_the_schedule_s(run):
    plan, learner, _ = run(Script(), steps=4, warmup=2, decay="linear")
    rates = []
    for _ in range(4):
        take_step(plan, learner, [0, 1, 2, 3], batches=3)
        rates.append(learner.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.005, 0.0075, 0.005, 0.0025])
    assert rates == [learning_rate(plan.recipe, step, (step - 1) / 4) for step in (1, 2, 3, 4)]


def asked_at(step, wanted, log):
    """The log of a run, in whose folder a request appears with the event of a step."""

    def ask(event):
        if event["event"] == "validation" and event["step"] == step:
            (log.path.parent / "request").write_text(wanted)

    return EventLog(log.path.parent, ask)


def test_a_request_to_finish_validates_once_more_and_keeps_the_best(run, monkeypatch):
    monkeypatch.setattr("atento.training.events.SECONDS_BETWEEN_LOOKS", 0.0)
    for qualities, best in (([2, 9, 5], 4), ([2, 5, 9], 5)):  # the last validation is that of the request
        script = Script(qualities)
        plan, learner, log = run(script, steps=100, validations=50, patience=2)
        train(plan, learner, asked_at(4, "finish", log))
        assert (learner.progress.step, learner.progress.best_step) == (5, best)
        assert learner.progress.stop_reason == "stopped on request"
        assert torch.equal(learner.module.weight, script.weights_asked[1 if best == 4 else 2])
        assert not (log.path.parent / "request").exists()
        log.path.unlink()


def test_a_request_to_pause_is_an_interrupt_and_the_run_goes_on_from_there(run, tmp_path, monkeypatch):
    monkeypatch.setattr("atento.training.events.SECONDS_BETWEEN_LOOKS", 0.0)
    plan, whole, log = run(Script([1, 2, 3]), steps=9, validations=3)
    train(plan, whole, log)
    plan, learner, log = run(Script([1]), steps=9, validations=3)
    with pytest.raises(Interrupted, match="stopped at step 4; everything is saved") as caught:
        train(plan, learner, asked_at(3, "pause", log))
    assert caught.value.exit_code == 130
    assert not (tmp_path / "request").exists()
    plan, again, log = run(Script([2, 3]), steps=9, validations=3)
    load_checkpoint(tmp_path, again, fingerprint="f")
    train(plan, again, log)
    assert torch.equal(again.module.weight, whole.module.weight)
    assert again.progress.stop_reason == "all 9 steps taken"


def test_events_tell_gradients_and_the_same_few_answers(run, tmp_path):
    plan, learner, log = run(Script([1, 3], scale=80.0), steps=6, validations=2, clip=0.5, examples=7)
    train(plan, learner, log)
    steps = [event for event in read_events(log.path) if event["event"] == "step"]
    assert [event["gradient_norms"] for event in steps] == [{"weight": 80.0}] * 2  # before clipping
    validations = [event for event in read_events(log.path) if event["event"] == "validation"]
    told = [{(one["source"], one["output"], one["target"]) for one in event["samples"]} for event in validations]
    assert told == [{("x", "a?????????", REFERENCE)}, {("x", "abc???????", REFERENCE)}]
    assert {len(event["samples"]) for event in validations} == {4}  # every second of seven


@pytest.mark.spec("V05")
def test_histograms_are_recorded_and_change_nothing_also_after_a_stop(run, tmp_path):
    """Every second step, with the learning rate that was used; a run that is stopped at step 3 records the same."""

    def recorded():
        events = [event for event in read_events(tmp_path / "events.jsonl") if event["event"] == "step"]
        assert all(event["learning_rate"] == pytest.approx(0.01) for event in events)
        return {event["step"]: event["histograms"] for event in events if "histograms" in event}

    weights = {}
    for every in (0, 2):
        plan, learner, log = run(Script([1, 2]), steps=6, validations=2, histograms=every)
        train(plan, learner, log)
        weights[every] = learner.module.weight.detach().clone()
        whole = recorded()
        (tmp_path / "events.jsonl").unlink()
    assert torch.equal(weights[0], weights[2])
    assert list(whole) == [2, 4, 6] and list(whole[2]) == ["weight"]
    assert sum(whole[2]["weight"]["gradients"]) == 1 and sum(whole[2]["weight"]["updates"]) == 1
    plan, first, log = run(Script([1, 2]), steps=6, validations=2, histograms=2, checkpoint_every=3)
    for indices in ([0, 1, 2, 3],) * 3:
        take_step(plan, first, indices, batches=3)
    save_checkpoint(tmp_path, first, fingerprint="f")
    plan, again, log = run(Script([1, 2]), steps=6, validations=2, histograms=2)
    load_checkpoint(tmp_path, again, fingerprint="f")
    again.progress.epoch, again.progress.position = 1, 0
    train(plan, again, log)
    assert torch.equal(again.module.weight, weights[0])
    assert recorded() == {step: found for step, found in whole.items() if step > 3}


def test_a_loss_that_is_no_number_ends_the_run(run):
    plan, learner, log = run(Script([9], scale=math.nan), steps=3, validations=1)
    with pytest.raises(RunError, match="diverged at step 3") as caught:
        train(plan, learner, log)
    assert caught.value.exit_code == 4
    assert "train.lr" in caught.value.fix


NUMBERS = [3.0, -4.0, 12.0]  # of norm 13


@pytest.mark.spec("R14")
@pytest.mark.parametrize(
    "choices, expected",
    [
        ({"clip": 0.0}, NUMBERS),
        ({"clip": 1.0}, [3 / 13, -4 / 13, 12 / 13]),
        ({"clip": 100.0}, NUMBERS),
        ({"clip": 0.0, "clip_value": 3.5}, [3.0, -3.5, 3.5]),
        ({"clip": 3.0, "clip_value": 1.0}, [1.0, -1.0, 1.0]),  # of norm √3
        ({"clip": 3**0.5 / 2, "clip_value": 1.0}, [0.5, -0.5, 0.5]),
    ],
)
def test_gradients_are_bounded_by_norm_and_by_value(choices, expected):
    """The norm is that of all parameters together."""
    module = nn.ParameterList([torch.zeros(2), torch.zeros(1)])
    module[0].grad, module[1].grad = torch.tensor(NUMBERS[:2]), torch.tensor(NUMBERS[2:])
    clip_gradients(module, TrainRecipe(**choices))
    found = torch.cat([parameter.grad for parameter in module])
    torch.testing.assert_close(found, torch.tensor(expected), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "first, found", [(2.0, "loss 2300; 2 at the first step"), (1000.0, ""), (-40.0, "loss 2300; -40")]
)
def test_a_finite_loss_far_above_its_start_ends_the_run(run, first, found):
    """Ten steps and more in the mean: one batch of outliers is none."""
    losses = RecentLosses()
    progress = Progress(step=30, first_loss=first)
    losses.losses = [torch.tensor(2300.0)] * 9
    assert losses.facts(progress, 0.1, lr=0.01)["loss"] == 2300.0
    losses.losses = [torch.tensor(2300.0)]
    if not found:
        assert losses.facts(progress, 0.1, lr=0.01)["loss"] == 2300.0
        return
    with pytest.raises(RunError, match="training diverged at step 30") as caught:
        losses.facts(progress, 0.1, lr=0.01)
    assert found in caught.value.found
    assert caught.value.fix == "--set train.lr=0.001"


@pytest.mark.parametrize("every, saved", [(0, [1, 2, 4, 8, 15, 20]), (5, [1, 2, 4, 5, 10, 15, 20])])
def test_checkpoints_come_by_the_clock_as_well(run, monkeypatch, every, saved):
    """A step takes 3 s here, and the only validation comes at the end."""
    plan, learner, log = run(Script([1]), steps=20, validations=1, checkpoint_every=every)
    steps = []
    monkeypatch.setattr(loop, "CheckpointClock", lambda: CheckpointClock(lambda: 3.0 * learner.progress.step))
    monkeypatch.setattr(loop, "save_checkpoint", lambda *_, **__: steps.append(learner.progress.step))
    train(plan, learner, log)
    assert steps == saved


def test_a_model_that_diverged_is_never_saved(run, tmp_path):
    plan, learner, log = run(Script(scale=math.nan), steps=9, validations=1, checkpoint_every=1)
    with pytest.raises(RunError, match="training diverged at step 1"):
        train(plan, learner, log)
    assert not (tmp_path / "checkpoint.safetensors").exists()
