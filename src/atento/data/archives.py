"""Zip archives, read in memory and within limits: nothing is ever unpacked to disk."""

import io
import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from atento.data.records import Refusal, counted
from atento.errors import AtentoError, InputError

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
