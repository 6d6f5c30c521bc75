"""What the scripts of forecasts share: models of default recipes and the simple ones, on the same windows."""

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from standing import Figure, Target, settle

import atento
from atento.spec import parse_settings
from atento.tasks.encoding import learn_codec
from atento.tasks.forecast.forecast import FORECAST


def judge(
    line: str,
    options: Namespace,
    file: Path,
    models: Mapping[str, Mapping[str, Any]],
    protocol: Mapping[str, Any],
    target: Target,
    *,
    every: bool,
    rival: str = "",
    slack: float = 0.0,
) -> int:
    """Train each model by its settings beside the protocol, test it once, print the table; 0 where the target is met,
    by `every` model or by the best one. A `rival` is the simple model whose figure is the target, in the same run, but
    for a `slack` below the digits that are given.
    """
    found: list[Figure] = []
    simple: list[Figure] = []
    for name, settings in models.items():
        values = []
        for seed in range(options.seeds):
            run = atento.fit(
                file,
                task="forecast",
                model=name,
                settings={**protocol, **settings, **parse_settings(options.set)},
                seed=seed,
                budget=options.budget,
                device=options.device,
                out=options.out / f"{line.replace(' ', '-')}-{name}-{seed}",
            )
            values.append(run.metrics["scores"]["mse"][0])
            said = {key: run.metrics[key] for key in ("steps", "epochs", "seconds", "device", "threads")}
            best = min(point["value"] for point in run.metrics["curve"])
            scores = {metric: numbers[0] for metric, numbers in run.metrics["scores"].items()}
            kept = "training" if run.metrics["best_step"] else "ridge: no step was better by more than chance"
            said |= {"seed": seed, "validation": best, "test": scores, "kept": kept}
            print(name, json.dumps(said), flush=True)
        simple = simple or baselines(run)
        found.append(Figure(name, values))
    if rival:
        target = target._replace(value=next(figure.mean for figure in simple if figure.model == rival) + slack)
    judged = [max(found, key=lambda figure: figure.mean)] if every else found
    if judged != found:
        print(f"{line}: every model is to meet the target, so the last is judged: ", end="")
        print(", ".join(f"{figure.model} {figure}" for figure in found))
    try:
        settle(line, [*simple, *judged], target, models={figure.model: figure.mean for figure in found})
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def baselines(run: Any) -> list[Figure]:
    """The simple models on the same parts, squared errors on the same scale."""
    reading = FORECAST.reading.read(run.recipe.data, run.recipe.split_seed)
    sources = [question.source for question in reading.test]
    references = [question.references for question in reading.test]
    codec = learn_codec(FORECAST, run.recipe, reading.train)
    metric = next(metric for metric in FORECAST.judging.metrics(codec) if metric.name == "mse").for_sources(sources)
    figures = []
    for make in FORECAST.judging.baselines:
        model = make()
        model.fit(*zip(*reading.train, strict=True))
        figures.append(Figure(model.name, [metric.value(model.predict(sources), references)], baseline=True))
    return figures


def chosen(options: Namespace, models: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The models that were asked for, with the settings the script has for them."""
    names: Sequence[str] = [name.strip() for name in options.models.split(",") if name.strip()] or list(models)
    return {name: models.get(name, {}) for name in names}
