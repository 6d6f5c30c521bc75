"""Films as series: an array of time × height × width, or a folder of numbered pictures; a channel is a pixel.

A pixel's channel is named by its row and column, `3,17`, so that whoever has the names knows the frame."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atento.data.files.image_names import ENDINGS
from atento.data.images.loading import load_picture
from atento.data.series.series import Series, SeriesSet, Step
from atento.errors import InputError
from atento.spec import DataRecipe

# Axes: T time, H height, W width.

ARRAYS = (".npy", ".npz")
NUMBER = re.compile(r"(\d+)\D*$")  # the last number of a name
PIXELS = 24  # a side to which pictures are brought
MOST_NUMBERS = 10**9
BYTE = 255.0


def is_film(file: str) -> bool:
    """A folder with pictures in it, or an array with three axes."""
    path = Path(file)
    if path.is_dir():
        return any(entry.suffix.lower() in ENDINGS for entry in path.iterdir())
    return path.suffix.lower() in ARRAYS and path.is_file() and len(open_array(path).shape) == 3


def read_film(recipe: DataRecipe, file: str) -> SeriesSet:
    """The film of a file or folder as one series; frames that are missing or not finite are named."""
    path = Path(file)
    if path.is_dir():
        frames, notes = read_pictures(recipe, path)
    else:
        frames, notes = np.asarray(open_array(path), dtype=np.float64), ()
    if frames.size > MOST_NUMBERS:
        raise InputError(f"{file}: the film is too large.", found=f"{frames.size:,} pixels", fix="make frames smaller")
    strange = np.argwhere(~np.isfinite(frames))
    if len(strange):
        frame, row, column = (int(number) for number in strange[0])
        raise InputError(
            f"{file}: frame {frame}, row {row}, column {column} is not a finite number.",
            found=f"{frames[frame, row, column]}, and {len(strange) - 1} more such pixels",
            fix="fill or leave out these frames",
        )
    return film_of(path.name, frames, notes)


def film_of(name: str, frames: NDArray[np.float64], notes: tuple[str, ...] = ()) -> SeriesSet:
    """Frames (T, H, W) as one series of H·W channels."""
    count, height, width = frames.shape
    channels = tuple(f"{row},{column}" for row in range(height) for column in range(width))
    series = Series("", frames.reshape(count, -1), np.zeros((count, 0)))
    note = f"a film of {count:,} frames, {height} × {width} pixels"
    return SeriesSet(name, (series,), channels, (), Step(1, ""), 1, (), (note, *notes))


def frame_shape(channels: tuple[str, ...]) -> tuple[int, int]:
    """Height and width by the names of a film's channels; (0, 0) where these are no pixels."""
    last = re.fullmatch(r"(\d+),(\d+)", channels[-1]) if channels else None
    if last is None or channels[0] != "0,0":
        return 0, 0
    height, width = int(last[1]) + 1, int(last[2]) + 1
    return (height, width) if height * width == len(channels) else (0, 0)


def open_array(path: Path) -> NDArray[np.float64]:
    """The array of a file, where it is of numbers; of several, the only one with three axes."""
    try:
        found = np.load(path, mmap_mode="r" if path.suffix.lower() == ".npy" else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"{path}: this is not an array of numbers.",
            found=str(error).partition("\n")[0][:80],
            fix="save it with numpy.save(path, frames)",
        ) from None
    if isinstance(found, np.ndarray):
        array = found
    else:
        with found:
            arrays = {name: found[name] for name in found.files}
        films = [name for name, one in arrays.items() if one.ndim == 3]
        if len(films) > 1:
            raise InputError(
                f"{path}: several arrays have three axes.", found=", ".join(films), fix="save the film alone"
            )
        array = arrays[films[0]] if films else np.zeros(0)
    if array.dtype.kind not in "buif":
        raise InputError(f"{path}: a film is made of numbers.", found=f"dtype {array.dtype}", fix="save numbers")
    return array


def read_pictures(recipe: DataRecipe, folder: Path) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Pictures in the order of the numbers in their names, in shades of grey from 0 to 1."""
    numbered: dict[int, Path] = {}
    for entry in sorted(folder.iterdir()):
        if entry.suffix.lower() not in ENDINGS:
            continue
        number = NUMBER.search(entry.stem)
        if number is None:
            raise InputError(f"{entry}: a frame's name has no number.", found=entry.name, fix="name it frame-0001.png")
        if int(number[1]) in numbered:
            raise InputError(
                f"{entry}: two frames have the number {int(number[1])}.",
                found=f"{numbered[int(number[1])].name}, {entry.name}",
                fix="keep one of them",
            )
        numbered[int(number[1])] = entry
    order = sorted(numbered)
    hole = next((before + 1 for before, after in pairwise(order) if after != before + 1), None)
    if hole is not None:
        raise InputError(
            f"{folder}: frame {hole} is missing.",
            found=f"{len(order)} frames from {order[0]} to {order[-1]}",
            fix="give every frame, numbered without a hole",
        )
    side = recipe.pixels or PIXELS
    upright, largest = recipe.upright == "yes", recipe.largest
    frames = [load_picture(str(numbered[at]), side=side, upright=upright, largest=largest) for at in order]
    grey = np.stack(frames).astype(np.float64).mean(axis=-1) / BYTE  # (T, S, S)
    return grey, (f"pictures brought to {side} × {side} pixels in shades of grey (data.pixels= changes it)",)
