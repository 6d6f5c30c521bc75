"""Time and memory against the length, measured on one core: docs/images/cost.png, and the table beside it.

    python benchmarks/cost_picture.py [--out docs/images/cost.png]

The kinds of attention and the walks of benchmarks/cost_table.py, forward + backward, one head or layer of 64, one
sequence, one thread: milliseconds of the processor (the fewest of some rounds) and bytes kept for the backward pass,
with the exponent of n over the three longest lengths. Needs matplotlib (the extra `figures`).
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import torch
from cost_table import KINDS, SIZE, WALKS, Reader, exponent, kept, seconds, some_items

LENGTHS = (256, 576, 1024, 2304, 4096)  # squares, so that √n is a stride
FITTED = 3  # of the lengths, from the longest, where what grows fastest outweighs the rest
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "cost.png"
COLOURS = {
    "dense, written out": "#8c1c13", "dense, fused": "#d1603d", "strided": "#c99700", "local": "#1f6f8b",
    "performer, causal": "#4c78a8", "linformer": "#88b7d5", "lstm": "#3d6b35", "gru": "#6aa84f",
    "mingru, scan": "#9a6fb0",
}  # fmt: skip


class Cost(NamedTuple):
    """What one kind takes at each length."""

    name: str
    milliseconds: list[float]
    megabytes: list[float]

    def exponents(self) -> tuple[float, float]:
        """Of time and of memory, over the longest lengths."""
        last = LENGTHS[-FITTED:]
        return exponent(last, self.milliseconds[-FITTED:]), exponent(last, self.megabytes[-FITTED:])


def measured(name: str) -> Cost:
    """One kind at every length."""
    times, sizes = [], []
    for length in LENGTHS:
        reader: Reader = KINDS[name].make(length, SIZE) if name in KINDS else WALKS[name].reader(length, SIZE)
        items = some_items(length, SIZE)
        times.append(seconds(reader, items, min) * 1e3)
        sizes.append(kept(reader, items) / 2**20)
    return Cost(name, times, sizes)


def apart(heights: list[float], least: float) -> list[float]:
    """Places of labels, from low to high, that are at least so far from each other, as near as can be to their own."""
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and bottom(groups[-1], least) - top(groups[-2], least) < least:
            last = groups.pop()
            groups[-1] += last
    return [bottom(group, least) + place * least for group in groups for place in range(len(group))]


def bottom(group: list[float], least: float) -> float:
    """The lowest place of labels that touch, which stand around the mean of their own."""
    return sum(group) / len(group) - least * (len(group) - 1) / 2


def top(group: list[float], least: float) -> float:
    """The highest one."""
    return bottom(group, least) + least * (len(group) - 1)


def draw(costs: list[Cost], out: Path) -> None:
    """Two panels, a line a kind, each with its name and exponent at its right end."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    titles = ("time, ms, forward + backward", "memory kept for the backward pass, MB")
    for place, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        draw_panel(panel, costs, place)
        panel.set_title(title, loc="left", fontsize=10)
    figure.savefig(out, dpi=130)


def draw_panel(panel: Any, costs: list[Cost], place: int) -> None:
    """The lines of time (0) or memory (1)."""
    ordered = sorted(costs, key=lambda cost: cost[1 + place][-1])
    logs = torch.tensor([cost[1 + place][-1] for cost in ordered]).log10()
    low, high = torch.tensor([one for cost in costs for one in cost[1 + place]]).log10().aminmax()
    heights = apart(logs.tolist(), float(high - low) * 0.055)
    for cost, height in zip(ordered, heights, strict=True):
        line = cost[1 + place]
        panel.plot(LENGTHS, line, color=COLOURS[cost.name], linewidth=1.6, marker="o", markersize=2.5)
        said = f"{cost.name}  n^{cost.exponents()[place]:.1f}"
        panel.annotate(
            said, (LENGTHS[-1], line[-1]), (LENGTHS[-1] * 1.12, 10**height), fontsize=8, color=COLOURS[cost.name],
            va="center", annotation_clip=False,
        )  # fmt: skip
    panel.set(xscale="log", yscale="log", xlabel="length n", xlim=(LENGTHS[0] * 0.9, LENGTHS[-1] * 4.2))
    panel.set_xticks(LENGTHS, [str(one) for one in LENGTHS], fontsize=8)
    panel.minorticks_off()
    panel.grid(alpha=0.25, linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PICTURE)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    costs = [measured(name) for name in COLOURS]
    print(
        "| kind | " + " | ".join(f"ms, n {n}" for n in LENGTHS) + " | exponent | " + f"MB, n {LENGTHS[-1]} | exponent |"
    )
    print("|---|" + "---|" * (len(LENGTHS) + 3))
    for cost in costs:
        time, memory = cost.exponents()
        line = " | ".join(f"{one:.3g}" for one in cost.milliseconds)
        print(f"| {cost.name} | {line} | {time:.2f} | {cost.megabytes[-1]:.3g} | {memory:.2f} |")
    draw(costs, options.out)


if __name__ == "__main__":
    main()
