"""What the lines of labels share: models trained from several seeds, tested once, the simple ones beside them."""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from standing import Figure

import atento
from atento.bundle import load_bundle
from atento.spec import DataRecipe, parse_settings
from atento.tasks.catalogue import TASKS


def chosen(options: argparse.Namespace, models: Sequence[str]) -> list[str]:
    """The models asked for, else the line's own."""
    return [name.strip() for name in options.models.split(",") if name.strip()] or list(models)


def trained(
    options: argparse.Namespace, line: str, task: str, model: str, data: Mapping[str, Any], *, seed: int, metric: str
) -> float:
    """One run of the default recipe; what a GPU changes is in `data` and was said."""
    folder = folder_of(options, line, model, seed)
    settings = {**data, **parse_settings(options.set)}
    run = atento.fit(
        str(data["data.train"]),
        task=task,
        model=model,
        settings=settings,
        seed=seed,
        budget=options.budget,
        device=options.device,
        out=folder,
    )
    value = float(run.metrics["scores"][metric][0])
    print(f"  {line} {model} seed {seed}: {metric} {value:.4f}, {run.metrics['seconds']:.0f} s", flush=True)
    return value


def folder_of(options: argparse.Namespace, line: str, model: str, seed: int) -> Path:
    """Where a run is kept."""
    return Path(options.out / f"{line}-{model}-{seed}")


def mean_of_seeds(options: argparse.Namespace, line: str, model: str, *, metric: str) -> Figure:
    """The mean probability of each label over the models of all seeds, each of which has its own validation part and
    vocabulary; `atento compare FILE --seeds N`, where these are the same for all, makes one model of such a mean.
    """
    bundles = [load_bundle(folder_of(options, line, model, seed)) for seed in range(options.seeds)]
    test = bundles[0].read().test
    sources, totals = [one.source for one in test], [Counter[str]() for _ in test]
    for one in bundles:
        answers = one.task.answering.answer(one.module.eval(), one.codec, sources, one.recipe.decode)
        for total, answer in zip(totals, answers, strict=True):
            total.update(answer.probabilities)
    best = [total.most_common(1)[0][0] for total in totals]
    judge = next(one for one in bundles[0].task.judging.metrics(bundles[0].codec) if one.name == metric)
    return Figure(f"{model}, mean of {len(bundles)}", [judge.value(best, [one.references for one in test])])


def simple(task: str, data: Mapping[str, Any], *, metric: str) -> list[Figure]:
    """Every simple model of the task, fitted on the training part and tested on the test part."""
    keys = {key.removeprefix("data."): value for key, value in data.items() if key.startswith("data.")}
    reading = TASKS[task].reading.read(DataRecipe(**keys), 0)
    codec = TASKS[task].learning.learn(atento.spec.TokensRecipe(), reading.train)
    judge = next(one for one in TASKS[task].judging.metrics(codec) if one.name == metric)
    sources, references = zip(*((one.source, one.references) for one in reading.test), strict=True)
    figures = []
    for make in TASKS[task].judging.baselines:
        baseline = make()
        baseline.fit(*zip(*reading.train, strict=True))
        figures.append(Figure(baseline.name, [judge.value(list(baseline.predict(sources)), references)], baseline=True))
    return figures


def say_changes(changes: Mapping[str, Any]) -> None:
    """What a GPU allows beyond the default recipe."""
    print("on a GPU:", ", ".join(f"{key}={value}" for key, value in changes.items()))


def write_rows(path: Path, rows: Sequence[tuple[str, str]]) -> Path:
    """Texts and labels as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n" for text, label in rows)
    path.write_text("".join(lines), encoding="utf-8")
    return path
