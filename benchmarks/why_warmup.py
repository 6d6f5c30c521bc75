"""O08: why a Transformer is warmed up. Writes docs/images/why-warmup.png and docs/why-warmup.md.

Five ways to train the same 4 + 4 layers of width 64 on strings to be written backwards, five seeds each, a few minutes
on one core; and the gradient of the last layer against depth, before any training.
"""

import math
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from atento.layers.losses import token_cross_entropy
from atento.models.builders.encoder_decoder import Vocabularies, build_translator
from atento.models.builders.transformer import transformer_body
from atento.models.names import ModelPart
from atento.models.translator import TranslationBatch
from atento.spec import Recipe
from atento.training.optimizers import OPTIMIZERS
from atento.training.recorder import OptimizerStep, Recorder, bin_edges
from atento.training.schedules import learning_rate

DOCS = Path(__file__).parents[1] / "docs"
STEPS, WARMUP, SEEDS, WATCHED = 400, 100, 5, 100
FIRST, LETTERS, LENGTH, ROWS, START = 4, 8, 6, 16, 2
GUESSING = math.log(LETTERS)
LAST = 20  # steps whose mean is the final loss
DEPTHS = (4, 8, 16, 32, 64)

CHOSEN = (
    "All five use the same learning rate. The rate and the depth were chosen so that the results differ within these "
    "few steps; elsewhere they may not: with 6 + 6 layers, a constant rate of 0.002 and 300 steps, post-norm ended "
    "with the same loss with warm-up (1.41, 1.47) and without (1.43, 1.48), although the gradients without it shrank "
    "as they do here."
)

COMMON = {
    "model.name": "transformer",
    "model.hidden": 64,
    "model.layers": 4,
    "model.heads": 1,
    "model.feed_forward": 64,
    "model.dropout": 0.0,
    "model.init": "xavier",
    "train.optimizer": "adam",
    "train.lr": 3e-3,
    "train.beta2": 0.999,
    "train.steps": STEPS,
    "train.decay": "linear",
    "train.warmup_shape": "none",
}


class Case(NamedTuple):
    """One way to train."""

    title: str
    colour: str
    values: dict[str, object]


CASES = {
    "post": Case("post-norm, no warm-up", "#c0392b", {"model.norm": "post"}),
    "warm": Case(
        f"post-norm, warm-up of {WARMUP}",
        "#e08e2b",
        {"model.norm": "post", "train.warmup_shape": "linear", "train.warmup": WARMUP},
    ),
    "radam": Case("post-norm, RAdam", "#7d5ba6", {"model.norm": "post", "train.optimizer": "radam"}),
    "pre": Case("pre-norm, no warm-up", "#2a7ab0", {"model.norm": "pre"}),
    "fixup": Case("T-Fixup, no norm, no warm-up", "#2e8b57", {"model.norm": "none", "model.init": "t-fixup"}),
}


class Training(NamedTuple):
    """What one run showed."""

    losses: list[float]
    seen: list[OptimizerStep]

    @property
    def final(self) -> float:
        return float(np.mean(self.losses[-LAST:]))


def reversing(seed: int) -> TranslationBatch:
    """Strings of letters, and the same backwards."""
    chance = torch.Generator().manual_seed(seed)
    source = torch.randint(FIRST, FIRST + LETTERS, (ROWS, LENGTH), generator=chance)
    target, valid = source.flip(1), torch.ones(ROWS, LENGTH, dtype=torch.bool)
    previous = torch.cat([torch.full((ROWS, 1), START), target[:, :-1]], dim=1)
    return TranslationBatch(source, valid, previous, target, valid)


def train(case: Case, seed: int) -> Training:
    """The library's model, optimizer and schedule; its recorder watches the first steps."""
    torch.manual_seed(seed)
    recipe = Recipe().with_values({**COMMON, **case.values})
    model = build_translator(recipe.model, Vocabularies(FIRST + LETTERS, FIRST + LETTERS))
    optimizer, recorder = OPTIMIZERS[recipe.train.optimizer](model, recipe.train), Recorder(model)
    losses = []
    for step in range(1, STEPS + 1):
        batch = reversing(STEPS * seed + step)
        loss = token_cross_entropy(model(batch), batch.target[batch.target_valid]).mean
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(recipe, step, (step - 1) / STEPS)
        if step <= WATCHED:
            with recorder.record():
                optimizer.step()
        else:
            optimizer.step()
        losses.append(loss.item())
    return Training(losses, recorder.steps)


