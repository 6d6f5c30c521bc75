"""Pixels as a PNG file, by the standard library alone."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPES = {3: 2, 4: 6}  # by channels: RGB, RGBA


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """The file of an image (rows, columns, 3), or of one with transparency (rows, columns, 4)."""
    rows, columns, channels = pixels.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8, COLOUR_TYPES[channels], 0, 0, 0)
    unfiltered = np.zeros((rows, 1 + columns * channels), dtype=np.uint8)  # each row begins with its filter: none
    unfiltered[:, 1:] = pixels.reshape(rows, -1)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(unfiltered.tobytes(), 9)) + chunk(b"IEND")


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    """One part of the file: its length, its kind, the data and their checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_uri(pixels: NDArray[np.uint8]) -> str:
    """The file as a data URI, which a page shows without fetching anything."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(pixels)).decode("ascii")
