"""Views: what is shown, as plain data, and how it is saved as a page, a figure or JSON by the name of the file."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from atento.bundle import Json, write_json
from atento.errors import InputError
from atento.reprs import repr_html
from atento.views.figures import FORMATS
from atento.writing import write_atomically

ENDINGS = (".html", *FORMATS, ".json")


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """What a page, a figure or a terminal shows of one model: numbers and texts, all of which fit in JSON."""

    model: str = ""

    def to_json(self) -> Json:
        """The view in dicts and lists."""
        return asdict(self)

    _repr_html_ = repr_html


V = TypeVar("V", bound=ModelView)


def save_view(
    view: V,
    path: str | Path,
    *,
    page: Callable[[V], str],
    figure: Callable[[V, Path], object],
    endings: Sequence[str] = ENDINGS,
) -> Path:
    """Write a view in the format that the name of the file ends in; any other ending is an error that lists them."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in endings:
        problem = f"{path}: the name must end in {' or '.join(endings)}."
        raise InputError(problem, found=path.name, fix=f"name it {path.with_suffix(endings[0])}")
    if suffix in FORMATS:
        figure(view, path)
    elif suffix == ".json":
        write_json(path, view.to_json())
    else:
        write_atomically(path, page(view).encode())
    return path


def rounded(values: NDArray[Any]) -> Any:
    """An array as lists of numbers with five digits, relative to the largest: more than a figure can show."""
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    return np.round(values.astype(np.float64), max(0, 4 - int(np.floor(np.log10(scale))))).tolist()
