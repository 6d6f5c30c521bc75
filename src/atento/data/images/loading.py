"""A picture as numbers: opened, turned upright, without transparency, all of it on a square of one size.

How large pictures are, and the side of the square they are all brought to.
"""

import io
import struct
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from atento.data.files.archives import part
from atento.data.files.image_names import ENDINGS, is_drawn
from atento.data.files.opening import missing, read_bytes
from atento.data.images.drawing import draw, parse_scene
from atento.errors import NO_SETTINGS, InputError

# Axes: S side, rows from the top and columns from the left; 3 channels: red, green, blue.

MEGA = 1_000_000
KINDS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")
ORIENTATION = 274  # the EXIF tag that says how a camera was held
GREY = (128, 128, 128)  # behind transparent pixels, and beside a picture that is not square
LARGEST = 50.0  # megapixels
DAMAGE = (OSError, ValueError, SyntaxError, EOFError, KeyError, IndexError, TypeError, struct.error, MemoryError)

Pixels = NDArray[np.uint8]


class Faulty(Exception):
    """Bytes that are no picture that can be used: what is wrong, what was found, what would mend it."""

    def __init__(self, said: str, *, found: str, fix: str, settings: Mapping[str, str] = NO_SETTINGS) -> None:
        super().__init__(said)
        self.said, self.found, self.fix, self.settings = said, found, fix, settings


class Look(NamedTuple):
    """What a picture is, before it is decoded."""

    kind: str
    width: int
    height: int
    mode: str  # as Pillow names them: L grey, P palette, RGBA with transparency, CMYK, I;16 of sixteen bits
    frames: int
    turned: bool  # marked as taken with the camera held another way


def load_picture(source: str, *, side: int, upright: bool = True, largest: float = LARGEST) -> Pixels:
    """The pixels (S, S, 3) of a file, or of a scene told in words."""
    if is_drawn(source):
        return draw(parse_scene(source), side=side)
    if part(source) is None and not Path(source).is_file():
        raise missing(Path(source))
    try:
        return decode_picture(read_bytes(source), Path(source).name, side=side, upright=upright, largest=largest)
    except Faulty as fault:
        raise InputError(f"{source}: {fault.said}", found=fault.found, fix=fault.fix) from None


def decode_picture(data: bytes, name: str, *, side: int, upright: bool = True, largest: float = LARGEST) -> Pixels:
    """The pixels (S, S, 3) of a file's bytes; of several frames the first."""
    look_at(data, name, largest=largest)
    try:
        with quiet_pillow(), Image.open(io.BytesIO(data), formats=KINDS) as opened:
            opened.draft(None, (2 * side, 2 * side))  # a large JPEG is decoded at a fraction of its size
            opened.load()
            picture = ImageOps.exif_transpose(opened) if upright else opened
            return square_of(eight_bits(picture), side)
    except DAMAGE as error:
        raise damaged(data, error) from None


def look_at(data: bytes, name: str, *, largest: float = LARGEST) -> Look:
    """Kind and size from the first bytes, before anything is decoded; refused where the picture cannot be used."""
    if not data:
        raise Faulty("the file is empty.", found="0 bytes", fix="copy or download it again")
    try:
        with quiet_pillow(), Image.open(io.BytesIO(data), formats=KINDS) as opened:
            width, height = opened.size
            if width * height > largest * MEGA:
                raise too_large(width, height, data, largest)
            marked = opened.format != "PNG" or "exif" in opened.info  # else Pillow decodes all of it to look for a mark
            turned = marked and opened.getexif().get(ORIENTATION, 1) not in (0, 1)
            frames = int(getattr(opened, "n_frames", 1))
            look = Look(str(opened.format), width, height, opened.mode, frames, turned)
    except UnidentifiedImageError:
        raise Faulty(
            "this is not a picture.",
            found=f"{len(data):,} bytes that begin with {data[:8]!r}",
            fix=f"give {', '.join(KINDS[:-1])} or {KINDS[-1]} files",
        ) from None
    except DAMAGE as error:
        raise damaged(data, error) from None
    expected = ENDINGS.get(Path(name).suffix.lower(), look.kind)
    if expected != look.kind:
        raise Faulty(
            f"its name says {expected}, its bytes say {look.kind}.",
            found=f"{len(data):,} bytes that begin with {data[:8]!r}",
            fix=f"rename it to {Path(name).stem}.{look.kind.lower()}",
        )
    return look


