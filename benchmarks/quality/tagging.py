"""What the lines of tagging share: each model trained on a folder's files and tested once, the simple baselines beside.

A share of the training file chooses the best validation; the part that is reported is touched once, by each model.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from standing import Figure, on_gpu

import atento
from atento.metrics.metric import Metric
from atento.spec import parse_settings
from atento.tasks.catalogue import TAG


def figures(
    options: argparse.Namespace,
    line: str,
    metric: Metric,
    *,
    data: Mapping[str, Any],
    models: Sequence[str],
    on_cuda: Mapping[str, Any],
) -> list[Figure]:
    """The simple baselines, then each model over its seeds; on a GPU with the values of `on_cuda`, said aloud."""
    settings = {**data, "data.siblings": "no"}
    if on_gpu(options):
        settings.update(on_cuda)
        print("on a GPU:", ", ".join(f"{key}={value}" for key, value in on_cuda.items()))
    settings.update(parse_settings(options.set))
    names = [name.strip() for name in options.models.split(",") if name.strip()] or list(models)
    found: list[Figure] = []
    for name in names:
        values = []
        for seed in range(options.seeds):
            run = atento.fit(
                settings["data.train"],
                task="tag",
                model=name,
                settings=settings,
                seed=seed,
                budget=options.budget,
                device=options.device,
                out=options.out / f"{line}-{name}-{seed}",
            )
            values.append(run.metrics["scores"][metric.name][0])
            said = {key: run.metrics[key] for key in ("steps", "epochs", "seconds", "best_step", "device", "threads")}
            print(name, json.dumps({**said, "seed": seed, "scores": run.metrics["scores"]}), flush=True)
        if not found:
            found += simple(metric, run)
        found.append(Figure(name, values))
    return found


def simple(metric: Metric, run: Any) -> list[Figure]:
    """The task's baselines on the same parts."""
    reading = TAG.reading.read(run.recipe.data, run.recipe.split_seed)
    sources, references = zip(*reading.test, strict=True)
    learned = [make() for make in TAG.judging.baselines]
    for one in learned:
        one.fit(*zip(*reading.train, strict=True))
    return [Figure(one.name, [metric.value(one.predict(sources), references)], baseline=True) for one in learned]
