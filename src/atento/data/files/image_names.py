"""Which texts name pictures: paths with the ending of one, and drawn scenes."""

import re
from pathlib import PurePath

DRAWN = "drawn:"
ENDINGS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".bmp": "BMP",
    ".gif": "GIF",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".webp": "WEBP",
}
NUMBERED = re.compile(r"#\d+$")  # as in `1000268201.jpg#3`, the fourth caption of a picture
LONGEST = 1000  # characters of a path


def is_drawn(source: str) -> bool:
    """Whether a source is a scene told in words rather than a path."""
    return source.startswith(DRAWN)


def is_picture_name(text: str) -> bool:
    """Whether a text is a path of a picture, or a drawn scene."""
    text = text.strip()
    if is_drawn(text):
        return True
    return len(text) <= LONGEST and "\n" not in text and PurePath(bare(text)).suffix.lower() in ENDINGS


def bare(cell: str) -> str:
    """A picture's path without the number of its caption, with plain strokes."""
    return NUMBERED.sub("", cell.strip()).replace("\\", "/")
