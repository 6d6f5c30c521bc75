"""A live picture: one frame for every position of its sliders, computed once and drawn by a script or by matplotlib."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from atento.bundle import Json
from atento.errors import InputError
from atento.views.figures import FORMATS
from atento.views.html import document, embed, joined, tag
from atento.views.live.figure import picture_figure
from atento.views.live.panels import Note, Panel, plain
from atento.writing import write_atomically

LANGUAGES = ("en", "es")
STYLES = ("web/live/live.css",)
MOST_FRAMES = 1000
MARGIN = 0.05  # of the range of an axis
Drawn = Panel | Note | Sequence[Panel | Note]


@dataclass(frozen=True)
class Slider:
    """A knob of a picture: its name, the values it stops at, and where it starts (the first value if not said)."""

    name: str
    values: Sequence[Any]
    start: Any = None

    @property
    def first(self) -> int:
        """The place of the value at which it starts."""
        return 0 if self.start is None else list(self.values).index(self.start)

    def to_json(self) -> Json:
        """The slider for the script: numbers stay numbers, all else is text."""
        stops = [plain([stop])[0] if isinstance(stop, int | float | np.number) else str(stop) for stop in self.values]
        return {"name": self.name, "stops": stops, "start": self.first}


class LivePicture:
    """Frames that sliders and a play button choose: `LivePicture(draw, Slider("lag", range(1, 20)))`.

    `draw` gets one value of each slider and returns a panel, or a list of panels and of one `Note`. Scales are shared
    by all frames, so that nothing jumps. `words` holds translations by language: {"es": {"lag": "retardo"}}.
    """

    def __init__(
        self,
        draw: Callable[..., Drawn],
        *sliders: Slider,
        title: str = "",
        caption: str = "",
        words: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        if not 0 < prod(len(slider.values) for slider in sliders) <= MOST_FRAMES or len(sliders) > 2:
            found = " × ".join(str(len(slider.values)) for slider in sliders)
            problem = f"a picture has at most two sliders and 1 to {MOST_FRAMES} frames."
            raise InputError(problem, found=f"{len(sliders)} sliders, {found} frames", fix="give fewer values")
        self.sliders, self.title, self.caption, self.words = sliders, title, caption, dict(words or {})
        drawn = [draw(*values) for values in product(*(slider.values for slider in sliders))]
        frames = [[one] if isinstance(one, Panel | Note) else list(one) for one in drawn]
        self.frames = [[part.content for part in frame if isinstance(part, Panel)] for frame in frames]
        self.notes = [[part for part in frame if isinstance(part, Note)] for frame in frames]
        share_limits(self.frames)

    @property
    def start(self) -> int:
        """The frame that is shown first, and in a figure."""
        place = 0
        for slider in self.sliders:
            place = place * len(slider.values) + slider.first
        return place

    def note(self, frame: int, language: str) -> str:
        """The sentence under a frame."""
        words = self.words.get(language, {})
        return " ".join(note.written(words, language) for note in self.notes[frame])

    def to_json(self) -> Json:
        """The picture for the script: every different panel once, and for each frame the numbers of its panels."""
        pool: dict[str, int] = {}
        places = [[pool.setdefault(json.dumps(one), len(pool)) for one in frame] for frame in self.frames]
        notes = {name: [self.note(at, name) for at in range(len(self.frames))] for name in LANGUAGES}
        return {
            "title": self.title,
            "caption": self.caption,
            "sliders": [slider.to_json() for slider in self.sliders],
            "panels": [json.loads(text) for text in pool],
            "frames": places,
            "notes": notes if any(map(any, notes.values())) else {},
            "words": self.words,
        }

    def page(self, language: str | None = None) -> str:
        """A page of its own that works offline; without a language it follows the browser, with a button to change."""
        data = self.to_json() | {"language": language}
        title = self.words.get(language or "", {}).get(self.title, self.title) or "live picture"
        noscript = tag("noscript", tag("p", title), tag("p", "This picture needs JavaScript."))
        body = joined(tag("main", id="live"), noscript, embed(data, name="live-picture"))
        return document(title, body, groups=["live"], styles=STYLES, language=language or "en")

    def save(self, path: str | Path, *, language: str = "en") -> Path:
        """Write the picture as a page (.html) or its first frame as a figure (.png, .svg, .pdf)."""
        path = Path(path)
        if path.suffix == ".html":
            write_atomically(path, self.page(language).encode())
        elif path.suffix in FORMATS:
            words = self.words.get(language, {})
            note = self.note(self.start, language)
            picture_figure(self.frames[self.start], path, note=note, words=words, language=language)
        else:
            endings = (".html", *FORMATS)
            fix = f"name it {path.with_suffix('.html')}"
            raise InputError(f"{path}: the name must end in {' or '.join(endings)}.", found=path.name, fix=fix)
        return path

    def _repr_html_(self) -> str:
        """The page in a frame of its own: nothing outside it is styled, read or run."""
        title = self.title or "live picture"
        return tag("iframe", srcdoc=self.page(), width="100%", height=self.height, style="border:0", title=title)

    @property
    def height(self) -> int:
        """The height in pixels that suits a frame as wide as a column of text."""
        shown = self.frames[self.start]
        cells = sum(40 * len(one["rows"]) + 30 * bool(one["title"]) for one in shown if one["kind"] == "cells")
        others = any(one["kind"] != "cells" for one in shown)
        return 190 + 40 * len(self.sliders) + 30 * any(self.notes) + cells + 350 * others


def share_limits(frames: Sequence[Sequence[Json]]) -> None:
    """Give the panels at one place of all frames the same scales: the given ones, else those that hold every value."""
    for column in zip(*frames, strict=True):
        for axis in column[0]["given"]:
            chosen = next((one["given"][axis] for one in column if one["given"].get(axis)), None)
            limits = list(chosen) if chosen else around([value for one in column for value in values_of(one, axis)])
            if not chosen and column[0]["kind"] == "chart" and (axis == "y" or not column[0]["series"][0]["line"]):
                limits = with_margin(limits, log=column[0][f"log_{axis}"])
            for one in column:
                one.setdefault("limits", {})[axis] = limits
        for one in column:
            del one["given"]


def values_of(panel: Json, axis: str) -> Iterable[float]:
    """Every number of a panel on one axis: x, y, or v of shades."""
    log = panel.get(f"log_{axis}", False)
    if panel["kind"] == "heat":
        rows = panel["values"]
    else:
        rows = [one[axis if axis == "x" else "y"] for one in panel["rows" if panel["kind"] == "cells" else "series"]]
    found = [value for row in rows for value in row if value is not None and (value > 0 or not log)]
    if panel["kind"] in ("bars", "heat", "cells"):
        found.append(0.0)
    if panel.get("diverging"):
        found += [-value for value in found]
    return found


def with_margin(limits: Sequence[float], *, log: bool) -> list[float]:
    """Limits with some room, so that no mark is cut; 0 as a lower limit stays."""
    low, high = limits
    if log:
        room = (high / low) ** MARGIN
        return [low / room, high * room]
    room = MARGIN * (high - low)
    return [low if low == 0 else low - room, high + room]


def around(values: Sequence[float]) -> list[float]:
    """Limits that hold all values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    return [low, high] if high > low else [low - 0.5, high + 0.5]
