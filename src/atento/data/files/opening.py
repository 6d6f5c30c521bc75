"""Opening files: paths to bytes or text, decompressed and decoded, or an error that says what is wrong."""

import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import normalize

from atento.data.files.archives import file_on_disk, read_inside, split_archive_path
from atento.data.files.encodings import DecodedText, NotText, decode
from atento.data.files.foreign import refuse_special
from atento.data.files.memory import bytes_in_memory, is_in_memory
from atento.data.records import excerpt
from atento.errors import InputError, is_machine_fault, nearest

ABOUT_THE_DATA = ("readme", "license", "licence", "copying", "changelog", "manifest", "notice")
RECIPE = "recipe.toml"
MEMORY_LIMIT = 2**30  # a damaged archive may ask for any amount
HEAD_BYTES = 2**18
MAX_BYTES = 2**31  # decompressed; more is a mistake or an attack
WHOLE = MAX_BYTES + 1  # bytes to ask for, so that more than the limit is seen
MAX_RATIO = 200  # of decompressed to compressed bytes of more than `FREE_BYTES`: texts have 3 to 30
FREE_BYTES = 2**26


def decompress_gz(data: bytes, most: int) -> bytes:
    """The first `most` bytes of gzip-compressed data."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as opened:
        return opened.read(most)


def decompress_xz(data: bytes, most: int) -> bytes:
    """The first `most` bytes of xz-compressed data."""
    blocks, left = [], most
    while data and left > 0:
        stream = lzma.LZMADecompressor(memlimit=MEMORY_LIMIT)
        blocks.append(stream.decompress(data, left))
        left -= len(blocks[-1])
        if left > 0 and not stream.eof:
            raise EOFError("the archive ends before its end mark")
        data = stream.unused_data.lstrip(b"\0") if stream.eof else b""
    return b"".join(blocks)


DECOMPRESS: dict[str, Callable[[bytes, int], bytes]] = {".gz": decompress_gz, ".xz": decompress_xz}
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}  # to read or write a part at a time


def read_text(path: str) -> DecodedText:
    """The text of a file in NFC with `\\n` line breaks."""
    text, encoding, notes = read_exact(path)
    return DecodedText(normalize("NFC", text), encoding, notes)


def read_exact(path: str) -> DecodedText:
    """The text of a file without NFC, which would move the columns that readers count."""
    return decode_filled(read_bytes(path), Path(path).name)


def decode_filled(data: bytes, file: str) -> DecodedText:
    """The decoded text with `\\n` line breaks; nothing but white space is an error."""
    text, encoding, notes = decode(data, file)
    if not text.strip():
        raise InputError(
            f"{file}:1:1: the file is empty.",
            found=f"{len(text)} characters, all of them white space" if text else "0 bytes",
            fix="give a file with at least one row",
        )
    return DecodedText(normalise_newlines(text), encoding, notes)


def normalise_newlines(text: str) -> str:
    """The text with `\\n` for every kind of line break."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_head(path: str) -> DecodedText:
    """The first lines of a file, to find its format and columns; the whole text where they cannot be decoded alone."""
    data = read_bytes(path, HEAD_BYTES)
    if len(data) < HEAD_BYTES:
        return read_exact(path)
    try:
        return decode_filled(data[: data.rfind(b"\n") + 1] or data, Path(path).name)
    except NotText:
        return read_exact(path)


def read_bytes(path: str, most: int = WHOLE) -> bytes:
    """The first `most` bytes of a file on disk or in an archive, decompressed where its name ends in .gz or .xz."""
    if is_in_memory(path):
        return bytes_in_memory(path)[:most]
    unpack = DECOMPRESS.get(Path(path).suffix.lower())
    refuse_special(Path(path))
    try:
        inside = split_archive_path(path)
        if inside is None and unpack is None and most < WHOLE:
            with Path(path).open("rb") as opened:
                return opened.read(most)
        data = Path(path).read_bytes() if inside is None else read_inside(*inside)
        if unpack is None or not data:
            return data
        limit = min(MAX_BYTES, max(FREE_BYTES, MAX_RATIO * len(data)))
        unpacked = unpack(data, min(most, limit + 1))
    except InputError:  # which is a ValueError, too
        raise
    except FileNotFoundError:
        raise missing_file(file_on_disk(path)) from None
    except IsADirectoryError:
        raise not_a_file(Path(path)) from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise cannot_unpack(path, error) from None
    except (OSError, ValueError) as error:
        if is_machine_fault(error):
            raise
        raise InputError(
            f"{excerpt(path)} cannot be read.",
            found=error.strerror or str(error) if isinstance(error, OSError) else str(error),
            fix="check the name",
        ) from None
    if len(unpacked) > limit:
        raise too_large(path, len(data), limit)
    return unpacked


def too_large(path: str, compressed: int, limit: int) -> InputError:
    """The error for a compressed file that grows beyond a limit."""
    return InputError(
        f"{path} decompresses to more than is read from a compressed file.",
        found=f"{compressed:,} bytes compressed, over {limit:,} decompressed "
        f"(at most {MAX_RATIO} times as many, and {MAX_BYTES:,})",
        fix="decompress it yourself if you trust it, and give the file: a plain one may be of any size",
    )


def split_paths(source: str) -> list[str]:
    """The paths in `a.de,a.en`; a single path where a file has that whole name."""
    if "," not in source or Path(source).is_file():
        return [source]
    paths = [path.strip() for path in source.split(",")]
    if not all(paths):
        raise InputError(
            f"a file name is missing in {source!r}.",
            found=", ".join(path or "nothing" for path in paths),
            fix="write two file names with a comma between them, e.g. train.de,train.en",
        )
    return paths


def inner_name(path: str) -> str:
    """The file's name without a suffix of compression."""
    name = Path(path)
    return name.stem if name.suffix.lower() in DECOMPRESS else name.name


def cannot_unpack(path: str | Path, error: BaseException) -> InputError:
    """The error for a compressed file that is damaged."""
    fix = "copy or download the file again, or give it unpacked"
    return InputError(f"{path} cannot be unpacked.", found=str(error), fix=fix)


def not_a_file(folder: Path) -> InputError:
    """The error for a folder where a file is expected."""
    return InputError(
        f"{folder} is a folder, not a file.",
        found=f"in it: {listing(folder)}",
        fix=f"name one file, e.g. {folder / first_file(folder)}",
    )


def is_about_the_data(name: str) -> bool:
    """Whether a file is documentation rather than data, by its name."""
    return Path(name).stem.lower() in ABOUT_THE_DATA or Path(name).suffix.lower() in (".md", ".rst", ".pdf", ".html")


def missing_file(path: Path) -> InputError:
    """The error for a file that does not exist, with the most similar name in its folder."""
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
    """The names of the files in a folder; none where it may not be read."""
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.is_file() and entry.name[0] != ".")
    except OSError:
        return []


def first_file(folder: Path) -> str:
    """A file name to show as an example in a message."""
    names = file_names(folder)
    if RECIPE in names:  # of a run: its data, once more
        return RECIPE
    return next((name for name in names if not is_about_the_data(name)), names[0] if names else "pairs.tsv")


def listing(folder: Path) -> str:
    """The names of the first eight files in a folder, for a message."""
    names = file_names(folder)
    if not names:
        return "no files"
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
