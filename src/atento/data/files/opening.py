"""A path to text: opened, unpacked and decoded, or refused with the reason."""

import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

from atento.data.files.archives import file_of, part, read_inside
from atento.data.files.encodings import Text, decode
from atento.data.records import excerpt
from atento.errors import InputError, nearest

ASIDE = ("readme", "license", "licence", "copying", "changelog", "manifest", "notice")
RECIPE = "recipe.toml"
MEMORY_LIMIT = 2**30  # a damaged archive may ask for any amount
HEAD = 2**18
MOST_BYTES = 2**32  # unpacked; more is a mistake or an attack


def unpack_gz(data: bytes, most: int = MOST_BYTES) -> bytes:
    """The bytes in a gzip archive, the first so many of them."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as opened:
        return opened.read(most)


def unpack_xz(data: bytes, most: int = MOST_BYTES) -> bytes:
    """The bytes in an xz archive, the first so many of them."""
    pieces, left = [], most
    while data and left > 0:
        stream = lzma.LZMADecompressor(memlimit=MEMORY_LIMIT)
        pieces.append(stream.decompress(data, left))
        left -= len(pieces[-1])
        if left > 0 and not stream.eof:
            raise EOFError("the archive ends before its end mark")
        data = stream.unused_data.lstrip(b"\0") if stream.eof else b""
    return b"".join(pieces)


UNPACK: dict[str, Callable[[bytes, int], bytes]] = {".gz": unpack_gz, ".xz": unpack_xz}


def read_text(path: str) -> Text:
    """The text of a file in NFC, its lines ended by a newline alone."""
    text, encoding, notes = read_exact(path)
    return Text(normalize("NFC", text), encoding, notes)


def read_exact(path: str) -> Text:
    """The text as it is written, for readers that count columns: NFC would move them."""
    file = Path(path).name
    text, encoding, notes = decode(read_bytes(path), file)
    require_text(text, file)
    return Text(plain_breaks(text), encoding, notes)


def require_text(text: str, file: str) -> None:
    """A file of nothing but white space is refused."""
    if not text.strip():
        raise InputError(
            f"{file}:1:1: the file is empty.",
            found=f"{len(text)} characters, all of them white space" if text else "0 bytes",
            fix="give a file with at least one row",
        )


def plain_breaks(text: str) -> str:
    """Lines ended by a newline alone."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_head(path: str, most: int = HEAD) -> Text:
    """The first lines of a file, for a look at its kind and columns; all of it where that is not text so far."""
    data = read_bytes(path, most)
    if len(data) < most:
        return read_exact(path)
    try:
        text, encoding, notes = decode(data[: data.rfind(b"\n") + 1] or data, Path(path).name)
    except InputError:
        return read_exact(path)
    require_text(text, Path(path).name)
    return Text(plain_breaks(text), encoding, notes)


def read_bytes(path: str, most: int = MOST_BYTES) -> bytes:
    """The first so many bytes of a file, on disk or in an archive, unpacked when its name ends in .gz or .xz."""
    unpack = UNPACK.get(Path(path).suffix.lower())
    try:
        inside = part(path)
        if inside is None and unpack is None and most < MOST_BYTES:
            with Path(path).open("rb") as opened:
                return opened.read(most)
        data = Path(path).read_bytes() if inside is None else read_inside(*inside)
        if unpack is None or not data:
            return data
        unpacked = unpack(data, most)
    except InputError:  # which is a ValueError, too
        raise
    except FileNotFoundError:
        raise missing(file_of(path)) from None
    except IsADirectoryError:
        raise not_a_file(Path(path)) from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise InputError(
            f"{path} cannot be unpacked.",
            found=str(error),
            fix="copy or download the file again, or give it unpacked",
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"{excerpt(path)} cannot be read.",
            found=error.strerror or str(error) if isinstance(error, OSError) else str(error),
            fix="check the name, and that you may read the file",
        ) from None
    if len(unpacked) >= MOST_BYTES:
        raise InputError(
            f"{path} holds more than is read from one archive.",
            found=f"{len(data):,} bytes packed, over {MOST_BYTES:,} unpacked",
            fix="unpack it, and give a part of it",
        )
    return unpacked


def inner_name(path: str) -> str:
    """The file's name without the ending of an archive."""
    name = Path(path)
    return name.stem if name.suffix.lower() in UNPACK else name.name


def not_a_file(folder: Path) -> InputError:
    """The refusal of a folder that is no set by itself."""
    return InputError(
        f"{folder} is a folder, not a file.",
        found=f"in it: {listing(folder)}",
        fix=f"name one file, e.g. {folder / first_file(folder)}",
    )


def about_others(name: str) -> bool:
    """Whether a file is about the others of its folder rather than data, by its name."""
    return Path(name).stem.lower() in ASIDE or Path(name).suffix.lower() in (".md", ".rst", ".pdf", ".html")


def missing(path: Path) -> InputError:
    """The refusal of a path that leads nowhere, with the most similar name that is there."""
    folder = path.parent
    if not folder.is_dir():
        return InputError(
            f"there is no file {path}.", found=f"there is no folder {folder} either", fix="check the path"
        )
    names = file_names(folder)
    return InputError(
        f"there is no file {path}.",
        found=f"in {folder if str(folder) != '.' else 'this folder'}: {listing(folder)}",
        fix=f"did you mean {folder / nearest(path.name, names)}?" if names else "check the path",
    )


def file_names(folder: Path) -> list[str]:
    """The files of a folder by name, none when it may not be read."""
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.is_file() and entry.name[0] != ".")
    except OSError:
        return []


def first_file(folder: Path) -> str:
    """A file name to show as an example."""
    names = file_names(folder)
    if RECIPE in names:  # of a run: its data, once more
        return RECIPE
    return next((name for name in names if not about_others(name)), names[0] if names else "pairs.tsv")


def listing(folder: Path) -> str:
    """The names of the files in a folder, the first eight of them."""
    names = file_names(folder)
    if not names:
        return "no files"
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
