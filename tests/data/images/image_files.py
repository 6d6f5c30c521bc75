"""Small images on disk, as users have them."""

import csv
from pathlib import Path

from PIL import Image

from atento.data.images import draw, parse_scene

SCENES = [
    f"drawn:16 {colour} {kind} 8 8 5" for colour in ("red", "blue", "green") for kind in ("circle", "square", "star")
]


def save(path: Path, scene: str = SCENES[0], **how) -> Path:
    """A drawn scene as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(draw(parse_scene(scene))).save(path, **how)
    return path


def write_table(path: Path, rows) -> Path:
    """A CSV file of these rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def captioned(folder: Path, *, images: str = "") -> Path:
    """Nine images, each with two captions in a table."""
    rows = [("file", "caption")]
    for number, scene in enumerate(SCENES):
        save(folder / images / f"{number}.png", scene)
        colour, kind = scene.split()[1:3]
        rows += [(f"{number}.png", f"a {colour} {kind}"), (f"{number}.png", f"one {kind} that is {colour}")]
    write_table(folder / "captions.csv", rows)
    return folder


def labelled(folder: Path) -> Path:
    """A sub-folder a kind, three images in each."""
    for number, scene in enumerate(SCENES):
        save(folder / scene.split()[2] / f"{number}.png", scene)
    return folder
