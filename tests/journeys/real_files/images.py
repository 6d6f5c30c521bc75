"""Captions of images, as COCO has them."""

import json
import random
import struct
import zlib
from pathlib import Path

from tests.journeys.real_files.contents import Expected, real, sentence, write


def png(shade: int) -> bytes:
    """A picture of eight by eight grey points."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    points = b"".join(b"\0" + bytes((shade + 7 * row + column) % 256 for column in range(8)) for row in range(8))
    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(points)) + chunk(b"IEND", b"")


@real("COCO captions")
def coco(folder: Path) -> Expected:
    """annotations/captions_train2017.json beside the folder train2017, as the archives unpack."""
    draw = random.Random(10)
    names = [f"{at:012}.png" for at in range(20)]
    (folder / "coco" / "train2017").mkdir(parents=True)
    for at, name in enumerate(names):
        (folder / "coco" / "train2017" / name).write_bytes(png(12 * at))
    document = {
        "info": {"year": 2017},
        "licenses": [{"id": 1, "name": "test"}],
        "images": [
            {"license": 1, "file_name": name, "id": at, "height": 8, "width": 8} for at, name in enumerate(names)
        ],
        "annotations": [
            {"image_id": at // 3, "id": at, "caption": sentence(draw).capitalize() + "."} for at in range(60)
        ],
    }
    write(folder, "coco/annotations/captions_train2017.json", json.dumps(document))
    return Expected(str(folder / "coco"), "caption", rows=60)
