"""Which texts name images: paths with the suffix of an image format, and drawn scenes."""

import re

DRAWN_PREFIX = "drawn:"
IMAGE_FORMATS = {
    ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".bmp": "BMP", ".gif": "GIF", ".tif": "TIFF", ".tiff": "TIFF",
    ".webp": "WEBP",
}  # fmt: skip
IMAGE_NAME = re.compile(  # a name before the suffix, and behind it what a path may end with
    rf"[^/\\](?:{'|'.join(map(re.escape, IMAGE_FORMATS))})[/\\]*(?:#\d+)?$", re.IGNORECASE
)
CAPTION_NUMBER = re.compile(r"#\d+$")  # as in `1000268201.jpg#3`, the fourth caption of an image
MAX_PATH_LENGTH = 1000  # characters of a path


def is_drawn(source: str) -> bool:
    """Whether a source describes a scene to be drawn rather than a path."""
    return source.startswith(DRAWN_PREFIX)


def is_image_name(text: str) -> bool:
    """Whether a text is the path of an image, or a drawn scene."""
    text = text.strip()
    is_path = len(text) <= MAX_PATH_LENGTH and "\n" not in text
    return is_drawn(text) or (is_path and IMAGE_NAME.search(text) is not None)


def without_caption_number(cell: str) -> str:
    """The path of an image without the number of its caption, with forward slashes."""
    return CAPTION_NUMBER.sub("", cell.strip()).replace("\\", "/")
