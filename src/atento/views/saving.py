"""What is shown, kept: a page, a picture or the numbers themselves, by the name of the file."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from atento.bundle import write_atomically, write_json
from atento.errors import InputError
from atento.views.attention.images import KINDS

ENDINGS = (".html", *KINDS, ".json")

View = Mapping[str, Any]  # what is shown, as plain data


def save_view(
    view: View,
    path: str | Path,
    *,
    page: Callable[[View], str],
    picture: Callable[[View, Path], object],
    endings: Sequence[str] = ENDINGS,
) -> Path:
    """Write it as its name says; any other name is refused with those that could be."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in endings:
        raise InputError(f"{path}: the name must end in one of these.", found=path.name, fix=", ".join(endings))
    if kind in KINDS:
        picture(view, path)
    elif kind == ".json":
        write_json(path, view)
    else:
        write_atomically(path, page(view).encode())
    return path