def last_gradients(order: str, depth: int, seed: int) -> list[float]:
    """Before any training: the norms of the gradients in the last layer's feed-forward weights, of single losses."""
    torch.manual_seed(seed)
    values = {"model.hidden": 32, "model.heads": 2, "model.feed_forward": 32, "model.dropout": 0.0}
    recipe = Recipe().with_values({**values, "model.layers": depth, "model.norm": order, "model.init": "xavier"}).model
    embedding, stack = transformer_body(ModelPart("transformer"), recipe, 11)
    states = stack(embedding(torch.randint(1, 11, (7, 5)), torch.arange(5)))[:, -1]
    logits, answers = states @ torch.randn(32, 11) / math.sqrt(32), torch.randint(11, (7,))
    weight = dict(stack.layers[-1].named_parameters())["feed_forward.narrow.weight"]
    losses = torch.nn.functional.cross_entropy(logits, answers, reduction="none")
    return [torch.autograd.grad(loss, weight, retain_graph=True)[0].norm().item() for loss in losses]


def sweep(order: str) -> list[float]:
    """The mean over seeds at each depth."""
    return [float(np.mean([last_gradients(order, depth, seed) for seed in range(SEEDS)])) for depth in DEPTHS]


def slope(norms: list[float]) -> float:
    """The exponent of the depth."""
    return float(np.polyfit(np.log(DEPTHS), np.log(norms), 1)[0])


def power(exponent: float) -> str:
    return f"L^{exponent:.2f}".replace("-", "−")


