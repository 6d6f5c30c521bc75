"""Darts learns to forecast: `BlockRNNModel.fit` with an LSTM on a `TimeSeries`."""

from pathlib import Path

import numpy as np
import torch
from darts import TimeSeries
from darts.models import BlockRNNModel
from lightning_clock import trainer_options
from taking_turns import StepClock, Turns


def main() -> None:
    turns = Turns()
    task = turns.task
    torch.set_num_threads(1)
    train, valid = (
        TimeSeries.from_values(np.load(Path(task["folder"]) / f"{part}.npy").astype(np.float32))
        for part in ("train", "valid")
    )
    clock = StepClock(turns)
    model = BlockRNNModel(
        input_chunk_length=task["look_back"], output_chunk_length=1, model="LSTM", hidden_dim=task["width"],
        n_epochs=100_000, random_state=0, pl_trainer_kwargs=trainer_options(clock, "val_loss"),
        **({"batch_size": task["batch"]} if "chunk" in task else {}),
    )  # fmt: skip
    model.fit(train, val_series=valid)


if __name__ == "__main__":
    main()
