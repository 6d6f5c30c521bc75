"""Zip archives, read in memory and within limits: nothing is ever unpacked to disk.

A file inside a zip archive by a path of its own, `set.zip!/cats/1.png`: read when it is asked for, never unpacked.
The limits are those of an archive that is read whole, but for its size: here one file is read at a time.
"""

import io
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from unicodedata import normalize

from atento.data.records import Refusal, counted
from atento.errors import AtentoError, InputError, nearest

MOST_FILES = 200_000
MOST_BYTES = 2**30  # of all files together, unpacked
MOST_TIMES = 1000  # how much larger than its packed bytes a large file may be
LARGE = 2**20
REASONS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


class Member(NamedTuple):
    """A file in an archive or a folder: its path inside, and its bytes or why there are none."""

    path: str
    data: bytes | Refusal


def read_zip(data: bytes, file: str) -> Iterator[Member]:
    """The files of an archive, one after another, by name."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = sorted((info for info in archive.infolist() if is_read(info)), key=lambda info: info.filename)
            require_limits(infos, file)
            for info in infos:
                yield Member(info.filename, read_member(archive, info, file))
    except AtentoError:  # some of ours are ValueErrors, too
        raise
    except REASONS as error:
        raise broken(file, error) from None


def is_read(info: zipfile.ZipInfo) -> bool:
    """Whether an entry is a file of the user's rather than a folder, a link or a system's own."""
    parts = PurePosixPath(info.filename).parts
    if not parts:
        return True  # a damaged name; it is refused when it is read
    link = stat.S_ISLNK(info.external_attr >> 16)
    return not (
        info.is_dir() or link or parts[0] == "__MACOSX" or any(part[0] == "." and part != ".." for part in parts)
    )


def require_limits(infos: list[zipfile.ZipInfo], file: str, *, together: int = 0) -> None:
    """Too many files, or far more bytes than the archive has, are refused before any is unpacked."""
    size, most = sum(info.file_size for info in infos), together or MOST_BYTES
    if len(infos) > MOST_FILES or size > most:
        raise InputError(
            f"{file} holds more than is read from one archive.",
            found=f"{counted(len(infos), 'file')} of {size / 2**20:,.0f} MB together",
            fix=f"unpack it and give the folder; at most {MOST_FILES:,} files of {most // 2**20:,} MB are read",
        )
    for info in infos:
        if info.file_size > max(LARGE, MOST_TIMES * info.compress_size):
            raise InputError(
                f"{file}: {info.filename} says it is {MOST_TIMES} times as large as its packed bytes.",
                found=f"{info.compress_size:,} bytes packed, {info.file_size:,} unpacked",
                fix="unpack it yourself if you trust it, and give the folder",
            )


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: str) -> bytes | Refusal:
    """The bytes of one file, as many as the archive says; a broken, locked or misnamed one is refused."""
    where = f"{file}/{info.filename}"
    path = PurePosixPath(info.filename.replace("\\", "/"))
    if not path.parts:
        return Refusal(file, 1, 1, "a file in it has no name.", found=repr(info.filename), fix="pack the archive again")
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        fix = "pack the folder again with plain names"
        return Refusal(where, 1, 1, "the name leads out of the archive.", found=repr(info.filename), fix=fix)
    if info.flag_bits & 0x1:
        return Refusal(where, 1, 1, "the file is locked by a password.", found=info.filename, fix="pack it without one")
    try:
        with archive.open(info) as opened:
            data = opened.read(info.file_size + 1)
    except REASONS as error:
        return Refusal(
            where, 1, 1, "the file cannot be unpacked.", found=str(error), fix="copy or pack the archive again"
        )
    if len(data) > info.file_size:
        return Refusal(
            where, 1, 1, "the file is larger than it says.", found=info.filename, fix="pack the archive again"
        )
    return data


def broken(file: str, error: BaseException) -> InputError:
    """The refusal of an archive that cannot be opened."""
    return InputError(f"{file} cannot be unpacked.", found=str(error), fix="copy or download the file again")


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
