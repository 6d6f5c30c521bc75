"""Callbacks: code of the user's own that is called while a model is trained, and may stop it.

The hooks have the names that Keras and Lightning use, the training has `should_stop` and `stop_training`.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from torch import Tensor, nn

from atento.errors import AtentoError, InputError, RunError, nearest
from atento.lines import lines_of
from atento.metrics.metric import Metric
from atento.spec import Recipe
from atento.training.events import Event, EventLog, read_events
from atento.training.learner import Learner

ALSO_CALLED = {  # hooks of Keras, Lightning and transformers -> the hook that is called at that moment
    "on_batch_end": "on_step_end",
    "on_fit_end": "on_train_end",
    "on_fit_start": "on_train_begin",
    "on_test_end": "on_train_end",
    "on_train_batch_end": "on_step_end",
    "on_train_epoch_end": "on_epoch_end",
    "on_train_start": "on_train_begin",
    "on_evaluate": "on_validation_end",
    "on_validation_epoch_end": "on_validation_end",
}


class Training:
    """A training as its callbacks see it: how far it is, what was measured, the module, and the means to stop it."""

    __slots__ = ("_history", "_learner", "_log", "_loss", "_share", "recipe", "smaller_is_better", "stop_reason")

    def __init__(self, recipe: Recipe, learner: Learner, log: EventLog, metrics: Sequence[Metric] = ()) -> None:
        self.recipe = recipe
        self.smaller_is_better = {"validation_loss", *(one.name for one in metrics if one.smaller_is_better)}
        self.stop_reason = ""  # why a callback asked to stop; empty: none did
        self._learner, self._log = learner, log
        self._history = [event for event in read_events(log.path) if event.get("event") == "validation"]
        self._loss: Tensor | None = None  # of the last step, on the device
        self._share = 0.0

    @property
    def module(self) -> nn.Module:
        """The module that is trained."""
        return self._learner.module

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self._log.path.parent

    @property
    def step(self) -> int:
        """Optimizer steps taken so far, those before a resume included."""
        return self._learner.progress.step

    @property
    def epoch(self) -> int:
        """The epoch of the last step, from 0."""
        return self._learner.progress.epoch

    @property
    def elapsed(self) -> float:
        """Seconds of training so far."""
        return self._learner.progress.elapsed

    @property
    def progress(self) -> float:
        """The share of the run that is done, from 0 to 1, by the nearest of its limits."""
        return self._share

    @property
    def loss(self) -> float | None:
        """The loss of the last step; None before the first. On a GPU, asking for it waits for the step."""
        return None if self._loss is None else float(self._loss)

    @property
    def learning_rate(self) -> float:
        """The learning rate of the last step."""
        return float(self._learner.optimizer.param_groups[0]["lr"])

    @property
    def history(self) -> list[Event]:
        """Every validation so far, as the event log has it, those before a resume included."""
        return list(self._history)

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """What the last validation measured, by name, `validation_loss` included; empty before the first."""
        return measured(self._history[-1]) if self._history else {}

    @property
    def best_step(self) -> int:
        """The step whose weights are kept."""
        return self._learner.progress.best_step

    @property
    def should_stop(self) -> bool:
        """Whether a callback asked to stop; setting it to True asks."""
        return bool(self.stop_reason)

    @should_stop.setter
    def should_stop(self, wanted: bool) -> None:
        self.stop_reason = (self.stop_reason or "stopped by a callback") if wanted else ""

    stop_training = should_stop  # as Keras calls it

    def stop(self, why: str = "") -> None:
        """End the training as if its limit were reached: one more validation, and the best weights are kept and tested.

        why: the reason that the run records.
        """
        self.stop_reason = why or "stopped by a callback"


def measured(event: Event) -> dict[str, float | None]:
    """The numbers of a validation by name, its loss among them."""
    loss = event.get("validation_loss")
    return {**event.get("metrics", {}), **({} if loss is None else {"validation_loss": loss})}


class Callback:
    """What may be called while a model is trained: override what you need and give `callbacks=[...]` to `atento.fit`.

    An exception in a hook ends the run, which is saved first and can be resumed.
    """

    def on_train_begin(self, training: Training) -> None:
        """Before the first step, and before the first one after a resume.

        training: the state of the training.
        """

    def on_step_end(self, training: Training) -> None:
        """After each optimizer step.

        training: the state of the training.
        """

    def on_epoch_end(self, training: Training) -> None:
        """After the last step of each epoch.

        training: the state of the training.
        """

    def on_validation_end(self, training: Training) -> None:
        """After each validation.

        training: the state of the training.
        """

    def on_train_end(self, training: Training) -> None:
        """After the last step, when the best weights are back in the module; a run that is interrupted has no end yet.

        training: the state of the training.
        """


HOOKS = tuple(name for name in vars(Callback) if name.startswith("on_"))


class EarlyStopping(Callback):
    """Stops when a number of the validation has not improved for several validations.

    It is computed from the recorded validations, so that a resumed run stops where the whole one would. (The recipe key
    `train.patience` does the same for the metric that selects the best weights.)

    monitor: which number: "validation_loss" or the name of a metric; "auto": the loss, of tasks without one the first
        metric.
    patience: validations without improvement before it stops.
    min_delta: an improvement is larger than this.
    mode: "min" where smaller is better, "max" where larger is; "auto": as the metric itself says.
    """

    def __init__(
        self,
        monitor: str = "auto",
        *,
        patience: int = 3,
        min_delta: float = 0.0,
        mode: Literal["auto", "min", "max"] = "auto",
    ) -> None:
        if patience < 1 or min_delta < 0 or mode not in ("auto", "min", "max"):
            raise InputError(
                "EarlyStopping needs a patience of 1 or more, a min_delta of 0 or more, and a known mode.",
                found=f"patience={patience}, min_delta={min_delta}, mode={mode!r}",
                fix='EarlyStopping("validation_loss", patience=3, min_delta=0.0, mode="min")',
            )
        self.monitor, self.patience, self.min_delta, self.mode = monitor, patience, min_delta, mode

    def on_validation_end(self, training: Training) -> None:
        """Stop if the last validations were no better than one before them.

        training: the state of the training.
        """
        known = training.metrics
        monitor = self.monitor
        if monitor == "auto":
            monitor = "validation_loss" if "validation_loss" in known else next(iter(known))
        if monitor not in known:
            raise InputError(
                f"no validation measures {monitor!r}",
                found=", ".join(known),
                fix=f"EarlyStopping({nearest(monitor, known)!r})",
            )
        values = [measured(event).get(monitor) for event in training.history]
        smaller = self.mode == "min" or (self.mode == "auto" and monitor in training.smaller_is_better)
        best, at = -math.inf, 0
        for number, value in enumerate(values):
            merit = -math.inf if value is None else -value if smaller else value
            if merit > best + self.min_delta:
                best, at = merit, number
        if len(values) - 1 - at >= self.patience:
            training.stop(f"{monitor} no better in {len(values) - 1 - at} validations")


def require_callbacks(callbacks: Sequence[Callback]) -> tuple[Callback, ...]:
    """The callbacks; what is none, or has a hook that would never be called, is refused."""
    if not isinstance(callbacks, list | tuple):
        callbacks = [callbacks]  # type: ignore[list-item]  # one alone
    for one in callbacks:
        if not isinstance(one, Callback):
            function = callable(one) and not isinstance(one, type)
            raise InputError(
                "callbacks takes instances of subclasses of atento.Callback.",
                found=f"{getattr(one, '__name__', '') or type(one).__name__}, from {type(one).__module__}",
                fix="on_event=function" if function else f"class Mine(atento.Callback): ... with {', '.join(HOOKS)}",
            )
        for name in dir(one):
            if name.startswith("on_") and name not in HOOKS:
                meant = ALSO_CALLED.get(name) or nearest(name, HOOKS)
                raise InputError(
                    f"{type(one).__name__}.{name} would never be called: there is no such hook.",
                    found=name,
                    fix=f"def {meant}(self, training): ...",
                )
    return tuple(callbacks)


class CallbackError(RunError):
    """A callback raised an exception, which is the cause of this one."""


class Hooks:
    """Calls the hooks of several callbacks; one that fails ends the run after it is saved."""

    def __init__(
        self,
        callbacks: Sequence[Callback],
        recipe: Recipe,
        learner: Learner,
        log: EventLog,
        metrics: Sequence[Metric] = (),
    ) -> None:
        self.callbacks = callbacks
        self.training = Training(recipe, learner, log, metrics) if callbacks else None
        self.failure: CallbackError | None = None

    @property
    def stop_reason(self) -> str:
        """Why a callback asked to stop; empty: none did."""
        return "" if self.training is None else self.training.stop_reason

    def train_begin(self) -> None:
        """Training begins or resumes."""
        self.call("on_train_begin")
        self.raise_failure()

    def step_end(self, loss: Tensor, share: float, *, epoch_ends: bool) -> None:
        """A step was taken, with this loss."""
        if self.training is not None:
            self.training._loss, self.training._share = loss, min(share, 1.0)
            self.call("on_step_end")
            if epoch_ends:
                self.call("on_epoch_end")

    def validation_end(self, event: Event) -> None:
        """A validation was recorded."""
        if self.training is not None:
            self.training._history.append(event)
            self.call("on_validation_end")

    def train_end(self) -> None:
        """Training ended."""
        self.call("on_train_end")
        self.raise_failure()

    def raise_failure(self) -> None:
        """End the run if a callback failed; all must be saved by now."""
        if self.failure is not None:
            raise self.failure

    def call(self, hook: str) -> None:
        """Call one hook of every callback, in their order, up to the first that fails."""
        for one in self.callbacks if self.failure is None else ():
            try:
                getattr(one, hook)(self.training)
            except Exception as error:  # noqa: BLE001  # any mistake in the user's code; the loop raises what it tells
                self.failure = callback_failure(one, hook, self.training, error)
                return


def callback_failure(callback: Callback, hook: str, training: Training | None, error: Exception) -> CallbackError:
    """What is told of a mistake in a callback; its traceback is the cause."""
    step = training.step if training is not None else 0
    said = "; ".join(filter(None, (error.problem, error.fix))) if isinstance(error, AtentoError) else str(error)
    failure = CallbackError(
        f"{type(callback).__name__}.{hook} failed at step {step}; everything is saved.",
        found=f"{type(error).__name__}: {lines_of(said or 'no message')[0]}",
    )
    failure.__cause__ = error
    return failure
