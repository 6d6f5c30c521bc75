"""atento learns to translate number words: `atento.fit` on a file of pairs, as a user would call it."""

from pathlib import Path

import torch
from taking_turns import StepClock, Turns

import atento
from atento.bundle import VOCABULARY, read_json
from atento.models.translator import Translator
from atento.spec import DecodeRecipe
from atento.tasks.catalogue import TRANSLATE
from atento.training.callbacks import Callback, Training

MOST_LETTERS = 80


class Watch(Callback):
    """Tells the clock of each step; it has run since before the data were read."""

    def __init__(self, turns: Turns, examples: list[list[str]]) -> None:
        self.examples = examples
        self.clock = StepClock(turns, judge=self.exact if examples else None)
        self.training: Training | None = None

    def on_train_begin(self, training: Training) -> None:
        """The data are read, the model is built."""
        self.training = training

    def on_step_end(self, training: Training) -> None:
        """The loss is known anyway: the loop has added it to its mean."""
        self.clock.step(training.loss)

    def exact(self) -> float:
        """The share of the examples that greedy search translates exactly."""
        assert self.training is not None
        codec = TRANSLATE.learning.load(read_json(self.training.folder, VOCABULARY))
        module = self.training.module.eval()
        assert isinstance(module, Translator)
        recipe = DecodeRecipe(max_tokens=MOST_LETTERS)
        answers = TRANSLATE.answering.answer(module, codec, [source for source, _ in self.examples], recipe)
        module.train()
        return sum(one.text == target for one, (_, target) in zip(answers, self.examples, strict=True)) / len(answers)


def main() -> None:
    turns = Turns()
    torch.set_num_threads(1)
    watch = Watch(turns, turns.task.get("judged", []))
    settings = {"train.threads": 1, "train.baselines": "no", **turns.task["settings"]}
    atento.fit(turns.task["data"], settings=settings, callbacks=[watch], device="cpu", out=Path.cwd() / "run")


if __name__ == "__main__":
    main()
