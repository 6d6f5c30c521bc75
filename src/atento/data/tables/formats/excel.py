"""Excel workbooks (.xlsx, .xlsm): the cells of one sheet, as they would stand in a CSV file."""

import io
import warnings
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any
from zipfile import BadZipFile

from atento.data.files.archives import open_zip, read_member
from atento.data.records import Place, Records, Refusal, counted, in_words, pass_setting
from atento.errors import InputError, is_machine_fault, nearest
from atento.extras import require_extra

MAX_BYTES = 2**29  # of all parts of a workbook, decompressed
DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY")
HEAD = 4096  # bytes of a part in which a document type may be declared


def read_excel(data: bytes, file: str, sheet: str) -> Records:
    """The rows of the sheet, of the only one where none is named; blank rows and columns at the ends are left out."""
    require_extra("excel", f"{file}: reading an Excel workbook", instead="save the sheet as CSV")
    from openpyxl import load_workbook  # loaded only when it is needed

    refuse_bombs(data, file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and charts, which are not read
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            sheets = [one.title for one in book.worksheets]
            rows = [list(row) for row in book[find_sheet(sheets, sheet, file)].iter_rows(values_only=True)]
    except InputError:
        raise
    except (BadZipFile, KeyError, ValueError, OSError, SyntaxError, TypeError, AttributeError, IndexError) as error:
        if is_machine_fault(error):
            raise
        raise InputError(
            f"{file}:1:1: this cannot be read as an Excel workbook.",
            found=f"{type(error).__name__}: {error}",
            fix="open it in Excel and save it again, or save the sheet as CSV",
        ) from None
    filled = [(number, row) for number, row in enumerate(rows, start=1) if any(not is_empty(cell) for cell in row)]
    width = max((1 + last_filled(row) for _, row in filled), default=0)
    cells = [tuple(cell_text(cell) for cell in (*row, *[None] * width)[:width]) for _, row in filled]
    numbers = [number for number, _ in filled]
    note = f"{file}: the sheet {(sheet or sheets[0])!r}, {counted(len(cells), 'row')}"
    return Records((), cells, numbers, [], lambda line, at: Place(file, line, at + 1), (note,))


def find_sheet(sheets: list[str], wanted: str, file: str) -> str:
    """The name of the sheet to read; an error where it is not there, or several are and none is named."""
    if wanted in sheets:
        return wanted
    if wanted:
        near = nearest(wanted, sheets)
        raise InputError(
            f"{file}: there is no sheet {wanted!r}.", found=in_words(sheets), fix=pass_setting("data.sheet", near)
        )
    if len(sheets) == 1:
        return sheets[0]
    raise InputError(
        f"{file}: the workbook has {len(sheets)} sheets, and one is read.",
        found=in_words([repr(name) for name in sheets]),
        fix=pass_setting("data.sheet", sheets[0]),
        settings={"data.sheet": sheets[0]},
    )


def refuse_bombs(data: bytes, file: str) -> None:
    """Raise an error for an archive that unpacks to far more than its size, or whose parts declare entities."""
    archive, infos = open_zip(io.BytesIO(data), file, together=MAX_BYTES)
    with archive:
        for info in infos:
            part = read_member(archive, info, file) if info.filename.endswith((".xml", ".rels")) else b""
            if isinstance(part, Refusal):
                raise InputError(str(part), found=part.found, fix=part.fix)
            if any(mark in part[:HEAD].upper() for mark in DECLARATIONS):
                raise InputError(
                    f"{file}: the part {info.filename} declares entities of its own.",
                    found=info.filename,
                    fix="open it in Excel and save it again",
                )


def is_empty(cell: Any) -> bool:
    """Whether a cell holds nothing, or spaces."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def last_filled(row: Iterable[Any]) -> int:
    """The index of the last cell that holds something."""
    return max(at for at, cell in enumerate(row) if not is_empty(cell))


def cell_text(cell: Any) -> str:
    """A cell as text: dates as ISO writes them, whole numbers without a fraction."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return str(cell).replace("\r\n", "\n").replace("_x000D_", "")
