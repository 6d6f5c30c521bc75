"""What Python users give as data: paths, rows in memory, and texts to be answered."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from atento.api.advice import advice_in, in_python
from atento.data.files.memory import MemoryFile, is_in_memory
from atento.data.records import join_items
from atento.data.sources.in_memory import hold, is_missing, require_path
from atento.errors import InputError
from atento.spec.recipe import Settings

FILES = ("data.valid", "data.test")  # settings that may hold data themselves
TEXTS = ("text", "documents", "two texts", "words")  # kinds of sources that are texts
LISTS = ("two texts", "words")  # kinds of sources whose texts are lists, with tabs between


@contextmanager
def as_source(data: Any) -> Iterator[str]:
    """The name of the data: its path, or that of a file in memory, which is there within this context."""
    if isinstance(data, str | Path):
        with advice_in(in_python):
            if not is_in_memory(data):
                require_path(str(data))
            yield str(data)
        return
    held = hold(data)
    with advice_in(in_python), advice_in(partial(count_from_zero, held.name)):
        yield held.name


@contextmanager
def as_settings(settings: Settings) -> Iterator[Settings]:
    """The settings with names for data that they hold."""
    if not isinstance(settings, Mapping):
        yield settings
        return
    held: list[MemoryFile] = []
    named = dict(settings)
    for key in FILES:
        if key in named and not isinstance(named[key], str):
            if isinstance(named[key], Path):
                named[key] = str(named[key])
            else:
                held.append(hold(named[key]))
                named[key] = held[-1].name
    yield named


def count_from_zero(name: str, text: str) -> str:
    """Lines of a file in memory as rows: `DataFrame.jsonl:7:1` is `DataFrame, row 6`."""
    path = Path(name)
    place = re.compile(rf"{re.escape(path.name)}:(\d+)(?::\d+)?")
    return place.sub(lambda found: f"{path.stem}, row {int(found[1]) - 1}", text)


def texts_given(sources: Any, kind: str) -> list[str] | None:
    """Texts to be answered as a model of that kind reads them; None where the sources are rows with columns."""
    if isinstance(sources, str):
        return [require_filled(sources, 0)]
    column = nw.from_native(sources, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        sources = column.to_list()
    if isinstance(sources, np.ndarray):
        sources = sources.tolist()
    if isinstance(sources, bytes | Mapping) or not isinstance(sources, Iterable) or isinstance(column, nw.DataFrame):
        return None
    cells = list(sources)
    if kind in LISTS:
        cells = [join_items(cell) if isinstance(cell, list | tuple) and are_texts(cell) else cell for cell in cells]
    rows = kind not in TEXTS or all(isinstance(cell, Mapping | list | tuple) for cell in cells)
    if rows and not any(isinstance(cell, str) for cell in cells):
        return None
    return [require_filled(cell, at) for at, cell in enumerate(cells)]


def are_texts(cells: Iterable[Any]) -> bool:
    """Whether all are texts."""
    return all(isinstance(cell, str) for cell in cells)


def require_filled(cell: Any, at: int) -> str:
    """A text that is there."""
    if isinstance(cell, str) and cell.strip():
        return cell
    problem = "is empty" if isinstance(cell, str) else "is missing" if is_missing(cell) else "is no text"
    raise InputError(f"source {at} {problem}.", found=repr(cell)[:60], fix="give a text there, or leave the row out")
