"""A file larger than memory as a row of small files of the same kind, one at a time."""

import gzip
import lzma
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from atento.data.files.opening import inner_name
from atento.data.tables.sniffing import kind_by_name

LARGE = 200 * 2**20  # bytes; what is smaller is read whole
PACKED = 8  # text is packed to about an eighth
CHUNK = 4 * 2**20
ROWS = 20_000  # of a Parquet file at a time
WHOLE = ("conll", "ts", "arff", "npz", "npy")  # rows of many lines, or a head that all rows need


class Chunk(NamedTuple):
    """A piece of a file, as a file."""

    path: str
    lines_before: int  # lines of the whole file before its first; a repeated header counts as one less
    share: float  # of the whole file read so far


def is_large(source: str) -> bool:
    """Whether one file is too large to be read whole."""
    path = Path(source)
    if not path.is_file() or path.suffix.lower() == ".zip" or kind_by_name(source) in WHOLE:
        return False
    size = path.stat().st_size
    return size > (LARGE // PACKED if path.suffix.lower() in (".gz", ".xz") else LARGE)


def open_unpacked(path: str) -> IO[bytes] | gzip.GzipFile | lzma.LZMAFile:
    """The bytes of a file, unpacked as they are read."""
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        return gzip.open(path)
    return lzma.open(path) if suffix == ".xz" else Path(path).open("rb")


def chunks_of(path: str, *, header: bool) -> Generator[Chunk, None, None]:
    """The pieces in order; each ends where a row ends. With `header`, the first line stands before every piece."""
    kind = kind_by_name(path)
    if kind == "parquet":
        yield from parquet_chunks(path)
        return
    with open_unpacked(path) as file, tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / inner_name(path)
        whole = max(1, Path(path).stat().st_size)
        before, first, rest = 0, b"", b""
        while True:
            block = file.read(CHUNK)
            cut = end_of_rows(rest + block, quoted=kind == "csv") if block else len(rest)
            rest += block
            if cut or not block:
                piece, rest = rest[:cut], rest[cut:]
                if piece:
                    place.write_bytes(first + piece)
                    raw = getattr(file, "fileobj", None) or getattr(file, "_fp", None) or file
                    yield Chunk(str(place), before - bool(first), min(1.0, raw.tell() / whole))
                before += piece.count(b"\n")
                if header and not first:
                    first = piece[: piece.find(b"\n") + 1]
            if not block:
                return


def end_of_rows(data: bytes, *, quoted: bool) -> int:
    """Where the last whole row ends: at a line end, and outside quotes where there are quotes."""
    end = data.rfind(b"\n") + 1
    while data.endswith(b"\n\n", 0, end):
        end -= 1  # blank lines begin the next piece: at the end of a file they mean nothing, here they do
    while quoted and end and data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end


def parquet_chunks(path: str) -> Generator[Chunk, None, None]:
    """Rows of a Parquet file by the ten thousand."""
    import pyarrow as arrow
    import pyarrow.parquet as arrow_parquet

    file = arrow_parquet.ParquetFile(path)
    before = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / Path(path).name
        for batch in file.iter_batches(batch_size=ROWS):
            arrow_parquet.write_table(arrow.Table.from_batches([batch]), place)
            yield Chunk(str(place), before, (before + batch.num_rows) / max(1, file.metadata.num_rows))
            before += batch.num_rows


@contextmanager
def head_of(path: str) -> Iterator[str]:
    """The first piece alone, while it is looked at."""
    pieces = chunks_of(path, header=False)
    try:
        yield next(pieces).path
    finally:
        pieces.close()
