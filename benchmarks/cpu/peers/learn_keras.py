"""Keras 3 learns to translate number words: an encoder in both directions, `Attention` after the decoder, `fit`."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import torch
from keras import layers
from taking_turns import StepClock, Turns

MOST_LETTERS = 80
PAD, UNKNOWN, START, END = range(4)


class Letters:
    """Numbers of letters."""

    def __init__(self, lines: list[str]) -> None:
        self.known = ["", "", "", "", *sorted(set("".join(lines)))]
        self.numbers = {letter: number for number, letter in enumerate(self.known) if letter}

    def padded(self, lines: list[str], *, before: list[int], after: list[int]) -> Any:
        """Lines as one array, filled up with zeros."""
        rows = [[*before, *(self.numbers.get(one, UNKNOWN) for one in line), *after] for line in lines]
        return keras.utils.pad_sequences(rows, padding="post")


def translator(size: int, sources: int, targets: int) -> Any:
    """The model of Keras' own tutorials with its `Attention`, of the sizes of ours."""
    source, previous = (keras.Input((None,), dtype="int32") for _ in range(2))
    read = layers.Embedding(sources, size, mask_zero=True)(source)
    both = layers.Bidirectional(layers.LSTM(size // 2, return_sequences=True, return_state=True))(read)
    states, *last = both
    begin = [layers.Concatenate()([last[at], last[at + 2]]) for at in (0, 1)]
    written = layers.Embedding(targets, size, mask_zero=True)(previous)
    decoded = layers.LSTM(size, return_sequences=True)(written, initial_state=begin)
    context = layers.Attention()([layers.Dense(size, use_bias=False)(decoded), states])
    joined = layers.Dense(size, activation="tanh")(layers.Concatenate()([context, decoded]))
    return keras.Model([source, previous], layers.Dense(targets)(joined))


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
    sources, targets = ((Path(task["folder"]) / f"train.{side}").read_text().splitlines() for side in ("de", "en"))
    reading, writing = Letters(sources), Letters(targets)
    source = reading.padded(sources, before=[], after=[])
    previous = writing.padded(targets, before=[START], after=[])
    target = writing.padded(targets, before=[], after=[END])
    model = translator(task["width"], len(reading.known), len(writing.known))

    def exact() -> float:
        """The share that greedy search translates exactly; Keras has no search, so all is read anew at each step."""
        here, wanted = zip(*task["judged"], strict=True)
        read = reading.padded(list(here), before=[], after=[])
        rows = np.full((len(here), 1), START)
        for _ in range(MOST_LETTERS):
            chosen = model.predict_on_batch([read, rows])[:, -1].argmax(-1)
            rows = np.concatenate([rows, chosen[:, None]], axis=1)
            if (rows == END).any(1).all():
                break
        texts = ["".join(writing.known[one] for one in [*row[1:], END][: [*row[1:], END].index(END)]) for row in rows]
        return sum(one == target for one, target in zip(texts, wanted, strict=True)) / len(wanted)

    same = "chunk" in task
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0) if same else "rmsprop",
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=PAD),
    )
    clock = StepClock(turns, judge=exact if "judged" in task else None)
    model.fit(
        [source, previous], target, batch_size=64 if same else 32, epochs=1000, verbose=0, callbacks=[Watch(clock)]
    )


if __name__ == "__main__":
    main()
