"""How large pictures are, and the side of the square they are all brought to."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from atento.data.files import read_bytes
from atento.data.pictures.drawing import parse_scene
from atento.data.pictures.loading import Faulty, look_at
from atento.data.pictures.names import is_drawn

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
