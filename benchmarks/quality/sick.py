"""SICK entailment: accuracy on the trial pairs, words that both sentences share beside it.

python benchmarks/quality/sick.py FOLDER
"""

import json
from collections.abc import Callable
from typing import Any

from standing import Figure, Target, arguments, on_gpu, settle

import atento
from atento.metrics.labels import ACCURACY
from atento.spec import parse_settings
from atento.tasks.catalogue import MATCH

PUBLISHED = "0.846 best of SemEval 2014 with outside knowledge, majority 0.567 (test part)"
TOWERS = "lstm+additive"  # the best of them
MODELS = (TOWERS, "lstm+dot+sparsemax+co")
ALSO_ON_CUDA = ("gru+dot+co",)
MARGIN = 0.04  # by which a look from one sentence to the other is to beat two towers, on a GPU
SEEDS_ON_CUDA = 3  # one trial pair is 0.002, the error of one run 0.017


def main() -> None:
    """Train, test, say."""
    options = arguments("SICK entailment, accuracy", seeds=0)
    cuda = on_gpu(options)
    data = {
        "data.test": str(options.folder / "SICK_trial.txt"),
        "data.source": "sentence_A",
        "data.target": "sentence_B",
        "data.label": "entailment_judgment",
        "data.split": "92/8/0",
        "data.siblings": "no",
    }
    settings = {**data, **parse_settings(options.set)}
    seeds = options.seeds or (SEEDS_ON_CUDA if cuda else 1)
    train = str(options.folder / "SICK_train.txt")
    names = [name.strip() for name in options.models.split(",") if name.strip()] or [
        *MODELS,
        *(ALSO_ON_CUDA if cuda else ()),
    ]
    figures: list[Figure] = []
    for name in names:
        values = []
        for seed in range(seeds):
            run = atento.fit(
                train,
                task="match",
                model=name,
                settings=settings,
                seed=seed,
                budget=options.budget,
                device=options.device,
                out=options.out / f"sick-{name}-{seed}",
            )
            values.append(run.metrics["scores"]["accuracy"][0])
            said = {key: run.metrics[key] for key in ("steps", "epochs", "seconds", "device", "threads")}
            print(name, json.dumps({**said, "seed": seed, "scores": run.metrics["scores"]}), flush=True)
        if not figures:
            figures += [simple(make, run.recipe.data, run.recipe.split_seed) for make in MATCH.judging.baselines]
        figures.append(Figure(name, values))
    means = {figure.model: figure.mean for figure in figures if not figure.baseline}
    ahead = max(means.values()) - means[TOWERS] if TOWERS in means else None
    short = cuda and ahead is not None and ahead < MARGIN
    if ahead is not None:
        print(f"ahead of two towers by {ahead:.4f}; {MARGIN} are asked on a GPU{': MISSED' if short else ''}")
    target = Target("accuracy", 0.815 if cuda else 0.76, PUBLISHED, strict=cuda)
    settle("sick", figures, target, missed=short, ahead_of_two_towers=ahead)


def simple(make: Callable[[], Any], data: Any, seed: int) -> Figure:
    """A simple model on the same parts."""
    reading = MATCH.reading.read(data, seed)
    model = make().fit(*zip(*reading.train, strict=True))
    outputs = model.predict([question.source for question in reading.test])
    value = ACCURACY.value(outputs, [question.references for question in reading.test])
    return Figure(model.name, [value], baseline=True)


if __name__ == "__main__":
    main()
