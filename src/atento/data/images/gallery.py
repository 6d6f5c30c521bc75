"""The pictures that a table or a folder may name: below one folder, and nowhere else.

Pictures of a set, each looked at once: whether it can be used, what it is, and what bytes it has.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple
from unicodedata import normalize

from atento.data.files.archives import Contents, below, contents_of, file_of, is_zip
from atento.data.files.image_names import ENDINGS, bare, is_drawn
from atento.data.files.opening import read_bytes
from atento.data.images.drawing import parse_scene
from atento.data.images.loading import Faulty, Look, decode_picture, look_at
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


MOST_FILES = 200_000
DEEPEST = 4  # folders below the first that are looked into


ANYWHERE: ContextVar[bool] = ContextVar("ANYWHERE", default=False)


@contextmanager
def from_anywhere() -> Iterator[None]:
    """Whole paths may lead anywhere meanwhile: for a program that names its own files, never for a table of others."""
    token = ANYWHERE.set(True)
    try:
        yield
    finally:
        ANYWHERE.reset(token)


class Gallery:
    """Finds a picture by what a cell says: its path from the folder or in the archive, or its name where no other has
    it.
    """

    def __init__(self, folder: Path, *, largest: float) -> None:
        self.folder, self.largest = folder, largest
        self.packed = contents_of(str(folder)) if is_zip(folder) else None
        self.below = folder.resolve()
        self.used: dict[str, Seen] = {}  # by source
        self.named: set[str] = set()  # sources, of faulty ones too
        self.anywhere = ANYWHERE.get()
        self.by_name: dict[str, list[str]] | None = None  # names of files -> their paths from the folder

    def see(self, cell: str) -> str:
        """The source of a picture that can be used; else what is wrong with it is raised."""
        source = cell.strip() if is_drawn(cell.strip()) else str(self.path_of(bare(cell)))
        self.named.add(source)
        if source not in self.used:
            self.used[source] = look_over(source, largest=self.largest)
        return source

    def path_of(self, name: str) -> Path:
        """Where the file lies that a cell names; it and all links on its way stay below the folder."""
        if self.packed is not None:
            return self.packed_at(name, self.packed)
        if self.anywhere and PurePath(name).is_absolute():
            return Path(name)
        if "://" in name:
            raise Faulty("pictures are not fetched from elsewhere.", found=name, fix="save it beside the table")
        if ".." in PurePath(name).parts:
            raise self.leads_out(name)
        forms = [self.folder / normalize(form, name) for form in ("NFC", "NFD")]
        path = next((path for path in forms if path.is_file()), None)
        if path is None and PurePath(name).is_absolute():
            raise self.leads_out(name)
        path = path or self.folder / self.only(name)
        inside = path.resolve()
        if not inside.is_relative_to(self.below):
            raise self.leads_out(name)
        return self.folder / inside.relative_to(self.below) if PurePath(name).is_absolute() else path

    def packed_at(self, name: str, packed: Contents) -> Path:
        """Where the file lies in an archive that a cell names."""
        if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
            raise self.leads_out(name)
        return below(self.folder, packed.find(str(PurePosixPath(name))) or self.only(name))

    def leads_out(self, name: str) -> Faulty:
        """The refusal of a path to somewhere else."""
        inside = "put the picture below that folder" if self.packed is None else "pack the picture into that archive"
        return Faulty(f"{name!r} leads out of {self.folder}.", found=name, fix=inside)

    def only(self, name: str) -> str:
        """The one file below the folder that has this name."""
        paths = self.names().get(PurePath(name).name, [])
        found = [path for path in paths if path.endswith(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Faulty(
                f"{counted(len(found), 'picture')} are named {name!r}.",
                found=", ".join(found[:3]),
                fix=f"write its path from {self.folder}, e.g. {found[0]}",
            )
        near = get_close_matches(PurePath(name).name, self.names(), n=1)
        count = counted(sum(map(len, self.names().values())), "picture")
        raise Faulty(
            f"there is no picture {name!r}.",
            found=f"{count} {'below' if self.packed is None else 'in'} {self.folder}",
            fix=f"did you mean {self.names()[near[0]][0]}?" if near else "check the name",
        )

    def names(self) -> dict[str, list[str]]:
        """The pictures below the folder by name, looked for once."""
        if self.by_name is None:
            self.by_name = {}
            for path in pictures_below(self.folder):
                self.by_name.setdefault(normalize("NFC", PurePath(path).name), []).append(path)
        return self.by_name

    def looks(self) -> list[Look]:
        """What the used pictures are; drawn ones are left out."""
        return [seen.look for seen in self.used.values() if seen.look is not None]

    def unnamed(self) -> list[str]:
        """Pictures beside those that are used which no row names."""
        places = {Path(source).parent for source in self.used if not is_drawn(source)}
        if not places:
            return []
        known = {Path(source) for source in self.named}
        there = [below(self.folder, path) for paths in self.names().values() for path in paths]
        return sorted(path.name for path in there if path.parent in places and path not in known)


def pictures_below(folder: Path) -> list[str]:
    """The pictures of a folder or an archive and of its sub-folders, as paths from it."""
    return [name for name in files_below(folder) if PurePath(name).suffix.lower() in ENDINGS]


def files_below(folder: Path) -> list[str]:
    """All files of a folder or an archive and of its sub-folders, but hidden ones, as paths from it."""
    if is_zip(folder):
        return [name for name in contents_of(str(folder)).infos if len(PurePosixPath(name).parts) <= DEEPEST + 1]
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        inside = Path(place).relative_to(folder)
        deep = len(inside.parts) >= DEEPEST
        folders[:] = [] if deep else sorted(name for name in folders if name[0] != "." and name != "__MACOSX")
        found += [(inside / name).as_posix() for name in sorted(names) if name[0] != "."]
        if len(found) > MOST_FILES:
            raise InputError(
                f"{folder} holds more than {MOST_FILES:,} files.",
                found=str(folder),
                fix="give a table of them in a folder of its own",
            )
    return found
