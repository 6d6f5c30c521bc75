"""Callbacks: what each hook is told and when, how it stops a run, and what is kept of a run in which one fails."""

import pytest
import torch
from torch import nn

import atento
from atento.errors import InputError, RunError
from atento.training import Callback, EarlyStopping, read_events
from atento.training.callbacks import HOOKS, CallbackError, measured, require_callbacks

STEPS = 12  # 3 batches of 7 from 20 training examples, 4 epochs
SETTINGS = {
    "train.steps": STEPS, "train.validations": 6, "train.batch_tokens": 7, "train.patience": 50, "train.threads": 1,
    "data.split": "80/10/10",
}  # fmt: skip


class Recorder(Callback):
    """Writes down each call, with the step, the epoch and whether there are losses and metrics."""

    def __init__(self, *, stop_at=0, fail_at="", step=0):
        self.calls, self.stop_at, self.fail_at, self.step = [], stop_at, fail_at, step

    def see(self, hook, training):
        self.calls.append((hook, training.step, training.epoch, training.loss is not None, bool(training.metrics)))
        if self.fail_at == hook and training.step >= self.step:
            raise KeyError("no such thing\nand more")

    def on_train_begin(self, training):
        self.see("on_train_begin", training)

    def on_step_end(self, training):
        assert training.progress == training.step / training.recipe.train.steps and training.learning_rate > 0
        if self.stop_at == training.step:
            training.stop("enough")
        self.see("on_step_end", training)

    def on_epoch_end(self, training):
        self.see("on_epoch_end", training)

    def on_validation_end(self, training):
        self.see("on_validation_end", training)

    def on_train_end(self, training):
        self.see("on_train_end", training)

    def steps(self, hook):
        return [call[1] for call in self.calls if call[0] == hook]


@pytest.fixture
def learn(tmp_path):
    """A linear layer learns from 25 rows, with dropout, so that every random number counts."""

    def start(*callbacks, name="run", resume=False, **settings):
        torch.manual_seed(5)
        inputs = torch.randn(25, 3)
        module = nn.Sequential(nn.Linear(3, 11), nn.Dropout(0.3), nn.Linear(11, 1))
        return atento.fit(
            (inputs, inputs.sum(dim=1, keepdim=True)), model=module, loss=nn.MSELoss(), out=tmp_path / name,
            settings={**SETTINGS, **settings}, callbacks=list(callbacks), resume=resume, seed=3, verbose=False,
        )  # fmt: skip

    return start


def test_each_hook_is_called_in_its_moment(learn):
    watch = Recorder()
    learn(watch)
    assert watch.calls[0] == ("on_train_begin", 0, 0, False, False)
    assert watch.calls[-1] == ("on_train_end", 12, 3, True, True)
    assert watch.steps("on_step_end") == list(range(1, 13))
    assert watch.steps("on_validation_end") == [2, 4, 6, 8, 10, 12]
    assert watch.steps("on_epoch_end") == [3, 6, 9, 12]
    at_six = [call[0] for call in watch.calls if call[1] == 6]
    assert at_six == ["on_step_end", "on_epoch_end", "on_validation_end"]
    assert ("on_epoch_end", 9, 2, True, True) in watch.calls


def test_a_stop_ends_the_run_with_a_last_validation_and_a_whole_model(learn):
    watch = Recorder(stop_at=5)
    run = learn(watch)
    assert (run.metrics["steps"], run.metrics["ended"]) == (5, "enough")
    assert watch.steps("on_validation_end") == [2, 4, 5] and watch.steps("on_train_end") == [5]


@pytest.mark.parametrize("name", ["should_stop", "stop_training"])
def test_the_names_of_lightning_and_keras_stop_it_too(learn, name):
    class Stop(Callback):
        def on_validation_end(self, training):
            assert not getattr(training, name)
            setattr(training, name, True)

    run = learn(Stop())
    assert (run.metrics["steps"], run.metrics["ended"]) == (2, "stopped by a callback")
    assert len(run.history) == 1, "the validation at which it stopped is not repeated"


def test_an_attribute_that_stops_nothing_is_a_mistake(learn):
    class Stop(Callback):
        def on_step_end(self, training):
            training.stop_now = True

    with pytest.raises(CallbackError, match=r"Stop\.on_step_end failed at step 1"):
        learn(Stop())


@pytest.mark.parametrize("hook, step", [("on_train_begin", 0), ("on_step_end", 5), ("on_epoch_end", 3),
                                        ("on_validation_end", 4), ("on_train_end", 12)])  # fmt: skip
