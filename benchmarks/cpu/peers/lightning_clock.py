"""What the peers that train by Lightning share: a callback for the clock, and a quiet trainer on one thread."""

from typing import Any

import pytorch_lightning as lightning
from taking_turns import StepClock


class Watch(lightning.Callback):
    """Tells the clock of each step, and of each validation that the library makes by itself."""

    def __init__(self, clock: StepClock, metric: str) -> None:
        self.clock, self.metric = clock, metric

    def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, *arguments: object, **named: object) -> None:
        """After the optimizer."""
        self.clock.step(float(outputs["loss"]))

    def on_validation_start(self, *arguments: object, **named: object) -> None:
        """What follows is no training."""
        self.clock.pause()

    def on_validation_end(self, trainer: Any, module: Any) -> None:
        """The error of the validation part."""
        if not trainer.sanity_checking:
            self.clock.resume(float(trainer.callback_metrics[self.metric]))


def trainer_options(clock: StepClock, metric: str) -> dict[str, Any]:
    """Options of Lightning's trainer."""
    return {
        "accelerator": "cpu",
        "callbacks": [Watch(clock, metric)],
        "logger": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "enable_checkpointing": False,
        "num_sanity_val_steps": 0,
    }
