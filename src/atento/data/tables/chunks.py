"""A file larger than memory as a sequence of chunks: small files of the same format, one at a time."""

import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from atento.data.files.opening import MAX_RATIO, OPENERS, inner_name, too_large
from atento.data.tables.sniffing import kind_by_name
from atento.errors import InputError, unwritable
from atento.extras import require_extra

CHUNK_BYTES = 4 * 2**20
LONGEST_ROW = 2**28  # bytes
CHUNK_ROWS = 20_000  # of a Parquet file at a time


class FileChunk(NamedTuple):
    """A chunk of a file, as a file of its own."""

    number: int  # the first is 0
    path: str
    lines_before: int  # in the whole file; one less where the header is repeated
    share: float  # of the whole file that was read so far


def every_chunk(number: int) -> bool:
    """Any chunk is wanted."""
    return True


def chunks_of(
    path: str, *, header: bool, wanted: Callable[[int], bool] = every_chunk
) -> Generator[FileChunk, None, None]:
    """The chunks whose number is wanted, in order; each ends where a row ends. With `header`, every chunk begins with
    the first line.
    """
    kind = kind_by_name(path)
    if kind == "parquet":
        yield from parquet_chunks(path, wanted)
        return
    with OPENERS.get(Path(path).suffix.lower(), open)(path, "rb") as file, tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / inner_name(path)
        whole = max(1, Path(path).stat().st_size)
        number, before, read, first, rest = 0, 0, 0, b"", b""
        while True:
            block = file.read(CHUNK_BYTES)
            read += len(block)
            if read > MAX_RATIO * whole:
                raise too_large(path, whole, MAX_RATIO * whole)
            if len(rest) > LONGEST_ROW:
                raise InputError(
                    f"{path}: a row is longer than is read from a large file.",
                    found=f"over {LONGEST_ROW:,} bytes without the end of a row",
                    fix="write one row per line, and close every quote",
                )
            cut = end_of_rows(rest + block, quoted=kind == "csv") if block else len(rest)
            rest += block
            if cut or not block:
                chunk, rest = rest[:cut], rest[cut:]
                if chunk and wanted(number):
                    try:
                        place.write_bytes(first + chunk)
                    except OSError as error:
                        raise unwritable(place, error) from None
                    raw = getattr(file, "fileobj", None) or getattr(file, "_fp", None) or file
                    yield FileChunk(number, str(place), before - bool(first), min(1.0, raw.tell() / whole))
                number += bool(chunk)
                before += chunk.count(b"\n")
                if header and not first:
                    first = chunk[: chunk.find(b"\n") + 1]
            if not block:
                return


def end_of_rows(data: bytes, *, quoted: bool) -> int:
    """The end of the last whole row: at a line break, outside quotes where there are quotes."""
    end = data.rfind(b"\n") + 1
    while data.endswith(b"\n\n", 0, end):
        end -= 1  # blank lines begin the next chunk: at the end of a file they would be ignored
    while quoted and end and data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end


def parquet_chunks(path: str, wanted: Callable[[int], bool]) -> Generator[FileChunk, None, None]:
    """The wanted chunks of a Parquet file, of `CHUNK_ROWS` rows each."""
    require_extra("parquet", f"{path}: reading a Parquet file", instead="save it as CSV")
    import pyarrow as arrow
    import pyarrow.parquet as arrow_parquet

    file = arrow_parquet.ParquetFile(path)
    before = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / Path(path).name
        for number, batch in enumerate(file.iter_batches(batch_size=CHUNK_ROWS)):
            if wanted(number):
                arrow_parquet.write_table(arrow.Table.from_batches([batch]), place)
                share = (before + batch.num_rows) / max(1, file.metadata.num_rows)
                yield FileChunk(number, str(place), before, share)
            before += batch.num_rows


@contextmanager
def first_chunk(path: str) -> Iterator[str]:
    """The path of the first chunk, which exists within this context."""
    chunks = chunks_of(path, header=False)
    try:
        yield next(chunks).path
    finally:
        chunks.close()
