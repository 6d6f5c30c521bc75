"""Trains every task for a few steps with the processes of torchrun, and alone, and prints how far they are apart.

    torchrun --standalone --nproc-per-node 2 tests/training/distributed/every_task.py FOLDER

Batches hold 5, 1 and 3 examples: shares are uneven, and with one example a process has nothing to do. Each case leaves
a JSON line: the losses of all steps together and alone, and the largest difference of any weight in the end.
"""

import copy
import json
import sys
from pathlib import Path

import torch

from atento.api.fit import make_plan
from atento.api.prepare import assemble, gather_values, prepare, read_data
from atento.spec import Recipe, TokensRecipe
from atento.tasks.catalogue import TASKS
from atento.tasks.encoding import encode_all
from atento.training.distributed.ranks import join
from atento.training.distributed.strategies import Together, full
from atento.training.gradients import ONE_PROCESS
from atento.training.learner import new_learner
from atento.training.loop import Plan, take_step

CPU = torch.device("cpu")
TEXTS = ["one", "two one", "three two one", "four five six seven", "six five four three two"]
NUMBERS = ["1,2", "2,1 3,4", "0,0 1,1 2,2", "5,4 3,2 1,0 9,9", "1,0 0,1 1,0 0,1 1,0"]
IMAGES = [f"drawn:16 {colour} star {at} 8 3" for at, colour in enumerate(("red", "blue", "red", "green", "blue"), 5)]
WRITTEN = ["uno", "dos uno", "tres", "cuatro uno", "cinco dos tres"]
LABELS, SETS, VALUES = ["x", "y", "x", "z", "y"], ["x\ty", "", "z", "x", "y\tz"], ["1.5", "-2", "0.25", "7", "3"]
PAIRS = [f"{text}\tof {text}" for text in TEXTS]
PAIR_TASKS = {  # task -> model, sources, targets, settings of its training
    "translate": ("transformer", TEXTS, WRITTEN, {"train.label_smoothing": 0.1}),
    "rewrite": ("gru+dot", PAIRS, WRITTEN, {"train.bptt_steps": 2}),
    "transcribe": ("gru+additive", NUMBERS, WRITTEN, {"train.loss_over": "sequences"}),
    "caption": ("conv/gru+dot", IMAGES, WRITTEN, {"train.l2": 0.01}),
    "classify": ("transformer", TEXTS, LABELS, {"train.ema": 0.9}),
    "classify-series": ("gru", NUMBERS, LABELS, {"train.optimizer": "momentum"}),
    "classify-windows": ("lstm", NUMBERS, LABELS, {}),
    "classify-images": ("conv+additive", IMAGES, LABELS, {}),
    "label": ("gru+additive", TEXTS, SETS, {"train.clip_value": 0.5}),
    "label-series": ("transformer", NUMBERS, SETS, {}),
    "label-images": ("conv", IMAGES, SETS, {"train.optimizer": "rmsprop"}),
    "label-pairs": ("gru+dot+co", PAIRS, SETS, {}),
    "match": ("transformer+co", PAIRS, LABELS, {"train.optimizer": "radam"}),
    "match-images": ("conv/gru", [f"{image}\tis it big ?" for image in IMAGES], LABELS, {}),
    "tag": ("gru+crf", [text.replace(" ", "\t") for text in TEXTS], ["A", "B\tA", "C\tB\tA", "A\tA\tB\tC",
                                                                     "C\tC\tB\tA\tA"], {}),
    "estimate": ("gru", NUMBERS, VALUES, {"train.histograms": 1}),
    "estimate-text": ("lstm", TEXTS, VALUES, {"train.optimizer": "sgd"}),
    "estimate-images": ("conv", IMAGES, VALUES, {}),
}  # fmt: skip
FILE_TASKS = {  # task -> model, name of the file, settings
    "generate": ("lstm", "some.txt", {"train.stateful": True, "train.batch_tokens": 96, "train.sequence_length": 16}),
    "embed": ("skip-gram", "some.txt", {"train.batch_tokens": 40}),
    "forecast": ("gru", "series.csv", {"train.batch_tokens": 500, "train.closed_form": False}),
    "autoencode": ("lstm", "series.csv", {"train.batch_tokens": 500}),
}
SMALL = {"model.hidden": 6, "model.heads": 2, "model.layers": 1, "model.dropout": 0.0, "train.lr": 0.01,
         "train.steps": 3, "train.seed": 7}  # fmt: skip
STEPS = ([0, 1, 2, 3, 4], [2], [0, 3, 4])


def of_pairs(name):
    """The plan of a task that is an input × an output, and a module with its first weights."""
    model, sources, targets, settings = PAIR_TASKS[name]
    task, pairs = TASKS[name], list(zip(sources, targets, strict=True))
    recipe = Recipe(task=name).with_values({**SMALL, "model.name": model, **settings})
    codec = task.learning.learn(TokensRecipe(), pairs)
    torch.manual_seed(7)
    module = task.learning.build(recipe.model, codec)
    examples = encode_all(task, codec, pairs)

    def plan(together):
        return Plan(task=task, recipe=recipe, codec=codec, examples=examples, validation=(), fingerprint="",
                    device=CPU, folder=Path(), together=together)  # fmt: skip

    return plan, module, STEPS


def of_file(name, folder):
    """The same of a task that reads files in its own way, whose batches are those of its own order."""
    model, file, settings = FILE_TASKS[name]
    values = gather_values(
        str(folder / file), task=name, model=model, settings={**SMALL, **settings}, seed=7, budget=None
    )
    prepared = prepare(read_data(assemble(values), values))

    def plan(together):
        return make_plan(prepared, CPU, Path(), together)

    order = plan(ONE_PROCESS).order
    steps = list(STEPS) if order is None else [list(batch) for batch in order.epoch(0)[:2]]
    return plan, prepared.module, steps


def learn(plan, module, steps):
    """The losses of the steps, and the weights after them."""
    torch.manual_seed(7)
    learner = new_learner(module, plan.recipe)
    losses = [take_step(plan, learner, step, batches=len(steps)).item() for step in steps]
    weights = {name: full(weight.detach()) for name, weight in module.named_parameters()}
    if learner.ema is not None:
        weights |= {f"ema.{name}": full(weight) for name, weight in learner.ema.weights.items()}
    return losses, weights


def main(folder):
    """All cases, one after the other."""
    torch.set_num_threads(1)
    with join(CPU) as ranks:
        for name in (*PAIR_TASKS, *FILE_TASKS):
            plan, module, steps = of_pairs(name) if name in PAIR_TASKS else of_file(name, folder)
            alone, weights = learn(plan(ONE_PROCESS), copy.deepcopy(module), steps)
            for strategy in ("ddp", "fsdp"):
                own = copy.deepcopy(module)
                recipe = plan(ONE_PROCESS).recipe.train
                shared = Together(ranks, own, strategy=strategy, by_layer=not recipe.l2 and not recipe.bptt_steps)
                losses, found = learn(plan(shared), own, steps)
                apart = max((found[key] - weights[key]).abs().max().item() for key in weights)
                if ranks.first:
                    line = {"task": name, "strategy": strategy, "alone": alone, "together": losses, "apart": apart}
                    print(json.dumps(line), flush=True)
                    with (folder / "found.jsonl").open("a") as file:
                        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
