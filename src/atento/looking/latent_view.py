"""A latent path: where windows or frames, one after the other, lie when pressed to a few numbers; as plain data, on a
terminal, as a page or a picture.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.looking.document import document
from atento.looking.latent_picture import draw_latents, latent_picture
from atento.looking.markup import tag
from atento.looking.saving import View, save_view

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
