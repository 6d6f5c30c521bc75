"""JoeyNMT learns to translate number words: its configuration, its data sets, its `TrainManager`."""

from pathlib import Path
from typing import Any

import torch
from joeynmt.config import parse_global_args, set_validation_args
from joeynmt.prediction import predict, prepare
from joeynmt.training import TrainManager
from taking_turns import StepClock, Turns
from torch.optim.optimizer import register_optimizer_step_post_hook

MOST_LETTERS = 80


def configuration(task: dict[str, Any]) -> dict[str, Any]:
    """The file a user writes: sizes and data. Where speed is compared it also asks for the same computation as ours."""
    size, same = task["width"], "chunk" in task
    side = {"level": "char", "max_length": 200, "voc_min_freq": 1}
    recurrent = {"type": "recurrent", "rnn_type": "lstm", "embeddings": {"embedding_dim": size}}
    alike = {"attention": "luong", "input_feeding": False} if same else {}
    return {
        "name": "numbers", "joeynmt_version": "2.3.0", "model_dir": str(Path.cwd() / "joeynmt"), "use_cuda": False,
        "data": {
            "train": f"{task['folder']}/train", "dev": f"{task['folder']}/valid", "dataset_type": "plain",
            "src": {"lang": "de", **side}, "trg": {"lang": "en", **side},
        },
        "testing": {
            "beam_size": 1, "batch_size": 64, "max_output_length": MOST_LETTERS, "eval_metrics": ["sequence_accuracy"],
        },
        "training": {
            "batch_size": 64, "epochs": 1000, "validation_freq": 10_000_000, "logging_freq": 100, "overwrite": True,
            "scheduling": "exponential", "decrease_factor": 1.0,  # constant: the default of 2.3 is refused by itself
            **({"learning_rate": 1e-3, "clip_grad_norm": 1.0} if same else {}),
        },
        "model": {
            "encoder": {**recurrent, "hidden_size": size // 2, "bidirectional": True},
            "decoder": {**recurrent, "hidden_size": size, **alike},
        },
    }  # fmt: skip


def main() -> None:
    turns = Turns()
    torch.set_num_threads(1)
    Path("joeynmt").mkdir(exist_ok=True)
    arguments = parse_global_args(configuration(turns.task), rank=0, mode="train")
    model, train, valid, _ = prepare(arguments, rank=0, mode="train")
    searching = set_validation_args(arguments.test)
    manager = TrainManager(
        rank=0, model=model, model_dir=arguments.model_dir, device=arguments.device, autocast=arguments.autocast,
        train_args=arguments.train, dev_args=searching,
    )  # fmt: skip

    def exact() -> float:
        """The share that greedy search translates exactly."""
        scores, *_ = predict(
            model, valid, arguments.device, 0, compute_loss=False, args=searching, autocast=arguments.autocast
        )
        return float(scores["sequence_accuracy"])

    clock = StepClock(turns, judge=exact if "judged" in turns.task else None)
    register_optimizer_step_post_hook(lambda optimizer, arguments, options: clock.step())
    manager.train_and_validate(train_data=train, valid_data=valid)


if __name__ == "__main__":
    main()
