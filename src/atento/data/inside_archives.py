"""A file inside a zip archive by a path of its own, `set.zip!/cats/1.png`: read when it is asked for, never unpacked.

The limits are those of an archive that is read whole, but for its size: here one file is read at a time.
"""

import os
import re
import zipfile
from functools import lru_cache
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from atento.data.archives import REASONS, broken, is_read, read_member, require_limits
from atento.data.records import Refusal, counted
from atento.errors import AtentoError, InputError, nearest

MARK = "!"  # after an archive's name, before the path inside
INSIDE = re.compile(r"\.zip!/", re.IGNORECASE)
MOST_TOGETHER = 2**36  # bytes of all files, unpacked
MOST_OF_ONE = 2**28
OTHERS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tar.zst", ".7z", ".rar")
OPEN = 4  # archives that are kept open
NEAR = 5000  # names among which one like a wrong one is looked for


def part(path: str) -> tuple[str, str] | None:
    """An archive and the path inside it; None where a path leads into none."""
    found = INSIDE.search(path)
    if found is None or Path(path).exists():
        return None
    return path[: found.end() - 2], path[found.end() :]


def is_zip(path: Path) -> bool:
    """Whether a path is that of an archive."""
    return path.suffix.lower() == ".zip" and path.is_file()


def below(place: Path, name: str) -> Path:
    """The path of a file in a folder or in an archive; whatever the name is, it stays in the archive."""
    return Path(f"{place}{MARK}/{name}") if is_zip(place) else place / name


def refuse_other(path: Path) -> None:
    """An archive of another kind holds what is not read."""
    name = path.name.lower()
    if name.endswith(OTHERS) and path.is_file():
        raise InputError(
            f"{path} is an archive that is not read.",
            found=f"{path.stat().st_size:,} bytes of {next(each for each in OTHERS if name.endswith(each))}",
            fix="unpack it and give the folder, or pack the folder as .zip",
        )


def file_of(path: str) -> Path:
    """The file on disk that holds what a path names."""
    parted = part(path)
    return Path(path) if parted is None else Path(parted[0])


def is_there(path: str) -> bool:
    """Whether a path names a file, on disk or in an archive."""
    parted = part(path)
    if parted is None:
        return Path(path).is_file()
    return is_zip(Path(parted[0])) and parted[1] in contents_of(parted[0]).infos


def read_inside(archive: str, name: str) -> bytes:
    """The bytes of a file in an archive; one that is broken, locked, misnamed or there twice is refused."""
    found = contents_of(archive).read(name)
    if isinstance(found, Refusal):
        raise InputError(str(found), found=found.found, fix=found.fix)
    return found


def contents_of(archive: str) -> "Contents":
    """An archive, opened once for as long as it does not change."""
    stat = Path(archive).stat()
    return opened(str(Path(archive).absolute()), stat.st_size, stat.st_mtime_ns, os.getpid())


@lru_cache(maxsize=OPEN)
def opened(archive: str, size: int, changed: int, process: int) -> "Contents":
    """The same by all that tells one state of it from another; processes share no open file."""
    return Contents(archive)


class Contents:
    """The files of an archive by their paths inside."""

    def __init__(self, path: str) -> None:
        self.file = Path(path).name
        try:
            self.archive = zipfile.ZipFile(path)
            listed = [info for info in self.archive.infolist() if is_read(info)]
            require_limits(listed, self.file, together=MOST_TOGETHER)
        except AtentoError:  # some of ours are ValueErrors, too
            raise
        except REASONS as error:
            raise broken(self.file, error) from None
        self.infos: dict[str, list[zipfile.ZipInfo]] = {}
        for info in sorted(listed, key=lambda info: info.filename):
            self.infos.setdefault(plain(info.filename), []).append(info)

    def find(self, name: str) -> str | None:
        """The path as it is written in the archive, whichever way its accents are; None: there is none."""
        return next((form for way in ("NFC", "NFD") if (form := normalize(way, name)) in self.infos), None)

    def read(self, name: str) -> bytes | Refusal:
        """The bytes of one file, or why there are none."""
        infos, where = self.infos.get(name, []), f"{self.file}{MARK}/{name}"
        if not infos:
            near = nearest(name, list(self.infos)[:NEAR]) if self.infos else ""
            fix = f"did you mean {self.file}{MARK}/{near}?" if near else "check the path"
            return Refusal(where, 1, 1, "there is no such file.", found=counted(len(self.infos), "file"), fix=fix)
        if len(infos) > 1:
            found, fix = f"{len(infos)} files", "pack the archive again"
            return Refusal(where, 1, 1, "the archive holds several files of this name.", found=found, fix=fix)
        if infos[0].file_size > MOST_OF_ONE:
            found = f"{infos[0].file_size:,} bytes unpacked; at most {MOST_OF_ONE:,} are read"
            return Refusal(where, 1, 1, "the file is too large.", found=found, fix="pack it in smaller files")
        return read_member(self.archive, infos[0], self.file)


def plain(name: str) -> str:
    """A path inside an archive with plain strokes."""
    return str(PurePosixPath(name.replace("\\", "/")))
