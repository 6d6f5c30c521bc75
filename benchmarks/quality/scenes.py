"""Drawn scenes: exact captions, and how much of the attention lies on the shape that a word names.

python benchmarks/quality/scenes.py

Of every exact caption of the test part, each word of a shape (its size, its colour, its kind) has the box of that
shape; its share is the weight on the regions of 4 × 4 pixels that overlap the box, none beside it. Uniform weights
are printed beside it: what a look at nothing in particular would give.
"""

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from standing import Figure, Target, arguments, settle

import atento
from atento.data.builtin.scenes import SIDE, named_shapes
from atento.data.images.drawing import COLOURS, KINDS, parse_scene
from atento.metrics.alignment import regions_in_box, weight_in_box
from atento.metrics.text import EXACT_MATCH
from atento.spec import parse_settings
from atento.tasks.catalogue import CAPTION

SOFT, HARD = "conv/lstm+additive", "conv/lstm+additive+hard-half"
LEAST_SHARE = 0.8
WITHIN = 0.03  # of exact captions, that hard attention may lack
SIZES = ("small",)


class Shares(NamedTuple):
    """Mean shares over the words of shapes."""

    colour: float
    kind: float
    every: float  # the sizes too
    uniform: float  # what equal weights would give
    captions: int


def main() -> None:
    """Train, test, say."""
    options = arguments("drawn scenes, exact captions and where they looked", folder=False)
    names = [name.strip() for name in options.models.split(",") if name.strip()] or [SOFT, HARD]
    figures: list[Figure] = []
    looked: dict[str, Shares] = {}
    for name in names:
        values = []
        for seed in range(options.seeds):
            run = atento.fit(
                "scenes",
                model=name,
                settings={**parse_settings(options.set), "data.seed": 0},
                seed=seed,
                budget=options.budget,
                device=options.device,
                out=options.out / f"scenes-{name.replace('/', '-')}-{seed}",
            )
            values.append(run.metrics["scores"]["exact"][0])
            said = {key: run.metrics[key] for key in ("steps", "epochs", "seconds", "device", "threads")}
            print(name, json.dumps({**said, "seed": seed, "scores": run.metrics["scores"]}), flush=True)
        reading = CAPTION.reading.read(run.recipe.data, run.recipe.split_seed)
        if not figures:
            figures += [simple(make, reading) for make in CAPTION.judging.baselines]
        figures.append(Figure(name, values))
        shares = shares_of(run, reading.test)
        if shares is not None:
            looked[name] = shares
            print(name, json.dumps(shares._asdict()), flush=True)
    settle_all(figures, looked)


def shares_of(run: Any, questions: Any) -> Shares | None:
    """Where the words of exact captions looked; None where nothing attends."""
    colour, kind, size, uniform = (list[float]() for _ in range(4))
    captions = 0
    for question in questions:
        found = run.look(question.source)
        if not found.weights.numel():
            return None
        if found.text not in question.references:
            continue
        captions += 1
        weights = found.weights.mean(dim=(0, 1)).double().numpy()  # (words, regions)
        shapes, at = named_shapes(parse_scene(question.source)), -1
        for word, row in zip(found.output, weights, strict=True):
            at += word == "a"  # each name begins so
            kept = colour if word in COLOURS else kind if word in KINDS else size if word in SIZES else None
            if kept is not None:
                kept.append(weight_in_box(row, shapes[at].box, found.grid, SIDE))
                uniform.append(float(regions_in_box(shapes[at].box, found.grid, SIDE).mean()))
    if not captions:
        return Shares(0.0, 0.0, 0.0, 0.0, 0)
    words = [*colour, *kind, *size]
    on_colour, on_kind, on_any, by_chance = (float(np.mean(some)) for some in (colour, kind, words, uniform))
    return Shares(on_colour, on_kind, on_any, by_chance, captions)


def simple(make: Callable[[], Any], reading: Any) -> Figure:
    """A simple model on the same parts."""
    model = make().fit(*zip(*reading.train, strict=True))
    outputs = model.predict([question.source for question in reading.test])
    return Figure(
        model.name, [EXACT_MATCH.value(outputs, [question.references for question in reading.test])], baseline=True
    )


def settle_all(figures: list[Figure], looked: dict[str, Shares]) -> None:
    """All three marks; the verdict of the script is of all of them."""
    exact = {figure.model: figure.mean for figure in figures}
    marks = []
    for name, shares in looked.items():
        said = " and ".join(
            f"{share:.3f} at its {word}" for word, share in zip(("colour", "kind"), shares, strict=False)
        )
        met = min(shares.colour, shares.kind) >= LEAST_SHARE
        marks.append(met)
        print(f"{name}: {said} on the named shape, uniform {shares.uniform:.3f}, {LEAST_SHARE} asked: {verdict(met)}")
    if SOFT in exact and HARD in exact:
        behind = exact[SOFT] - exact[HARD]
        marks.append(behind <= WITHIN)
        print(f"hard attention is {behind:+.3f} behind soft, at most {WITHIN} asked: {verdict(behind <= WITHIN)}")
    target = Target("exact", 0.95, "none")
    if not all(marks):
        met = target.met(max(figure.mean for figure in figures if not figure.baseline))
        for figure in figures:
            print(f"  {figure.model:32} {figure}{'   simple baseline' if figure.baseline else ''}")
        print(f"{target}: {verdict(met)}; a mark above was missed")
        sys.exit(1)
    settle("scenes", figures, target, shares={name: shares._asdict() for name, shares in looked.items()})


def verdict(met: bool) -> str:
    """As every script says it."""
    return "met" if met else "MISSED"


if __name__ == "__main__":
    main()