def too_large(width: int, height: int, data: bytes, largest: float) -> Faulty:
    """The refusal of a picture that would take too much memory."""
    return Faulty(
        f"the picture has more than {largest:g} megapixels.",
        found=f"{width} × {height} pixels in {len(data):,} bytes",
        fix=f"make it smaller, or allow more: --set data.largest={-(-width * height // MEGA)}",
        settings={"data.largest": str(-(-width * height // MEGA))},
    )


def damaged(data: bytes, error: BaseException) -> Faulty:
    """The refusal of a picture that begins as one and does not go on."""
    return Faulty(
        "the picture is cut off or damaged.", found=f"{len(data):,} bytes: {error}", fix="copy or download it again"
    )


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Pillow without its own limit of pixels, for ours is looked at first, and without its warnings."""
    limit = Image.MAX_IMAGE_PIXELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Image.MAX_IMAGE_PIXELS = None
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = limit


def eight_bits(picture: Image.Image) -> Image.Image:
    """Red, green and blue of eight bits each, on grey where the picture is transparent."""
    if picture.mode.startswith("I") or picture.mode == "F":
        return from_numbers(np.asarray(picture, dtype=np.float64))
    if picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        seen = picture.convert("RGBA")
        ground = Image.new("RGBA", seen.size, (*GREY, 255))
        return Image.alpha_composite(ground, seen).convert("RGB")
    return picture.convert("RGB")


def from_numbers(numbers: NDArray[np.float64]) -> Image.Image:
    """A grey picture of sixteen bits by its highest eight; of numbers up to 1 by 255 times as much."""
    top = float(numbers.max(initial=0.0))
    scaled = numbers * 255.0 if top <= 1.0 else numbers if top <= 255.0 else numbers / 257.0
    grey = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    return Image.fromarray(grey).convert("RGB")


def square_of(picture: Image.Image, side: int) -> Pixels:
    """All of the picture in the middle of a square (S, S, 3), grey beside it."""
    scale = side / max(picture.size)
    width, height = (max(1, round(length * scale)) for length in picture.size)
    small = picture.resize((width, height), Image.Resampling.BICUBIC)
    square = Image.new("RGB", (side, side), GREY)
    square.paste(small, ((side - width) // 2, (side - height) // 2))
    return np.asarray(square, dtype=np.uint8)


SIDES = (32, 48, 64, 96)
SAMPLE = 200  # pictures whose size is looked at


def size_of(source: str) -> tuple[int, int]:
    """Width and height, nothing decoded; 0 and 0 of what cannot be read."""
    if is_drawn(source):
        side = parse_scene(source).side
        return side, side
    try:
        look = look_at(read_bytes(source), Path(source).name, largest=float("inf"))
    except Faulty:
        return 0, 0
    return look.width, look.height


def guess_side(sources: Sequence[str]) -> tuple[int, str]:
    """The side that fits most pictures, at most 96 pixels, and what to say of it."""
    sizes = [size_of(source) for source in sources[:: 1 + len(sources) // SAMPLE]]
    longest = median(max(size) for size in sizes) if sizes else SIDES[0]
    side = next((known for known in SIDES if longest <= 1.25 * known), SIDES[-1])
    width, height = (round(median(size[axis] for size in sizes)) if sizes else side for axis in (0, 1))
    uneven = ", all of each on it and grey beside those that are not square" * any(w != h for w, h in sizes)
    return side, (
        f"pictures of about {width} × {height} pixels are read at {side} × {side}{uneven}; "
        "--set data.pixels= chooses another side"
    )
