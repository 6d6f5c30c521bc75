"""The path of latents: what an autoencoder encodes consecutive windows or frames as, and what it reconstructs of them.

`latent_view` gathers the numbers, `latent_text` writes them for a terminal; below stand the page and the figure.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from atento.views.figures import format_of, light_grid, new_figure
from atento.views.html import page, tag
from atento.views.saving import ModelView, rounded, save_view
from atento.writing import write_atomically

# Axes: T time, Z latent, N windows shown, L rows of a window, C channels.

Numbers = NDArray[np.float64]

SHOWN = 3  # coordinates
MAX_POINTS = 3000  # of each part of the path
TRAIN_COLOUR, TEST_COLOUR = "0.7", "C0"
PANEL = 3.6  # inches
STRIP = 1.3


@dataclass(frozen=True, kw_only=True)
class LatentPlane:
    """The path in one plane, as points (x, y), in training time and in test time."""

    across: str
    up: str
    train: list[list[float]]
    test: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class LatentView(ModelView):
    """The path of the latents, and some windows beside their reconstructions."""

    data: str = ""
    latent: int  # numbers of a latent
    planes: list[LatentPlane]
    times: list[list[float]]  # each coordinate against time, in test time
    frame: list[int]  # height and width of a frame; 0 and 0 where windows are no frames
    channel: str  # of windows that are no frames
    windows: list[Any]  # frames (height, width), or one channel (L,) of each window
    reconstructed: list[Any]
    facts: dict[str, float]

    @property
    def is_film(self) -> bool:
        """Whether the windows are frames."""
        return all(self.frame)


def latent_view(
    train: Numbers,
    test: Numbers,
    windows: Numbers,
    reconstructed: Numbers,
    *,
    frame: tuple[int, int] = (0, 0),
    channels: Sequence[str] = (),
    facts: Mapping[str, float] | None = None,
    model: str = "",
    data: str = "",
) -> LatentView:
    """train (T, Z) is the path in training time, test (T', Z) in test time; windows and reconstructed (N, L, C)."""
    names = [f"z{at + 1}" for at in range(train.shape[1])][:SHOWN]
    return LatentView(
        model=model,
        data=data,
        latent=train.shape[1],
        planes=[
            LatentPlane(
                across=names[0],
                up=name,
                train=rounded(train[-MAX_POINTS:, [0, at]]),
                test=rounded(test[-MAX_POINTS:, [0, at]]),
            )
            for at, name in enumerate(names)
            if at
        ],
        times=[rounded(test[:MAX_POINTS, at]) for at in range(len(names))],
        frame=list(frame),
        channel=channels[0] if channels and not all(frame) else "",
        windows=[rounded(one) for one in shown_of(windows, frame)],
        reconstructed=[rounded(one) for one in shown_of(reconstructed, frame)],
        facts={name: round(float(value), 4) for name, value in (facts or {}).items()},
    )


def shown_of(windows: Numbers, frame: tuple[int, int]) -> list[Numbers]:
    """The last frame (height, width) of each window; else the first channel (L,) of each."""
    return [one[-1].reshape(frame) if all(frame) else one[:, 0] for one in windows]


def latent_text(view: LatentView, *, width: int = 80) -> str:
    """The size of the latent, and the facts about the path."""
    lines = [f"{view.model or 'the model'} encodes {view.data or 'its data'} as {view.latent} numbers"]
    label = max(map(len, view.facts), default=0)
    return "\n".join([*lines, *(f"{name:<{label}}  {value:.4f}" for name, value in view.facts.items())])


def save_latents(view: LatentView, path: str | Path) -> Path:
    """Save a page, a figure or JSON, by the name of the file."""

    def figure(view: LatentView, path: Path) -> None:
        drawn = BytesIO()
        draw_latents(view, drawn, format_of(path))
        write_atomically(path, drawn.getvalue())

    return save_view(view, path, page=render_latents, figure=figure)


def render_latents(view: LatentView) -> str:
    """A single HTML file with the figure in it, and the facts below."""
    drawn = BytesIO()
    draw_latents(view, drawn, ".png")
    source = f"data:image/png;base64,{b64encode(drawn.getvalue()).decode()}"
    name = view.model or "the model"
    opening = [tag("p", f"{name} encodes each window as {view.latent} numbers", class_="verdict")]
    rows = [tag("tr", tag("th", fact, scope="row"), tag("td", f"{value:.4f}")) for fact, value in view.facts.items()]
    body = tag(
        "section",
        tag("figure", tag("img", src=source, alt="the path of the latents, and windows beside their reconstructions")),
        tag("table", tag("tbody", *rows)),
        id="latents",
    )
    return page(f"{name}: latents", f"the latents of {name} on {view.data or 'its data'}", opening, body)


def draw_latents(view: LatentView, target: BinaryIO, suffix: str) -> None:
    """Draw the path in its planes, and below it some windows with their reconstructions, into a buffer."""
    columns = max(1, len(view.planes))
    rows = 2 if view.is_film else 1
    heights = [PANEL] * bool(view.planes) + [STRIP] * rows
    with new_figure(target, suffix, size=(max(2, columns) * PANEL + 0.6, sum(heights) + 0.9)) as figure:
        facts = ", ".join(f"{name} {value:.3f}" for name, value in view.facts.items())
        figure.suptitle(f"{view.model or 'the model'}: {facts}", fontsize=11, parse_math=False)
        whole = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        if view.planes:
            inner = whole[0].subgridspec(1, columns)
            for at, plane in enumerate(view.planes):
                draw_plane(figure.add_subplot(inner[0, at]), plane, first=at == 0)
        for row in range(rows):
            strip = whole[len(heights) - rows + row].subgridspec(1, max(1, len(view.windows)))
            for at in range(len(view.windows)):
                draw_window(figure.add_subplot(strip[0, at]), view, at, row, first=at == 0)


def draw_plane(axes: Any, plane: LatentPlane, *, first: bool) -> None:
    """Draw the path in training time, in grey, and in test time over it."""
    for points, colour, label in (
        (plane.train, TRAIN_COLOUR, "training time"),
        (plane.test, TEST_COLOUR, "test time"),
    ):
        axes.plot([x for x, _ in points], [y for _, y in points], color=colour, linewidth=0.6, label=label)
    axes.set_xlabel(plane.across)
    axes.set_ylabel(plane.up)
    if first:
        axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize=8)
    light_grid(axes)


def draw_window(axes: Any, view: LatentView, at: int, row: int, *, first: bool) -> None:
    """Draw a frame (row 0) or its reconstruction (row 1); or a window with its reconstruction over it."""
    original, reconstructed = view.windows[at], view.reconstructed[at]
    if view.is_film:
        largest = max(max(line) for line in original)
        axes.imshow((original, reconstructed)[row], cmap="gray", vmin=0, vmax=largest, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        if first:
            axes.set_ylabel(("original", "reconstructed")[row])
        return
    axes.plot(original, color="0.6", linewidth=2.4, label="original")
    axes.plot(reconstructed, color=TEST_COLOUR, linewidth=1.0, label="reconstructed")
    if first:
        axes.set_ylabel(view.channel, parse_math=False)
        axes.legend(frameon=False, fontsize=7, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    axes.tick_params(labelsize=7)
    light_grid(axes)
