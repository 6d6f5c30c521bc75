"""A latent path: where windows or frames, one after the other, lie when pressed to a few numbers; as plain data, on a
terminal, as a page or a picture.

A latent path, and some windows or frames beside what is written from it, as a picture file.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.views.attention.images import KINDS, SETTINGS, kind_of
from atento.views.html import document, tag
from atento.views.phase import plain
from atento.views.saving import View, save_view

BEFORE, HELD = "0.7", "C0"
PANEL = 3.6  # inches
STRIP = 1.3


def latent_picture(view: View, path: str | Path) -> Path:
    """Save the path in its planes, and below it windows as they are and as they are written again."""
    path = Path(path)
    draw_latents(view, path, kind_of(path))
    return path


def draw_latents(view: View, target: Any, kind: str) -> None:
    """The picture into a file or memory."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    planes, windows = view["planes"], view["windows"]
    columns = max(1, len(planes))
    rows = 2 if all(view["frame"]) else 1
    heights = [PANEL] * bool(planes) + [STRIP] * rows
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(max(2, columns) * PANEL + 0.6, sum(heights) + 0.9), layout="constrained")
        FigureCanvasAgg(figure)
        facts = ", ".join(f"{name} {value:.3f}" for name, value in view["facts"].items())
        figure.suptitle(f"{view['model'] or 'the model'}: {facts}", fontsize=11, parse_math=False)
        whole = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        if planes:
            inner = whole[0].subgridspec(1, columns)
            for at, plane in enumerate(planes):
                draw_plane(figure.add_subplot(inner[0, at]), plane, first=at == 0)
        for row in range(rows):
            strip = whole[len(heights) - rows + row].subgridspec(1, max(1, len(windows)))
            for at in range(len(windows)):
                draw_window(figure.add_subplot(strip[0, at]), view, at, row, first=at == 0)
        figure.savefig(target, format=kind[1:], **KINDS[kind])


def draw_plane(axes: Any, plane: Mapping[str, Any], *, first: bool) -> None:
    """The path in training time, thin and grey, and in test time over it."""
    for which, colour, words in (("before", BEFORE, "training time"), ("held", HELD, "test time")):
        points = plane[which]
        axes.plot([x for x, _ in points], [y for _, y in points], color=colour, linewidth=0.6, label=words)
    axes.set_xlabel(plane["across"])
    axes.set_ylabel(plane["up"])
    if first:
        axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize=8)
    plain(axes)


def draw_window(axes: Any, view: View, at: int, row: int, *, first: bool) -> None:
    """A frame above the one that is written from its latent; or a window with what is written over it."""
    true, written = view["windows"][at], view["recreated"][at]
    if all(view["frame"]):
        most = max(max(line) for line in true)
        axes.imshow((true, written)[row], cmap="gray", vmin=0, vmax=most, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        if first:
            axes.set_ylabel(("as it is", "recreated")[row])
        return
    axes.plot(true, color="0.6", linewidth=2.4, label="as it is")
    axes.plot(written, color=HELD, linewidth=1.0, label="recreated")
    if first:
        axes.set_ylabel(view["channel"], parse_math=False)
        axes.legend(frameon=False, fontsize=7, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    axes.tick_params(labelsize=7)
    plain(axes)


# Axes: T time, Z latent, N windows shown, L rows of a window, C channels.

Numbers = NDArray[np.float64]

SHOWN = 3  # coordinates
MOST = 3000  # places of each part of the path


def latent_view(
    before: Numbers,
    held: Numbers,
    windows: Numbers,
    recreated: Numbers,
    *,
    frame: tuple[int, int] = (0, 0),
    channels: Sequence[str] = (),
    facts: Mapping[str, float] | None = None,
    model: str = "",
    data: str = "",
) -> dict[str, Any]:
    """before (T, Z) is the path in training time, held (T', Z) in test time; windows and recreated (N, L, C)."""
    names = [f"z{at + 1}" for at in range(before.shape[1])][:SHOWN]
    return {
        "model": model,
        "data": data,
        "latent": before.shape[1],
        "planes": [
            {"across": names[0], "up": name, "before": rounded(before[-MOST:], at), "held": rounded(held[-MOST:], at)}
            for at, name in enumerate(names)
            if at
        ],
        "beside": [rounded_numbers(held[:MOST, at]) for at in range(len(names))],
        "frame": list(frame),
        "channel": channels[0] if channels and not all(frame) else "",
        "windows": [rounded_numbers(one) for one in shown_of(windows, frame)],
        "recreated": [rounded_numbers(one) for one in shown_of(recreated, frame)],
        "facts": {name: round(float(value), 4) for name, value in (facts or {}).items()},
    }


def shown_of(windows: Numbers, frame: tuple[int, int]) -> list[Numbers]:
    """Frames (H, W), the last of each window; else the first channel (L,) of each."""
    return [one[-1].reshape(frame) if all(frame) else one[:, 0] for one in windows]


def rounded(path: Numbers, at: int) -> Any:
    """Places (T, 2) of the first coordinate and another."""
    return rounded_numbers(path[:, [0, at]])


def rounded_numbers(values: Numbers) -> Any:
    """Five digits are more than a picture shows."""
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    return np.round(values.astype(np.float64), max(0, 4 - int(np.floor(np.log10(scale))))).tolist()


def latent_text(view: View, *, width: int = 80) -> str:
    """What is known of the path."""
    lines = [f"{view['model'] or 'the model'} presses {view['data'] or 'its data'} to {view['latent']} numbers"]
    label = max(map(len, view["facts"]), default=0)
    return "\n".join([*lines, *(f"{name:<{label}}  {value:.4f}" for name, value in view["facts"].items())])


def save_latents(view: View, path: str | Path) -> Path:
    """A page, a picture or JSON, by the name given."""
    return save_view(view, path, page=render_latents, picture=latent_picture)


def render_latents(view: View) -> str:
    """A single HTML file with the picture in it, and the numbers beside."""
    drawn = BytesIO()
    draw_latents(view, drawn, ".png")
    source = f"data:image/png;base64,{b64encode(drawn.getvalue()).decode()}"
    name = view["model"] or "the model"
    header = tag(
        "header",
        tag("p", f"atento · the latent path of {name} on {view['data'] or 'its data'}", class_="kicker"),
        tag("p", f"{name} presses each window to {view['latent']} numbers", class_="verdict"),
    )
    rows = [tag("tr", tag("th", fact, scope="row"), tag("td", f"{value:.4f}")) for fact, value in view["facts"].items()]
    body = tag(
        "section",
        tag("figure", tag("img", src=source, alt="the latent path, and windows beside what is written from it")),
        tag("table", tag("tbody", *rows)),
        id="latents",
    )
    return document(f"{name}: latent path", header, tag("main", body))
