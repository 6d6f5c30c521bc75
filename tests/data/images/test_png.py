"""PNG files by the standard library, read back by Pillow."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from atento.data.images.png import png_bytes, png_uri


@pytest.mark.parametrize("channels, mode", [(3, "RGB"), (4, "RGBA")])
@pytest.mark.parametrize("rows, columns", [(3, 5), (1, 1), (31, 2)])
def test_pillow_reads_the_same_pixels(rows, columns, channels, mode):
    pixels = np.random.default_rng(0).integers(0, 256, (rows, columns, channels), dtype=np.uint8)
    for data in (png_bytes(pixels), base64.b64decode(png_uri(pixels).removeprefix("data:image/png;base64,"))):
        with Image.open(io.BytesIO(data)) as image:
            image.verify()  # the checksums
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            assert image.mode == mode and (np.asarray(image) == pixels).all()
