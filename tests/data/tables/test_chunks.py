"""A large file in pieces is the file: no row is lost, torn or moved."""

import gzip
import lzma

import pytest

from atento.data.sources import reading
from atento.data.sources.reading import is_large
from atento.data.tables import chunks
from atento.data.tables.chunks import chunks_of, first_chunk

ROWS = [f"row {number},{'word ' * (number % 7)}".strip() for number in range(211)]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 97)
    monkeypatch.setattr(reading, "LARGE_FILE", 1000)


def pieces(path, *, header=False):
    found = []
    for chunk in chunks_of(str(path), header=header):
        with open(chunk.path, encoding="utf-8") as file:
            found.append((file.read(), chunk))
    return found


@pytest.mark.parametrize("packed", ["", ".gz", ".xz"])
def test_the_pieces_are_the_file(tmp_path, packed):
    path = tmp_path / f"rows.jsonl{packed}"
    text = "\n".join(ROWS) + "\n"
    path.write_bytes({"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[packed](text.encode()))
    found = pieces(path)
    assert "".join(piece for piece, _ in found) == text
    assert len(found) > 20
    assert all(piece.endswith("\n") for piece, _ in found)
    before = 0
    for piece, chunk in found:
        assert chunk.lines_before == before
        before += piece.count("\n")
    assert found[-1][1].share == pytest.approx(1.0)


def test_no_row_is_torn_where_quotes_hold_line_ends(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f'{number},"first line\nsecond ""line"" {number}"' for number in range(53)]
    path.write_text("number,text\n" + "\n".join(rows) + "\n")
    found = pieces(path, header=True)
    assert all(piece.count('"') % 2 == 0 for piece, _ in found)
    assert all(piece.startswith("number,text\n") for piece, _ in found)
    whole = "".join(piece if at == 0 else piece.removeprefix("number,text\n") for at, (piece, _) in enumerate(found))
    assert whole == path.read_text()
    lines = path.read_text().split("\n")
    for piece, chunk in found[1:]:
        assert lines[chunk.lines_before + 1] == piece.split("\n")[1]  # the second line of a piece, after the header


def test_blank_lines_begin_a_piece(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(("a" * 95 + "\n\n\n") * 11 + "end\n")
    assert not any(piece.endswith("\n\n") for piece, _ in pieces(path))


def test_large_by_size_and_kind(tmp_path):
    for name, size, large in (("a.jsonl", 1001, True), ("a.jsonl", 999, False), ("a.conll", 5000, False)):
        (tmp_path / name).write_bytes(b"x" * size)
        assert is_large(str(tmp_path / name)) is large
    assert not is_large(str(tmp_path))
    assert not is_large("numbers")


def test_the_head_alone(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("\n".join(ROWS))
    with first_chunk(str(path)) as head, open(head, encoding="utf-8") as file:
        assert path.read_text().startswith(file.read())


def test_parquet_by_rows(tmp_path, monkeypatch):
    import pyarrow as arrow
    import pyarrow.parquet as arrow_parquet

    monkeypatch.setattr(chunks, "CHUNK_ROWS", 13)
    path = tmp_path / "rows.parquet"
    arrow_parquet.write_table(arrow.table({"text": ROWS}), path)
    found = [
        (chunk.lines_before, arrow_parquet.read_table(chunk.path)["text"].to_pylist())
        for chunk in chunks_of(str(path), header=False)
    ]
    assert [row for _, rows in found for row in rows] == ROWS
    assert [before for before, _ in found] == list(range(0, len(ROWS), 13))