def test_a_mistake_in_a_callback_loses_nothing(learn, tmp_path, hook, step):
    whole = learn(name="whole")
    with pytest.raises(RunError) as caught:
        learn(Recorder(fail_at=hook, step=step))
    assert caught.value.exit_code == 4
    assert str(caught.value).startswith(f"Recorder.{hook} failed at step {step}; everything is saved.\n  found: Key")
    assert "resume=True" in caught.value.fix and isinstance(caught.value.__cause__, KeyError)
    again = Recorder()
    run = learn(again, resume=True)
    assert again.steps("on_step_end") == list(range(step + 1, 13)), "no step is taken twice"
    for name, weight in whole.module.state_dict().items():
        assert torch.equal(run.module.state_dict()[name], weight)
    assert [measured(one) for one in validations(tmp_path / "run")] == [
        measured(one) for one in validations(tmp_path / "whole")
    ]


def validations(folder):
    return [event for event in read_events(folder / "events.jsonl") if event["event"] == "validation"]


def test_early_stopping_counts_the_validations_before_a_resume(learn):
    """Losses that only rise: the first validation is the best, whether or not the run was stopped in between."""
    rising = {"train.lr": 5.0, "train.warmup": 0, "train.clip": 0.0}
    whole = learn(EarlyStopping(patience=3), name="whole", **rising)
    losses = [event["metrics"]["mean_loss"] for event in validations(whole.folder)]
    assert min(losses) == losses[-4] and whole.metrics["ended"] == "mean_loss no better in 3 validations"
    with pytest.raises(CallbackError):
        learn(EarlyStopping(patience=3), Recorder(fail_at="on_validation_end", step=4), **rising)
    resumed = learn(EarlyStopping(patience=3), resume=True, **rising)
    assert resumed.metrics["steps"] == whole.metrics["steps"] < STEPS


class Told:
    """A training with the validations it is told of."""

    smaller_is_better = frozenset({"validation_loss"})

    def __init__(self, values, name="validation_loss"):
        facts = [{"validation_loss": one} if name == "validation_loss" else {"metrics": {name: one}} for one in values]
        self.history, self.said = facts, ""
        self.metrics = measured(facts[-1])

    def stop(self, why):
        self.said = why


@pytest.mark.parametrize(
    "options, name, values, stops",
    [
        ({"patience": 2}, "validation_loss", [3.0, 2.0, 2.5, 2.5], True),
        ({"patience": 2}, "validation_loss", [3.0, 2.0, 2.5, 1.9], False),
        ({"patience": 2}, "validation_loss", [3.0, 2.0, 2.5], False),
        ({"patience": 2, "min_delta": 0.2}, "validation_loss", [3.0, 2.0, 1.9, 1.85], True),
        ({"patience": 1}, "accuracy", [0.5, 0.6], False),
        ({"patience": 1}, "accuracy", [0.6, 0.5], True),
        ({"patience": 1, "mode": "min"}, "accuracy", [0.6, 0.5], False),
        ({"patience": 1, "mode": "max"}, "validation_loss", [2.0, 1.0], True),
        ({"patience": 1}, "accuracy", [None, 0.5], False),
    ],
)
def test_early_stopping(options, name, values, stops):
    told = Told(values, name)
    EarlyStopping(name, **options).on_validation_end(told)
    assert bool(told.said) == stops


def test_early_stopping_on_a_number_that_is_not_measured(learn):
    with pytest.raises(CallbackError, match="no validation measures 'val_loss'; EarlyStopping\\('mean_loss'\\)"):
        learn(EarlyStopping("val_loss"))
    with pytest.raises(InputError, match="patience of 1 or more"):
        EarlyStopping(patience=0)


def test_what_would_never_be_called_is_refused():
    assert require_callbacks(one := Recorder()) == (one,)
    for name, meant in (
        ("on_train_start", "on_train_begin"),
        ("on_batch_end", "on_step_end"),
        ("on_stepend", "on_step_end"),
    ):
        wrong = type("Mine", (Callback,), {name: lambda self, training: None})()
        with pytest.raises(InputError, match=rf"Mine\.{name} would never be called") as caught:
            require_callbacks([wrong])
        assert meant in caught.value.fix
    with pytest.raises(InputError, match=r"subclasses of atento\.Callback") as caught:
        require_callbacks([print])
    assert caught.value.fix == "on_event=function"
    with pytest.raises(InputError) as caught:
        require_callbacks([Recorder])
    assert all(hook in caught.value.fix for hook in HOOKS)


def test_a_model_by_name_takes_them_and_a_baseline_says_that_it_does_not(tmp_path):
    rows = [(f"{'good' if at % 2 else 'bad'} film {at}", "yes" if at % 2 else "no") for at in range(40)]
    settings = {"train.steps": 4, "model.hidden": 8, "train.threads": 1}
    with pytest.raises(CallbackError, match=r"Recorder\.on_epoch_end") as caught:
        failing = [Recorder(fail_at="on_epoch_end")]
        atento.fit(rows, model="rnn", settings=settings, callbacks=failing, out=tmp_path / "a", verbose=False)
    assert "resume=True" in caught.value.fix
    said = []
    atento.fit(rows, model="tf-idf", callbacks=[Recorder()], out=tmp_path / "b", on_event=said.append)
    assert any("no callback is called" in event.get("text", "") for event in said)
