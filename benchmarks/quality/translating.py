"""What the lines of translation share: each model trained on a folder's files and tested once, the simple baselines
beside them.

A share of the training file chooses the best validation; the part that is reported is touched once, by each model.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from standing import Figure, on_gpu

import atento
from atento.spec import parse_settings
from atento.tasks.catalogue import TRANSLATE


class Outcome(NamedTuple):
    """What a model wrote for the part that is reported, and every right answer."""

    model: str
    outputs: list[str]
    references: list[list[str]]
    baseline: bool = False


def outcomes(
    options: argparse.Namespace,
    line: str,
    *,
    data: Mapping[str, Any],
    models: Sequence[str],
    on_cuda: Mapping[str, Any],
) -> list[Outcome]:
    """The simple baselines, then each model from each seed; on a GPU with the values of `on_cuda`, said aloud."""
    settings = {**data, "data.split": "98/2/0", "data.siblings": "no"}
    if on_gpu(options):
        settings.update(on_cuda)
        print("on a GPU:", ", ".join(f"{key}={value}" for key, value in on_cuda.items()))
    settings.update(parse_settings(options.set))
    names = [name.strip() for name in options.models.split(",") if name.strip()] or list(models)
    found: list[Outcome] = []
    for name in names:
        for seed in range(options.seeds):
            run = atento.fit(
                settings["data.train"],
                task="translate",
                model=name,
                settings=settings,
                seed=seed,
                budget=options.budget,
                device=options.device,
                out=options.out / f"{line}-{name.replace('/', '-')}-{seed}",
            )
            if not found:
                found.extend(simple(run.recipe.data, run.recipe.split_seed))
            found.append(written(name, run.folder))
            said = {key: run.metrics[key] for key in ("steps", "epochs", "seconds", "device", "threads")}
            print(name, json.dumps({**said, "scores": run.metrics["scores"]}), flush=True)
    return found


def simple(data: Any, seed: int) -> list[Outcome]:
    """The task's baselines on the same parts."""
    reading = TRANSLATE.reading.read(data, seed)
    sources, targets = zip(*reading.train, strict=True)
    asked = [question.source for question in reading.test]
    references = [list(question.references) for question in reading.test]
    fitted = [make() for make in TRANSLATE.judging.baselines]
    for model in fitted:
        model.fit(sources, targets)
    return [Outcome(model.name, list(model.predict(asked)), references, baseline=True) for model in fitted]


def written(name: str, folder: Path) -> Outcome:
    """What a run wrote."""
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    return Outcome(name, [line["output"] for line in lines], [line["references"] for line in lines])


def figures(found: Sequence[Outcome], value: Any) -> list[Figure]:
    """One figure a model, over its seeds; `value` judges an outcome."""
    names = list(dict.fromkeys(outcome.model for outcome in found))
    return [
        Figure(
            name,
            [value(outcome) for outcome in found if outcome.model == name],
            baseline=any(outcome.baseline for outcome in found if outcome.model == name),
        )
        for name in names
    ]


def streams(references: Sequence[Sequence[str]]) -> list[list[str]]:
    """References as sacrebleu takes them: as many for every sentence, so the last one repeats."""
    most = max(map(len, references))
    return [[allowed[min(place, len(allowed) - 1)] for allowed in references] for place in range(most)]
