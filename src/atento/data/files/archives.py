"""Zip archives, read in memory and within limits; nothing is extracted to disk.

`read_zip` reads all files of an archive. `read_inside` reads one by its path, `set.zip!/cats/1.png`: such an archive
may be larger, since one file is in memory at a time.
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

from atento.data.files.foreign import refuse_special
from atento.data.records import Refusal, counted
from atento.errors import InputError, is_machine_fault, nearest

ARCHIVE_MARK = "!"  # between the path of an archive and the path inside it
ARCHIVE_PATH = re.compile(r"\.zip![/\\]", re.IGNORECASE)  # a path of Windows has \ there
UNSUPPORTED = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tar.zst", ".7z", ".rar")
MAX_FILES = 200_000
MAX_DEPTH = 4  # of sub-folders that are searched
MAX_BYTES = 2**30  # of all files together, decompressed, where they are read at once
MAX_BYTES_ON_DISK = 2**36  # the same where files are read one by one
MAX_MEMBER_BYTES = 2**28
MAX_RATIO = 1000  # of decompressed to compressed bytes of a large file
LARGE_FILE = 2**20
MAX_OPEN = 4  # archives kept open
MAX_COMPARED_NAMES = 5000  # among which the one most like a wrong name is found
UNPACK_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError)


class Member(NamedTuple):
    """A file in an archive or a folder: its path inside, and its bytes or why they cannot be read."""

    path: str
    data: bytes | Refusal


def read_zip(data: bytes, file: str) -> Iterator[Member]:
    """The files of an archive in the order of their names."""
    archive, infos = open_zip(io.BytesIO(data), file, together=MAX_BYTES)
    with archive:
        for info in infos:
            yield Member(info.filename, read_member(archive, info, file))


def open_zip(source: str | io.BytesIO, file: str, *, together: int) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """An archive of at most `together` decompressed bytes, and its files in the order of their names."""
    try:
        archive = zipfile.ZipFile(source)
        infos = sorted((info for info in archive.infolist() if is_user_file(info)), key=lambda info: info.filename)
    except UNPACK_ERRORS as error:
        if is_machine_fault(error):
            raise
        fix = "copy or download the file again"
        raise InputError(f"{file} cannot be unpacked.", found=str(error), fix=fix) from None
    require_limits(infos, file, together=together)
    return archive, infos


def is_user_file(info: zipfile.ZipInfo) -> bool:
    """Whether an entry is a regular file rather than a folder, a link or a hidden or system file."""
    parts = PurePosixPath(info.filename).parts
    if not parts:
        return True  # a damaged name, refused when the file is read
    link = stat.S_ISLNK(info.external_attr >> 16)
    return not (
        info.is_dir() or link or parts[0] == "__MACOSX" or any(part[0] == "." and part != ".." for part in parts)
    )


def require_limits(infos: list[zipfile.ZipInfo], file: str, *, together: int) -> None:
    """Raise an error where an archive has too many files or decompresses to too many bytes, before any is read."""
    size = sum(info.file_size for info in infos)
    if len(infos) > MAX_FILES or size > together:
        raise InputError(
            f"{file} holds more than is read from one archive.",
            found=f"{counted(len(infos), 'file')} of {size / 2**20:,.0f} MB together",
            fix=f"unpack it and give the folder; at most {MAX_FILES:,} files of {together // 2**20:,} MB are read",
        )
    for info in infos:
        if info.file_size > max(LARGE_FILE, MAX_RATIO * info.compress_size):
            raise InputError(
                f"{file}: {info.filename} is over {MAX_RATIO} times as large as its compressed bytes.",
                found=f"{info.compress_size:,} bytes compressed, {info.file_size:,} decompressed",
                fix="unpack it yourself if you trust it, and give the folder",
            )


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: str) -> bytes | Refusal:
    """The bytes of one file; a broken, encrypted or misnamed one is refused."""
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
    except UNPACK_ERRORS as error:
        if is_machine_fault(error):
            raise
        fix = "copy or pack the archive again"
        return Refusal(where, 1, 1, "the file cannot be unpacked.", found=str(error), fix=fix)
    if len(data) > info.file_size:
        fix = "pack the archive again"
        return Refusal(where, 1, 1, "the file is larger than stated.", found=info.filename, fix=fix)
    return data


def split_archive_path(path: str) -> tuple[str, str] | None:
    """The archive and the path inside it; None where the path does not lead into an archive."""
    found = ARCHIVE_PATH.search(path)
    if found is None or Path(path).exists():
        return None
    return path[: found.end() - 2], path[found.end() :].replace(os.sep, "/")


def is_zip(path: str | Path) -> bool:
    """Whether a path is that of a zip archive."""
    return Path(path).suffix.lower() == ".zip" and Path(path).is_file()


def path_below(place: Path, name: str) -> Path:
    """The path of a file in a folder or in an archive; no name leads out of an archive."""
    return Path(f"{place}{ARCHIVE_MARK}/{name}") if is_zip(place) else place / name


def files_below(folder: Path) -> list[str]:
    """All files of a folder or an archive and of its sub-folders, without hidden ones, as paths from it."""
    if is_zip(folder):
        return [name for name in contents_of(str(folder)).infos if len(PurePosixPath(name).parts) <= MAX_DEPTH + 1]
    found: list[str] = []
    for place, folders, names in os.walk(folder, onerror=give_up):
        inside = Path(place).relative_to(folder)
        deep = len(inside.parts) >= MAX_DEPTH
        folders[:] = [] if deep else sorted(name for name in folders if name[0] != "." and name != "__MACOSX")
        for name in sorted(names):
            if name[0] != ".":
                refuse_special(Path(place) / name)
                found.append((inside / name).as_posix())
        if len(found) > MAX_FILES:
            raise InputError(
                f"{folder} holds more than {MAX_FILES:,} files.",
                found=str(folder),
                fix="give a table of them in a folder of its own",
            )
    return found


def give_up(error: OSError) -> None:
    """A folder that may not be read is no empty one; one that is not there holds nothing."""
    if is_machine_fault(error):
        raise error


def refuse_unsupported(path: Path) -> None:
    """Raise an error for an archive of a format other than zip."""
    name = path.name.lower()
    if name.endswith(UNSUPPORTED) and path.is_file():
        raise InputError(
            f"{path} is an archive that is not read.",
            found=f"{path.stat().st_size:,} bytes of {next(each for each in UNSUPPORTED if name.endswith(each))}",
            fix="unpack it and give the folder, or pack the folder as .zip",
        )


def file_on_disk(path: str) -> Path:
    """The file on disk that holds what a path names: the archive where it leads into one."""
    inside = split_archive_path(path)
    return Path(path) if inside is None else Path(inside[0])


def is_file(path: str) -> bool:
    """Whether a path is that of a file on disk or in an archive."""
    inside = split_archive_path(path)
    if inside is None:
        return Path(path).is_file()
    return is_zip(inside[0]) and inside[1] in contents_of(inside[0]).infos


def read_inside(archive: str, name: str) -> bytes:
    """The bytes of a file in an archive; a broken, encrypted, misnamed or ambiguous one raises an error."""
    found = contents_of(archive).read(name)
    if isinstance(found, Refusal):
        raise InputError(str(found), found=found.found, fix=found.fix)
    return found


def contents_of(archive: str) -> "ArchiveContents":
    """The contents of an archive, opened once as long as the file does not change."""
    stat = Path(archive).stat()
    return open_archive(str(Path(archive).absolute()), stat.st_size, stat.st_mtime_ns, os.getpid())


@lru_cache(maxsize=MAX_OPEN)
def open_archive(archive: str, size: int, changed: int, process: int) -> "ArchiveContents":
    """The contents of an archive, cached by size, time of change and process: processes must not share an open file."""
    return ArchiveContents(archive)


class ArchiveContents:
    """The files of an archive by their paths inside."""

    def __init__(self, path: str) -> None:
        self.file = Path(path).name
        self.archive, listed = open_zip(path, self.file, together=MAX_BYTES_ON_DISK)
        self.infos: dict[str, list[zipfile.ZipInfo]] = {}
        for info in listed:
            inside = str(PurePosixPath(info.filename.replace("\\", "/")))  # with forward slashes
            self.infos.setdefault(inside, []).append(info)

    def find(self, name: str) -> str | None:
        """The path as it is written in the archive, in NFC or NFD; None where there is none."""
        return next((form for way in ("NFC", "NFD") if (form := normalize(way, name)) in self.infos), None)

    def read(self, name: str) -> bytes | Refusal:
        """The bytes of one file, or why they cannot be read."""
        infos, where = self.infos.get(name, []), f"{self.file}{ARCHIVE_MARK}/{name}"
        if not infos:
            near = nearest(name, list(self.infos)[:MAX_COMPARED_NAMES]) if self.infos else ""
            fix = f"did you mean {self.file}{ARCHIVE_MARK}/{near}?" if near else "check the path"
            return Refusal(where, 1, 1, "there is no such file.", found=counted(len(self.infos), "file"), fix=fix)
        if len(infos) > 1:
            found, fix = f"{len(infos)} files", "pack the archive again"
            return Refusal(where, 1, 1, "the archive holds several files of this name.", found=found, fix=fix)
        if infos[0].file_size > MAX_MEMBER_BYTES:
            found = f"{infos[0].file_size:,} bytes unpacked; at most {MAX_MEMBER_BYTES:,} are read"
            return Refusal(where, 1, 1, "the file is too large.", found=found, fix="pack it in smaller files")
        return read_member(self.archive, infos[0], self.file)
