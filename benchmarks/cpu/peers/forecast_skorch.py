"""skorch learns to forecast: `NeuralNetRegressor.fit` with an LSTM of torch on windows."""

from typing import Any

import numpy as np
import torch
from skorch import NeuralNetRegressor
from skorch.callbacks import Callback
from taking_turns import StepClock, Turns
from torch import Tensor, nn
from windows_of_series import windows_of


class Forecaster(nn.Module):
    """An LSTM and a linear layer."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.recurrent, self.output = nn.LSTM(1, size, batch_first=True), nn.Linear(size, 1)

    def forward(self, before: Tensor) -> Tensor:
        """Windows (B, look-back, 1) -> the next row (B, 1)."""
        states, _ = self.recurrent(before)
        return self.output(states[:, -1])


class Watch(Callback):
    """Tells the clock of each step."""

    def __init__(self, clock: StepClock) -> None:
        self.clock = clock

    def on_batch_end(self, net: Any, *arguments: object, training: bool = False, **named: object) -> None:
        """After the optimizer."""
        if training:
            self.clock.step()


def main() -> None:
    turns = Turns()
    task = turns.task
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train, valid = (windows_of(task["folder"], part, task["look_back"]) for part in ("train", "valid"))

    def error() -> float:
        """The mean squared error of the validation part."""
        found = float(np.square(net.predict(valid.before) - valid.after).mean())
        net.module_.train()
        return found

    alike = {"optimizer": torch.optim.Adam, "lr": 1e-3} if "chunk" in task else {}
    clock = StepClock(turns, judge=error)
    net = NeuralNetRegressor(
        Forecaster(task["width"]), max_epochs=100_000, batch_size=task["batch"], train_split=None, verbose=0,
        callbacks=[Watch(clock)], **alike,
    )  # fmt: skip
    net.fit(train.before, train.after)


if __name__ == "__main__":
    main()
