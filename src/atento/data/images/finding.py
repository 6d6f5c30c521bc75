"""Finding the images that a table names, below one folder or in one archive, and checking that they can be used."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple
from unicodedata import normalize

from atento.data.files.archives import ArchiveContents, contents_of, file_on_disk, files_below, is_zip, path_below
from atento.data.files.image_names import IMAGE_FORMATS, is_drawn, without_caption_number
from atento.data.files.opening import read_bytes
from atento.data.images.drawing import parse_scene
from atento.data.images.loading import ImageInfo, UnusableImage, decode_image, read_image_info
from atento.data.records import counted, in_words
from atento.errors import InputError

CHECK_SIDE = 32  # at which an image is decoded to check that it is complete
CACHED = 2**18  # images
ANY_PATH: ContextVar[bool] = ContextVar("ANY_PATH", default=False)
MODES = {"L": "grey", "1": "black and white", "P": "with a palette", "CMYK": "in CMYK"}


class CheckedImage(NamedTuple):
    """An image that can be used."""

    info: ImageInfo | None  # None: a drawn scene
    digest: str  # of its bytes


def check_image(source: str, *, largest: float) -> CheckedImage:
    """An image after all of it was decoded; one that cannot be used is raised."""
    if is_drawn(source):
        try:
            parse_scene(source)
        except InputError as error:
            raise UnusableImage(error.problem, found=error.found, fix=error.fix) from None
        return CheckedImage(None, hashlib.sha256(source.encode()).hexdigest())
    stat = file_on_disk(source).stat()
    found = check_file(source, stat.st_size, stat.st_mtime_ns, largest)
    if isinstance(found, UnusableImage):
        raise found
    return found


@lru_cache(maxsize=CACHED)
def check_file(source: str, size: int, changed: int, largest: float) -> CheckedImage | UnusableImage:
    """The same for a file, cached until it changes."""
    try:
        data = read_bytes(source)
        info = read_image_info(data, Path(source).name, largest=largest)
        decode_image(data, Path(source).name, side=CHECK_SIDE, largest=largest)
    except UnusableImage as fault:
        return fault
    except InputError as error:
        return UnusableImage(error.problem, found=error.found, fix=error.fix)
    return CheckedImage(info, hashlib.sha256(data).hexdigest())


def conversion_notes(infos: Iterable[ImageInfo], *, upright: bool) -> list[str]:
    """Notes on the conversions of images: rotation, colours, frames."""
    infos = list(infos)
    rotated = sum(info.rotated for info in infos)
    notes = []
    if rotated and upright:
        notes.append(f"{counted(rotated, 'image')} rotated upright by EXIF; --set data.exif_rotation=no leaves them")
    elif rotated:
        notes.append(f"{counted(rotated, 'image')} with an EXIF rotation, left as they are")
    modes = Counter(mode_text(info.mode) for info in infos if info.mode != "RGB")
    if modes:
        listed = in_words([f"{count:,} {mode}" for mode, count in modes.most_common()])
        notes.append(f"converted to RGB of eight bits: {listed}")
    animated = sum(info.frames > 1 for info in infos)
    if animated:
        notes.append(f"{counted(animated, 'image')} of several frames: the first is read")
    return notes


def mode_text(mode: str) -> str:
    """A mode of Pillow other than RGB in words."""
    if mode in MODES:
        return MODES[mode]
    if mode.startswith("I") or mode == "F":
        return "of more than eight bits"
    return "with transparency" if mode.upper().endswith("A") else f"in {mode}"


@contextmanager
def any_path_allowed() -> Iterator[None]:
    """Allow absolute paths outside the folder meanwhile: for a program's own files, never for a table of others."""
    token = ANY_PATH.set(True)
    try:
        yield
    finally:
        ANY_PATH.reset(token)


