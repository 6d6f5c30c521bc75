"""Keras 3 learns to forecast: an LSTM and a dense layer, `fit` on windows."""

from typing import Any

import keras
import numpy as np
import torch
from keras import layers
from taking_turns import StepClock, Turns
from windows_of_series import windows_of


class Watch(keras.callbacks.Callback):
    """Tells the clock of each step."""

    def __init__(self, clock: StepClock) -> None:
        super().__init__()
        self.clock = clock

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After the optimizer."""
        self.clock.step()


def main() -> None:
    turns = Turns()
    task = turns.task
    torch.set_num_threads(1)
    keras.utils.set_random_seed(0)
    train, valid = (windows_of(task["folder"], part, task["look_back"]) for part in ("train", "valid"))
    model = keras.Sequential([keras.Input((task["look_back"], 1)), layers.LSTM(task["width"]), layers.Dense(1)])
    model.compile(optimizer="adam" if "chunk" in task else "rmsprop", loss="mse")
    clock = StepClock(turns, judge=lambda: float(np.square(model.predict_on_batch(valid.before) - valid.after).mean()))
    model.fit(
        train.before, train.after, epochs=100_000, verbose=0, callbacks=[Watch(clock)],
        **({"batch_size": task["batch"]} if "chunk" in task else {}),
    )  # fmt: skip


if __name__ == "__main__":
    main()
