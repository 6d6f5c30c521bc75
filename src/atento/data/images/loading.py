"""Loading images: decoded, rotated upright, without transparency, scaled to fit a square whose side suits the set."""

import io
import struct
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.files.archives import split_archive_path
from atento.data.files.image_names import IMAGE_FORMATS, is_drawn
from atento.data.files.opening import missing_file, read_bytes
from atento.data.images.drawing import draw, parse_scene
from atento.errors import NO_SETTINGS, InputError
from atento.extras import require_extra

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

# Axes: S side, rows from the top and columns from the left; 3 channels: red, green, blue.

MEGA = 1_000_000
KINDS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")
ORIENTATION = 274  # the EXIF tag that says how a camera was held
GREY = (128, 128, 128)  # behind transparent pixels, and beside an image that is not square
MAX_MEGAPIXELS = 50.0  # megapixels
DAMAGE = (OSError, ValueError, SyntaxError, EOFError, KeyError, IndexError, TypeError, struct.error, MemoryError)

SIDES = (32, 48, 64, 96)
SAMPLE = 200  # images whose size is read

Pixels = NDArray[np.uint8]


class UnusableImage(Exception):
    """An image that cannot be used: the problem, what was found, and how to fix it."""

    def __init__(self, problem: str, *, found: str, fix: str, settings: Mapping[str, str] = NO_SETTINGS) -> None:
        super().__init__(problem)
        self.problem, self.found, self.fix, self.settings = problem, found, fix, settings


class ImageInfo(NamedTuple):
    """The properties of an image file, read without decoding it."""

    format: str
    width: int
    height: int
    mode: str  # as Pillow names them: L grey, P palette, RGBA with transparency, CMYK, I;16 of sixteen bits
    frames: int
    rotated: bool  # whether EXIF says that the camera was rotated


def load_image(source: str, *, side: int, upright: bool = True, largest: float = MAX_MEGAPIXELS) -> Pixels:
    """The pixels (S, S, 3) of an image file or of a drawn scene."""
    if is_drawn(source):
        return draw(parse_scene(source), side=side)
    if split_archive_path(source) is None and not Path(source).is_file():
        raise missing_file(Path(source))
    try:
        return decode_image(read_bytes(source), Path(source).name, side=side, upright=upright, largest=largest)
    except UnusableImage as fault:
        raise InputError(f"{source}: {fault.problem}", found=fault.found, fix=fault.fix) from None


def decode_image(data: bytes, name: str, *, side: int, upright: bool = True, largest: float = MAX_MEGAPIXELS) -> Pixels:
    """The pixels (S, S, 3) of the bytes of an image file; the first of several frames."""
    read_image_info(data, name, largest=largest)
    from PIL import Image, ImageOps

    try:
        with quiet_pillow(), Image.open(io.BytesIO(data), formats=KINDS) as opened:
            opened.draft(None, (2 * side, 2 * side))  # a large JPEG is decoded at a fraction of its size
            opened.load()
            image = ImageOps.exif_transpose(opened) if upright else opened
            return fit_square(to_rgb(image), side)
    except DAMAGE as error:
        raise damaged(data, error) from None


def read_image_info(data: bytes, name: str, *, largest: float = MAX_MEGAPIXELS) -> ImageInfo:
    """The properties of an image by the first bytes of its file; one that cannot be used is raised."""
    if not data:
        raise UnusableImage("the file is empty.", found="0 bytes", fix="copy or download it again")
    require_extra("images", "reading an image file")
    from PIL import Image, UnidentifiedImageError

    try:
        with quiet_pillow(), Image.open(io.BytesIO(data), formats=KINDS) as opened:
            width, height = opened.size
            if width * height > largest * MEGA:
                raise too_large(width, height, data, largest)
            may_have_exif = opened.format != "PNG" or "exif" in opened.info  # else Pillow decodes it all
            rotated = may_have_exif and opened.getexif().get(ORIENTATION, 1) not in (0, 1)
            frames = int(getattr(opened, "n_frames", 1))
            info = ImageInfo(str(opened.format), width, height, opened.mode, frames, rotated)
    except UnidentifiedImageError:
        raise UnusableImage(
            "this is not an image.",
            found=f"{len(data):,} bytes that begin with {data[:8]!r}",
            fix=f"give {', '.join(KINDS[:-1])} or {KINDS[-1]} files",
        ) from None
    except DAMAGE as error:
        raise damaged(data, error) from None
    expected = IMAGE_FORMATS.get(Path(name).suffix.lower(), info.format)
    if expected != info.format:
        raise UnusableImage(
            f"its name says {expected}, its bytes say {info.format}.",
            found=f"{len(data):,} bytes that begin with {data[:8]!r}",
            fix=f"rename it to {Path(name).stem}.{info.format.lower()}",
        )
    return info


