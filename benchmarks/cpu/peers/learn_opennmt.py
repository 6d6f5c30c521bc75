"""OpenNMT-py learns to translate number words: `onmt_train` with its options, on files of letters."""

from pathlib import Path
from typing import Any

import onmt
import torch
import yaml
from onmt.bin.train import train
from onmt.opts import train_opts
from onmt.utils.parse import ArgumentParser
from taking_turns import StepClock, Turns
from torch.optim.optimizer import register_optimizer_step_post_hook

SPACE = "▁"  # stands for a space among letters


def spaced(text: str) -> str:
    """The letters of a text as tokens."""
    return " ".join(SPACE if letter == " " else letter for letter in text)


def write_letters(folder: Path) -> None:
    """The files of words as files of letters, and their vocabularies."""
    for name in ("train.de", "train.en", "valid.de", "valid.en"):
        lines = (folder / name).read_text().splitlines()
        Path(name).write_text("".join(f"{spaced(line)}\n" for line in lines))
        if name.startswith("train"):
            Path(f"{name}.vocab").write_text("".join(f"{one}\n" for one in sorted(set(spaced("".join(lines)).split()))))


def options(task: dict[str, Any]) -> list[str]:
    """What a user types: sizes and data. Where speed is compared it also asks for the same computation as ours."""
    data = {
        "train": {"path_src": "train.de", "path_tgt": "train.en"},
        "valid": {"path_src": "valid.de", "path_tgt": "valid.en"},
    }
    config = {
        "data": data, "src_vocab": "train.de.vocab", "tgt_vocab": "train.en.vocab", "save_model": "onmt", "seed": 1,
        "encoder_type": "brnn", "layers": 1, "hidden_size": task["width"], "word_vec_size": task["width"],
        "save_checkpoint_steps": 10_000_000, "valid_steps": 10_000_000, "report_every": 1000, "num_workers": 0,
        "train_steps": 10_000_000,
    }  # fmt: skip
    if "chunk" in task:
        config |= {"input_feed": 0, "dropout": [0.0], "optim": "adam", "learning_rate": 1e-3, "max_grad_norm": 1.0}
    Path("onmt.yaml").write_text(yaml.safe_dump(config))
    return ["--config", "onmt.yaml"]


class WatchedTrainer(onmt.Trainer):
    """OpenNMT's trainer, which is remembered, as `train` does not return it before the end."""

    latest: "WatchedTrainer"

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        WatchedTrainer.latest = self


def exact(judged: list[list[str]]) -> float:
    """The share that is translated exactly by the search with which OpenNMT validates, which has a beam of five."""
    trainer = WatchedTrainer.latest
    examples = [{"src": spaced(source).split(), "tgt": spaced(target).split()} for source, target in judged]
    trainer.model.eval()
    with torch.no_grad():
        written, wanted = trainer.scoring_preparator.translate(trainer.model, [examples], -1, 0, "valid")
    trainer.model.train()
    return sum(one == other for one, other in zip(written, wanted, strict=True)) / len(wanted)


def main() -> None:
    turns = Turns()
    torch.set_num_threads(1)
    write_letters(Path(turns.task["folder"]))
    parser = ArgumentParser()
    train_opts(parser)
    chosen, _ = parser.parse_known_args(options(turns.task))
    onmt.Trainer = WatchedTrainer
    judged = turns.task.get("judged")
    clock = StepClock(turns, judge=(lambda: exact(judged)) if judged else None)
    register_optimizer_step_post_hook(lambda optimizer, arguments, options: clock.step())
    train(chosen)


if __name__ == "__main__":
    main()
