"""Pictures of a set, each looked at once: whether it can be used, what it is, and what bytes it has."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from atento.data.files import read_bytes
from atento.data.inside_archives import file_of
from atento.data.pictures.drawing import parse_scene
from atento.data.pictures.loading import Faulty, Look, decode_picture, look_at
from atento.data.pictures.names import is_drawn
from atento.data.records import counted, in_words
from atento.errors import InputError

TRIED = 32  # side at which a picture is decoded, to see that all of it is there
REMEMBERED = 2**18  # pictures
WAYS = {"L": "grey", "1": "black and white", "P": "with a palette", "CMYK": "in CMYK"}


class Seen(NamedTuple):
    """A picture that can be used."""

    look: Look | None  # None: it is drawn
    digest: str  # of its bytes


def look_over(source: str, *, largest: float) -> Seen:
    """What a picture is, from all of its bytes; a faulty one is raised."""
    if is_drawn(source):
        try:
            parse_scene(source)
        except InputError as error:
            raise Faulty(error.problem, found=error.found, fix=error.fix) from None
        return Seen(None, hashlib.sha256(source.encode()).hexdigest())
    stat = file_of(source).stat()
    found = looked_over(source, stat.st_size, stat.st_mtime_ns, largest)
    if isinstance(found, Faulty):
        raise found
    return found


@lru_cache(maxsize=REMEMBERED)
def looked_over(source: str, size: int, changed: int, largest: float) -> Seen | Faulty:
    """The same, remembered for as long as the file does not change."""
    try:
        data = read_bytes(source)
        look = look_at(data, Path(source).name, largest=largest)
        decode_picture(data, Path(source).name, side=TRIED, largest=largest)
    except Faulty as fault:
        return fault
    except InputError as error:
        return Faulty(error.problem, found=error.found, fix=error.fix)
    return Seen(look, hashlib.sha256(data).hexdigest())


def notes_on(looks: Iterable[Look], *, upright: bool) -> list[str]:
    """What is done to pictures that are not as they should be, each said once."""
    looks = list(looks)
    turned = sum(look.turned for look in looks)
    notes = []
    if turned and upright:
        notes.append(f"{counted(turned, 'picture')} turned upright as marked; --set data.upright=no leaves them")
    elif turned:
        notes.append(f"{counted(turned, 'picture')} marked as turned, left as they lie")
    ways = Counter(way_of(look) for look in looks if look.mode != "RGB")
    if ways:
        told = in_words([f"{count:,} {way}" for way, count in ways.most_common()])
        notes.append(f"read as red, green and blue of eight bits: {told}")
    moving = sum(look.frames > 1 for look in looks)
    if moving:
        notes.append(f"{counted(moving, 'picture')} of several frames: the first is read")
    return notes


def way_of(look: Look) -> str:
    """What is unusual about a picture's numbers."""
    if look.mode in WAYS:
        return WAYS[look.mode]
    if look.mode.startswith("I") or look.mode == "F":
        return "of more than eight bits"
    return "with transparency" if look.mode.upper().endswith("A") else f"in {look.mode}"