def draw(runs: dict[str, list[Training]], depths: dict[str, list[float]], path: Path) -> None:
    """Histograms above, losses and depth below."""
    figure = Figure(figsize=(14.5, 9.6), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle("Why warm-up: the first steps of the same Transformer, trained in five ways", fontsize=14)
    halves: Any = figure.subfigures(2, 1, height_ratios=(1.25, 1.0), hspace=0.04)
    above, below = halves
    grid = above.subplots(2, len(CASES), sharex=True, sharey="row", squeeze=False)
    for column, (name, case) in enumerate(CASES.items()):
        for row, what in enumerate(("gradients", "updates")):
            image = draw_histogram(grid[row, column], runs[name][0].seen, what)
        grid[0, column].set_title(case.title, color=case.colour, fontsize=10.5)
        grid[1, column].set_xlabel("step")
    for row, (what, limits) in enumerate((("|gradient|", (-9, 0)), ("|update|", (-7, -2)))):
        grid[row, 0].set_ylabel(f"log₁₀ {what}")
        grid[row, 0].set_ylim(*limits)
        grid[row, 0].set_xticks([1, 20, 40, 60, 80, WATCHED])
    above.colorbar(image, ax=grid, fraction=0.015, pad=0.01, label="share of the weights")
    curves, finals, against = below.subplots(1, 3, width_ratios=(1.5, 1.25, 1.0))
    draw_losses(curves, runs)
    draw_finals(finals, runs)
    draw_depth(against, depths)
    figure.savefig(path, dpi=110)


def draw_histogram(axes: Any, seen: list[OptimizerStep], what: str) -> Any:
    """Each step a column; the line is the median."""
    counts = np.array([getattr(one, what).counts for one in seen], dtype=float).T
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    steps = np.arange(len(seen) + 1) + 0.5
    image = axes.pcolormesh(steps, bin_edges(), shares, cmap="Blues", norm=PowerNorm(0.6, vmin=0, vmax=0.3))
    medians = [math.log10(max(getattr(one, what).median, 1e-12)) for one in seen]
    axes.plot(range(1, len(seen) + 1), medians, color="#c0392b", linewidth=1.2)
    return image


def draw_losses(axes: Any, runs: dict[str, list[Training]]) -> None:
    """Every seed thin, their mean thick, smoothed over ten steps."""
    for name, case in CASES.items():
        curves = np.array([np.convolve(run.losses, np.ones(10) / 10, "valid") for run in runs[name]])
        steps = np.arange(curves.shape[1]) + 5
        axes.plot(steps, curves.T, color=case.colour, linewidth=0.6, alpha=0.35)
        axes.plot(steps, curves.mean(axis=0), color=case.colour, linewidth=2.2, label=case.title)
    axes.axhline(GUESSING, color="0.4", linewidth=1, linestyle=":")
    axes.text(STEPS, 1.02 * GUESSING, "guessing", color="0.35", fontsize=8.5, ha="right")
    axes.set(ylim=(0, 1.6 * GUESSING), xlabel="step", ylabel="loss", title="training loss, each seed and their mean")
    axes.legend(fontsize=8.5, frameon=False, loc="upper right", ncols=2)


def draw_finals(axes: Any, runs: dict[str, list[Training]]) -> None:
    """Every seed a dot, their mean a bar."""
    for place, (name, case) in enumerate(CASES.items()):
        finals = [run.final for run in runs[name]]
        axes.plot(finals, [place] * len(finals), "o", color=case.colour, alpha=0.65, markersize=7)
        axes.plot([np.mean(finals)] * 2, [place - 0.28, place + 0.28], color=case.colour, linewidth=2.5)
    axes.axvline(GUESSING, color="0.4", linewidth=1, linestyle=":")
    axes.text(GUESSING, -0.4, "guessing ", color="0.35", fontsize=8.5, ha="right", va="center")
    axes.set_yticks(range(len(CASES)), [case.title for case in CASES.values()], fontsize=8.5)
    axes.invert_yaxis()
    axes.set(xlim=(-0.05, None), xlabel=f"loss, mean of the last {LAST} steps", title="final losses")


def draw_depth(axes: Any, depths: dict[str, list[float]]) -> None:
    """Points and fitted lines on two logarithmic axes."""
    for order, colour in (("post", CASES["warm"].colour), ("pre", CASES["pre"].colour)):
        exponent = slope(depths[order])
        height = np.exp(np.mean(np.log(depths[order])) - exponent * np.mean(np.log(DEPTHS)))
        axes.loglog(DEPTHS, depths[order], "o", color=colour)
        axes.loglog(
            DEPTHS, height * np.array(DEPTHS) ** exponent, color=colour, label=f"{order}-norm: {power(exponent)}"
        )
    axes.set_xticks(DEPTHS, [str(depth) for depth in DEPTHS])
    axes.set_yticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
    axes.minorticks_off()
    axes.set(xlabel="layers L", ylabel="gradient norm, last layer", title="before training, against depth")
    axes.legend(fontsize=9, frameon=False)


def page(runs: dict[str, list[Training]], depths: dict[str, list[float]], *, minutes: float) -> str:
    """The table, and what it says about the literature."""
    finals = {name: [run.final for run in runs[name]] for name in CASES}
    lines = [
        "# Why warm-up",
        "",
        f"A Transformer of 4 + 4 layers, width 64, learns to reverse strings of {LENGTH} letters. It is trained in "
        f"five ways with {STEPS} steps of Adam (β₂ = .999), a learning rate of {COMMON['train.lr']:g} that decays "
        f"linearly to zero, Xavier initialization unless stated otherwise, and {SEEDS} seeds. This page was written on "
        f"{date.today().isoformat()} in {minutes:.0f} minutes by",
        "",
        "```",
        "python benchmarks/why_warmup.py",
        "```",
        "",
        "![Histograms of gradients and updates, losses, and gradient norm against depth](images/why-warmup.png)",
        "",
        "Top: histograms of the absolute gradients and updates of all weights at each of the first steps (seed 0; the "
        "line is the median). Bottom: the losses, and the gradient norm of the last layer before training.",
        "",
        f"| | final loss of each seed (uniform guess: {GUESSING:.2f}) | mean | median gradient at step 1, 10, 100 | "
        "median update at step 1, 10, 100 |",
        "|---|---|---|---|---|",
    ]
    for name, case in CASES.items():
        lines.append(
            f"| {case.title} | {' '.join(f'{final:.2f}' for final in finals[name])} | {np.mean(finals[name]):.2f} "
            f"| {medians(runs[name], 'gradients')} | {medians(runs[name], 'updates')} |"
        )
    lines += ["", "Gradient norm of the last layer before training, mean of five seeds:", ""]
    lines += [f"| layers | {' | '.join(map(str, DEPTHS))} | slope |", "|---|" + "---|" * (len(DEPTHS) + 1)]
    for order, norms in depths.items():
        row = " | ".join(f"{norm:.2f}" for norm in norms)
        lines.append(f"| {order}-norm | {row} | {power(slope(norms))} |")
    lines += ["", "## Claims of the literature, and results here", ""]
    lines += [f"- {claim} **{verdict}.** {found}" for claim, verdict, found in findings(runs, finals, depths)]
    return "\n".join([*lines, "", CHOSEN, ""])


def medians(runs: list[Training], what: str) -> str:
    """Of steps 1, 10 and 100, over the seeds."""
    places = (0, 9, WATCHED - 1)
    return ", ".join(f"{geometric([getattr(run.seen[place], what).median for run in runs]):.0e}" for place in places)


def geometric(numbers: list[float]) -> float:
    """The mean of sizes."""
    return float(np.exp(np.mean(np.log(np.maximum(numbers, 1e-12)))))


def findings(
    runs: dict[str, list[Training]], finals: dict[str, list[float]], depths: dict[str, list[float]]
) -> list[tuple[str, str, str]]:
    """Each claim, whether it is reproduced, and the numbers."""
    post, pre = slope(depths["post"]), slope(depths["pre"])
    kept = {
        name: geometric([run.seen[19].gradients.median / run.seen[0].gradients.median for run in runs[name]])
        for name in ("post", "warm", "radam")
    }
    return [
        (
            "At initialization the gradient near the output does not depend on the depth in post-norm and falls as "
            "1/√L in pre-norm (Xiong et al., 2020).",
            said(abs(post) < 0.1 and abs(pre + 0.5) < 0.1),
            f"Here: {power(post)} and {power(pre)}.",
        ),
        (
            "Without warm-up the gradients become far smaller within Adam's first steps; a warm-up prevents it "
            "(Liu et al., 2020, fig. 2).",
            said(kept["post"] < 0.1 * kept["warm"]),
            f"At step 20 the median gradient of post-norm is {kept['post']:.0%} of that at step 1 without warm-up, "
            f"{kept['warm']:.0%} with it, {kept['radam']:.0%} with RAdam.",
        ),
        (
            "Post-norm needs a warm-up (Popel & Bojar, 2018; Xiong et al., 2020).",
            said(lower(finals["warm"], finals["post"])),
            compared(finals, "warm", "post"),
        ),
        (
            "RAdam needs no warm-up (Liu et al., 2020).",
            without(finals, "radam"),
            compared(finals, "radam", "warm"),
        ),
        (
            "Pre-norm needs no warm-up (Xiong et al., 2020).",
            without(finals, "pre"),
            compared(finals, "pre", "warm"),
        ),
        (
            "T-Fixup needs neither norm nor warm-up (Huang et al., 2020).",
            without(finals, "fixup"),
            compared(finals, "fixup", "warm"),
        ),
    ]


def said(holds: bool) -> str:
    return "Reproduced" if holds else "Not reproduced"


def without(finals: dict[str, list[float]], name: str) -> str:
    """Whether a way without warm-up is better than plain post-norm, and no worse than post-norm with one."""
    if lower(finals[name], finals["post"]) and lower(finals["warm"], finals[name]):
        return "In part: far better than no warm-up, but worse than a warm-up"
    return said(lower(finals[name], finals["post"]))


def lower(these: list[float], those: list[float]) -> bool:
    """By more than twice the standard error of the difference of the means."""
    error = math.sqrt(np.var(these, ddof=1) / len(these) + np.var(those, ddof=1) / len(those))
    return bool(np.mean(these) < np.mean(those) - 2 * error)


def compared(finals: dict[str, list[float]], these: str, those: str) -> str:
    means = [f"{CASES[name].title}: {np.mean(finals[name]):.2f}" for name in (these, those)]
    return f"Mean final losses: {means[0]}; {means[1]}."


def main() -> int:
    torch.set_num_threads(1)
    started = time.perf_counter()
    depths = {order: sweep(order) for order in ("post", "pre")}
    runs: dict[str, list[Training]] = {name: [] for name in CASES}
    for seed in range(SEEDS):
        for name, case in CASES.items():
            runs[name].append(train(case, seed))
            print(f"seed {seed}  {case.title:30} final loss {runs[name][-1].final:.3f}", flush=True)
    draw(runs, depths, DOCS / "images" / "why-warmup.png")
    text = page(runs, depths, minutes=(time.perf_counter() - started) / 60)
    (DOCS / "why-warmup.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
