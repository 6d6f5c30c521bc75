"""The weights of every score, distribution and extent over one and the same sequence, as a figure."""

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from atento.attention.presets import DISTRIBUTIONS, EXTENTS, SCORES, Composition, Sizes, compose
from atento.views.figures import saved_figure

# Axes: T items of the sequence, both as queries and as keys, D size, H heads.

ITEMS, SIZE, HEADS = 32, 16, 2
COLUMNS = 6
AMPLITUDE = 0.8  # of the items: weights differ, yet all of an extent is visible
KERNEL = next(name for name, part in SCORES.items() if part.kind == "kernel")


def sample_sequence() -> torch.Tensor:
    """Items (H, T, D) on a slow periodic path: near ones are alike, and so are the two ends."""
    turn = torch.linspace(0, 2 * torch.pi, ITEMS, dtype=torch.float64).unsqueeze(-1)
    generator = torch.Generator().manual_seed(3)
    phases = 2 * torch.pi * torch.rand(HEADS, 1, SIZE, generator=generator, dtype=torch.float64)
    speeds = torch.arange(SIZE) % 4 + 1
    return AMPLITUDE * torch.sin(turn * speeds + phases)


def compositions() -> dict[str, dict[str, Composition]]:
    """Each score, distribution and extent by name, combined with the simplest partners that fit it."""
    distributions = {
        name: compose([KERNEL if part.kind == "kernel" else "scaled-dot", name], default_score="scaled-dot")
        for name, part in DISTRIBUTIONS.items()
    }
    return {
        "score": {name: compose([name], default_score="scaled-dot") for name in SCORES},
        "distribution": distributions,
        "extent": {name: compose([name], default_score="scaled-dot") for name in EXTENTS},
    }


def weight_patterns() -> dict[str, dict[str, NDArray[np.float64]]]:
    """Kind -> name -> weights (T, T) of the first head."""
    sizes = Sizes(query=SIZE, key=SIZE, reach=4, heads=HEADS, block=8, max_length=ITEMS)
    items, patterns = sample_sequence(), {}
    with torch.random.fork_rng(devices=[]):
        for kind, members in compositions().items():
            patterns[kind] = {name: pattern_of(composition, sizes, items) for name, composition in members.items()}
    return patterns


@torch.no_grad()
def pattern_of(composition: Composition, sizes: Sizes, items: torch.Tensor) -> NDArray[np.float64]:
    """The weights (T, T) of one composition, with random parameters from a fixed seed."""
    torch.manual_seed(1)
    attention = composition.build(sizes).double().eval()
    for parameter in attention.parameters():
        if not parameter.any():  # parameters that start at 0 are drawn, as if they had been trained
            parameter.normal_()
    weights: torch.Tensor = attention.weights(items, items)
    return weights.expand(HEADS, ITEMS, ITEMS)[0].numpy()


def patterns_figure(path: Path) -> Path:
    """Save a panel for each member, keys across and queries down; blue is positive, red is negative."""
    patterns = weight_patterns()
    heights = [ceil(len(members) / COLUMNS) for members in patterns.values()]
    with saved_figure(path, size=(1.9 * COLUMNS, 2.1 * sum(heights) + 1.2)) as figure:
        sections = figure.subfigures(len(patterns), 1, height_ratios=[height + 0.2 for height in heights])
        for section, (name, members), height in zip(sections, patterns.items(), heights, strict=True):
            section.suptitle(f"{name}s", fontsize=12, x=0.01, ha="left", weight="bold")
            draw_members(section.subplots(height, COLUMNS, squeeze=False), members)
    return path


def draw_members(grid: Any, members: dict[str, NDArray[np.float64]]) -> None:
    """Draw a panel for each, scaled to its own largest weight; the root makes small weights visible."""
    for axes, (name, weights) in zip(grid.flat, members.items(), strict=False):
        shades = np.sign(weights) * np.sqrt(np.abs(weights))
        largest = float(np.abs(shades).max(initial=0.0)) or 1.0
        axes.imshow(shades, cmap="RdBu", vmin=-largest, vmax=largest, interpolation="nearest")
        axes.set_title(name, fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])
    for spare in grid.flat[len(members) :]:
        spare.set_axis_off()
