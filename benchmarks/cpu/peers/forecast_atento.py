"""atento learns to forecast: `atento.fit` on a table of one series, as a user would call it."""

from pathlib import Path

import torch
from taking_turns import StepClock, Turns

import atento
from atento.training.callbacks import Callback, Training


class Watch(Callback):
    """Tells the clock of each step, and of each validation that the training makes by itself."""

    def __init__(self, clock: StepClock) -> None:
        self.clock = clock

    def on_train_begin(self, training: Training) -> None:
        """The data are read, the model is built; a model in closed form that it begins with is validated at once."""
        self.clock.pause()

    def on_step_end(self, training: Training) -> None:
        """A validation may follow, as the loop decides."""
        self.clock.step(training.loss)
        self.clock.pause()

    def on_validation_end(self, training: Training) -> None:
        """Its error is of standardized values."""
        error = training.metrics["mse"]
        assert error is not None
        self.clock.resume(error)


def main() -> None:
    turns = Turns()
    torch.set_num_threads(1)
    settings = {"train.threads": 1, "train.baselines": "no", **turns.task["settings"]}
    atento.fit(
        turns.task["data"], task="forecast", settings=settings, callbacks=[Watch(StepClock(turns))], device="cpu",
        out=Path.cwd() / "run",
    )  # fmt: skip


if __name__ == "__main__":
    main()