class ImageFinder:
    """Finds an image by the text of a cell: its path in the folder or archive, or its name where it is unique."""

    def __init__(self, folder: Path, *, largest: float) -> None:
        self.folder, self.largest = folder, largest
        self.archive = contents_of(str(folder)) if is_zip(folder) else None
        self.root = folder.resolve()
        self.used: dict[str, CheckedImage] = {}  # by source
        self.named: set[str] = set()  # sources, also of images that cannot be used
        self.any_path = ANY_PATH.get()
        self.by_name: dict[str, list[str]] | None = None  # file name -> paths from the folder

    def find(self, cell: str) -> str:
        """The source of an image; one that cannot be used is raised."""
        source = cell.strip() if is_drawn(cell.strip()) else str(self.path_of(without_caption_number(cell)))
        self.named.add(source)
        if source not in self.used:
            self.used[source] = check_image(source, largest=self.largest)
        return source

    def path_of(self, name: str) -> Path:
        """The path of the file that a cell names; it and all links on the way stay below the folder."""
        if self.archive is not None:
            return self.path_in_archive(name, self.archive)
        if self.any_path and PurePath(name).is_absolute():
            return Path(name)
        if "://" in name:
            raise UnusableImage("images are not downloaded.", found=name, fix="save it beside the table")
        if ".." in PurePath(name).parts:
            raise self.outside(name)
        forms = [self.folder / normalize(form, name) for form in ("NFC", "NFD")]
        path = next((path for path in forms if path.is_file()), None)
        if path is None and PurePath(name).is_absolute():
            raise self.outside(name)
        path = path or self.folder / self.unique_path(name)
        inside = path.resolve()
        if not inside.is_relative_to(self.root):
            raise self.outside(name)
        return self.folder / inside.relative_to(self.root) if PurePath(name).is_absolute() else path

    def path_in_archive(self, name: str, packed: ArchiveContents) -> Path:
        """The path of the file in an archive that a cell names."""
        if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
            raise self.outside(name)
        return path_below(self.folder, packed.find(str(PurePosixPath(name))) or self.unique_path(name))

    def outside(self, name: str) -> UnusableImage:
        """The refusal of a path outside the folder."""
        inside = "put the image below that folder" if self.archive is None else "put the image into that archive"
        return UnusableImage(f"{name!r} leads out of {self.folder}.", found=name, fix=inside)

    def unique_path(self, name: str) -> str:
        """The one file below the folder that has this name."""
        paths = self.paths_by_name().get(PurePath(name).name, [])
        found = [path for path in paths if path.endswith(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UnusableImage(
                f"{counted(len(found), 'image')} are named {name!r}.",
                found=", ".join(found[:3]),
                fix=f"write its path from {self.folder}, e.g. {found[0]}",
            )
        near = get_close_matches(PurePath(name).name, self.paths_by_name(), n=1)
        count = counted(sum(map(len, self.paths_by_name().values())), "image")
        raise UnusableImage(
            f"there is no image {name!r}.",
            found=f"{count} {'below' if self.archive is None else 'in'} {self.folder}",
            fix=f"did you mean {self.paths_by_name()[near[0]][0]}?" if near else "check the name",
        )

    def paths_by_name(self) -> dict[str, list[str]]:
        """The images below the folder by name, searched once."""
        if self.by_name is None:
            self.by_name = {}
            for path in files_below(self.folder):
                if PurePath(path).suffix.lower() in IMAGE_FORMATS:
                    self.by_name.setdefault(normalize("NFC", PurePath(path).name), []).append(path)
        return self.by_name

    def infos(self) -> list[ImageInfo]:
        """The properties of the images that are used, without drawn scenes."""
        return [image.info for image in self.used.values() if image.info is not None]

    def unnamed(self) -> list[str]:
        """Images in the folders of those used which no row names."""
        places = {Path(source).parent for source in self.used if not is_drawn(source)}
        if not places:
            return []
        known = {Path(source) for source in self.named}
        there = [path_below(self.folder, path) for paths in self.paths_by_name().values() for path in paths]
        return sorted(path.name for path in there if path.parent in places and path not in known)
