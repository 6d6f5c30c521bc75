"""Videos as series: an array of time × height × width, or a folder of numbered images; a channel is a pixel.

A pixel's channel is named by its row and column, `3,17`, so that the names give the shape of a frame.
"""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atento.data.files.image_names import IMAGE_FORMATS
from atento.data.images.loading import load_image
from atento.data.series.series import Frequency, Series, SeriesSet
from atento.errors import InputError, is_machine_fault
from atento.spec import DataRecipe

# Axes: T time, H height, W width.

ARRAYS = (".npy", ".npz")
NUMBER = re.compile(r"(\d+)\D*$")  # the last number of a name
SIDE = 24  # to which images are scaled
MOST_NUMBERS = 10**9
BYTE = 255.0


def is_video(file: str) -> bool:
    """Whether a source is a folder with images in it, or an array with three axes."""
    path = Path(file)
    if path.is_dir():
        return any(entry.suffix.lower() in IMAGE_FORMATS for entry in path.iterdir())
    return path.suffix.lower() in ARRAYS and path.is_file() and len(open_array(path).shape) == 3


def read_video(recipe: DataRecipe, file: str) -> SeriesSet:
    """The video of a file or folder as one series; values that are not finite are refused."""
    path = Path(file)
    if path.is_dir():
        frames, notes = read_frames(recipe, path)
    else:
        frames, notes = np.asarray(open_array(path), dtype=np.float64), ()
    if frames.size > MOST_NUMBERS:
        raise InputError(f"{file}: the video is too large.", found=f"{frames.size:,} pixels", fix="make frames smaller")
    strange = np.argwhere(~np.isfinite(frames))
    if len(strange):
        frame, row, column = (int(number) for number in strange[0])
        raise InputError(
            f"{file}: frame {frame}, row {row}, column {column} is not a finite number.",
            found=f"{frames[frame, row, column]}, and {len(strange) - 1} more such pixels",
            fix="fill or leave out these frames",
        )
    return video_series(path.name, frames, notes)


def video_series(name: str, frames: NDArray[np.float64], notes: tuple[str, ...] = ()) -> SeriesSet:
    """Frames (T, H, W) as one series of H·W channels."""
    count, height, width = frames.shape
    channels = tuple(f"{row},{column}" for row in range(height) for column in range(width))
    series = Series("", frames.reshape(count, -1), np.zeros((count, 0)))
    note = f"a video of {count:,} frames, {height} × {width} pixels"
    return SeriesSet(name, (series,), channels, (), Frequency(1, ""), 1, (), (note, *notes))


def frame_shape(channels: tuple[str, ...]) -> tuple[int, int]:
    """Height and width by the names of a video's channels; (0, 0) where these are no pixels."""
    last = re.fullmatch(r"(\d+),(\d+)", channels[-1]) if channels else None
    if last is None or channels[0] != "0,0":
        return 0, 0
    height, width = int(last[1]) + 1, int(last[2]) + 1
    return (height, width) if height * width == len(channels) else (0, 0)


def open_array(path: Path) -> NDArray[np.float64]:
    """The array of numbers of a file; of several, the only one with three axes."""
    try:
        found = np.load(path, mmap_mode="r" if path.suffix.lower() == ".npy" else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        if is_machine_fault(error):
            raise
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
        videos = [name for name, one in arrays.items() if one.ndim == 3]
        if len(videos) > 1:
            raise InputError(
                f"{path}: several arrays have three axes.", found=", ".join(videos), fix="save the video alone"
            )
        array = arrays[videos[0]] if videos else np.zeros(0)
    if array.dtype.kind not in "buif":
        raise InputError(f"{path}: a video is an array of numbers.", found=f"dtype {array.dtype}", fix="save numbers")
    return array


def read_frames(recipe: DataRecipe, folder: Path) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Images in the order of the numbers in their names, in greyscale from 0 to 1 (T, S, S), and a note."""
    numbered: dict[int, Path] = {}
    for entry in sorted(folder.iterdir()):
        if entry.suffix.lower() not in IMAGE_FORMATS:
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
    missing = next((before + 1 for before, after in pairwise(order) if after != before + 1), None)
    if missing is not None:
        raise InputError(
            f"{folder}: frame {missing} is missing.",
            found=f"{len(order)} frames from {order[0]} to {order[-1]}",
            fix="give every frame, numbered without gaps",
        )
    side = recipe.image_size or SIDE
    upright, largest = recipe.exif_rotation == "yes", recipe.max_megapixels
    frames = [load_image(str(numbered[at]), side=side, upright=upright, largest=largest) for at in order]
    grey = np.stack(frames).astype(np.float64).mean(axis=-1) / BYTE  # (T, S, S)
    return grey, (f"images scaled to {side} × {side} pixels in greyscale (data.image_size= changes it)",)