def too_large(width: int, height: int, data: bytes, largest: float) -> UnusableImage:
    """The refusal of an image that would take too much memory."""
    return UnusableImage(
        f"the image has more than {largest:g} megapixels.",
        found=f"{width} × {height} pixels in {len(data):,} bytes",
        fix=f"make it smaller, or allow more: --set data.max_megapixels={-(-width * height // MEGA)}",
        settings={"data.max_megapixels": str(-(-width * height // MEGA))},
    )


def damaged(data: bytes, error: BaseException) -> UnusableImage:
    """The refusal of an image whose file is cut off or damaged."""
    return UnusableImage(
        "the image is cut off or damaged.", found=f"{len(data):,} bytes: {error}", fix="copy or download it again"
    )


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Pillow without its warnings and its own limit of pixels; ours is checked before."""
    from PIL import Image

    limit = Image.MAX_IMAGE_PIXELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Image.MAX_IMAGE_PIXELS = None
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = limit


def to_rgb(image: "PillowImage") -> "PillowImage":
    """The image in RGB of eight bits, on a grey background where it is transparent."""
    from PIL import Image

    if image.mode.startswith("I") or image.mode == "F":
        return from_greyscale(np.asarray(image, dtype=np.float64))
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        with_alpha = image.convert("RGBA")
        background = Image.new("RGBA", with_alpha.size, (*GREY, 255))
        return Image.alpha_composite(background, with_alpha).convert("RGB")
    return image.convert("RGB")


def from_greyscale(numbers: NDArray[np.float64]) -> "PillowImage":
    """An image of greyscale values: the highest eight of sixteen bits; values up to 1 are multiplied by 255."""
    from PIL import Image

    top = float(numbers.max(initial=0.0))
    scaled = numbers * 255.0 if top <= 1.0 else numbers if top <= 255.0 else numbers / 257.0
    grey = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    return Image.fromarray(grey).convert("RGB")


def fit_square(image: "PillowImage", side: int) -> Pixels:
    """The whole image in the centre of a square (S, S, 3), with grey padding."""
    from PIL import Image

    scale = side / max(image.size)
    width, height = (max(1, round(length * scale)) for length in image.size)
    small = image.resize((width, height), Image.Resampling.BICUBIC)
    square = Image.new("RGB", (side, side), GREY)
    square.paste(small, ((side - width) // 2, (side - height) // 2))
    return np.asarray(square, dtype=np.uint8)


def image_size(source: str) -> tuple[int, int]:
    """The width and height of an image, without decoding it; 0 and 0 where it cannot be used."""
    if is_drawn(source):
        side = parse_scene(source).side
        return side, side
    try:
        info = read_image_info(read_bytes(source), Path(source).name, largest=float("inf"))
    except UnusableImage:
        return 0, 0
    return info.width, info.height


def choose_side(sources: Sequence[str]) -> tuple[int, str]:
    """The side that fits the size of most images, at most 96 pixels, and a note on it."""
    sizes = [image_size(source) for source in sources[:: 1 + len(sources) // SAMPLE]]
    longest = median(max(size) for size in sizes) if sizes else SIDES[0]
    side = next((known for known in SIDES if longest <= 1.25 * known), SIDES[-1])
    width, height = (round(median(size[axis] for size in sizes)) if sizes else side for axis in (0, 1))
    uneven = ", with grey padding where they are not square" * any(w != h for w, h in sizes)
    return side, (
        f"images of about {width} × {height} pixels are read at {side} × {side}{uneven}; "
        "--set data.image_size= chooses another side"
    )
