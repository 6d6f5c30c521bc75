"""NeuralForecast learns to forecast: `NeuralForecast.fit` with its LSTM on a long table."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from lightning_clock import trainer_options
from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MSE
from neuralforecast.models import LSTM
from taking_turns import StepClock, Turns


def main() -> None:
    turns = Turns()
    task = turns.task
    torch.set_num_threads(1)
    rows = [np.load(Path(task["folder"]) / f"{part}.npy") for part in ("train", "valid")]
    values = np.concatenate(rows)
    table = pd.DataFrame({"unique_id": "x", "ds": np.arange(len(values)), "y": values})
    clock = StepClock(turns)
    alike = {"loss": MSE(), "scaler_type": "identity", "decoder_layers": 1} if "chunk" in task else {}
    model = LSTM(
        h=1, input_size=task["look_back"], encoder_n_layers=1, encoder_hidden_size=task["width"],
        decoder_hidden_size=task["width"], valid_loss=MSE(), max_steps=10_000_000, windows_batch_size=task["batch"],
        val_check_steps=100, **alike, **trainer_options(clock, "ptl/val_loss"),
    )  # fmt: skip
    NeuralForecast(models=[model], freq=1).fit(table, val_size=len(rows[1]))


if __name__ == "__main__":
    main()
