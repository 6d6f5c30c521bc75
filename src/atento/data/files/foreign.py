"""Files that are no data here, known by their names or first bytes, each with the way to export what it holds."""

import stat
from pathlib import Path, PurePath
from typing import NamedTuple

from atento.errors import InputError


class Foreign(NamedTuple):
    """What a file is, and how to get its content in a form that is read."""

    what: str
    fix: str


SHEET = "open it in a spreadsheet program and save the sheet as CSV or .xlsx"
SAVED_TEXT = "save its text as .txt (UTF-8)"
FROM_PYTHON = "write the table as Parquet or CSV in Python: frame.to_parquet('data.parquet')"
PLAIN_TEXT = "export its rows as CSV or JSON lines; as plain text: --task generate --set data.documents=file"

FOREIGN: dict[str, Foreign] = {
    ".ods": Foreign("an OpenDocument spreadsheet", SHEET),
    ".xls": Foreign("an old Excel workbook", SHEET),
    ".xlsb": Foreign("a binary Excel workbook", SHEET),
    ".numbers": Foreign("a Numbers spreadsheet", SHEET),
    ".docx": Foreign("a Word document", SAVED_TEXT),
    ".doc": Foreign("a Word document", SAVED_TEXT),
    ".odt": Foreign("an OpenDocument text", SAVED_TEXT),
    ".rtf": Foreign("a rich text document", SAVED_TEXT),
    ".pdf": Foreign("a PDF document", "export its text: pdftotext FILE data.txt"),
    ".epub": Foreign("an electronic book", SAVED_TEXT),
    ".sav": Foreign("an SPSS file", "save it as CSV, in Python by pandas.read_spss('FILE').to_csv('data.csv')"),
    ".dta": Foreign("a Stata file", "in Stata: export delimited using data.csv"),
    ".sas7bdat": Foreign("a SAS data set", "in SAS: proc export data=SET outfile='data.csv' dbms=csv; run;"),
    ".xpt": Foreign("a SAS transport file", "in SAS: proc export data=SET outfile='data.csv' dbms=csv; run;"),
    ".rds": Foreign("an R object", "in R: write.csv(readRDS('FILE'), 'data.csv', row.names = FALSE)"),
    ".rda": Foreign("R objects", "in R: load('FILE'); write.csv(TABLE, 'data.csv', row.names = FALSE)"),
    ".rdata": Foreign("R objects", "in R: load('FILE'); write.csv(TABLE, 'data.csv', row.names = FALSE)"),
    ".mat": Foreign("a MATLAB file", "in MATLAB: writematrix(X, 'data.csv')"),
    ".h5": Foreign("an HDF5 file", FROM_PYTHON),
    ".hdf5": Foreign("an HDF5 file", FROM_PYTHON),
    ".feather": Foreign("an Arrow file", FROM_PYTHON),
    ".arrow": Foreign("an Arrow file", FROM_PYTHON),
    ".avro": Foreign("an Avro file", FROM_PYTHON),
    ".orc": Foreign("an ORC file", FROM_PYTHON),
    ".pkl": Foreign("a pickled Python object, which may run code when it is opened", FROM_PYTHON),
    ".pickle": Foreign("a pickled Python object, which may run code when it is opened", FROM_PYTHON),
    ".db": Foreign("a database", "export a table: sqlite3 -header -csv FILE 'select * from TABLE' > data.csv"),
    ".sqlite": Foreign("a database", "export a table: sqlite3 -header -csv FILE 'select * from TABLE' > data.csv"),
    ".sqlite3": Foreign("a database", "export a table: sqlite3 -header -csv FILE 'select * from TABLE' > data.csv"),
    ".bz2": Foreign("a file compressed by bzip2", "decompress it: bunzip2 FILE"),
    ".zst": Foreign("a file compressed by zstd", "decompress it: zstd -d FILE"),
    ".yaml": Foreign("a YAML file; recipes are TOML", "write it as a recipe of TOML (`atento schema` lists the keys)"),
    ".yml": Foreign("a YAML file; recipes are TOML", "write it as a recipe of TOML (`atento schema` lists the keys)"),
    ".html": Foreign("a web page", PLAIN_TEXT),
    ".htm": Foreign("a web page", PLAIN_TEXT),
    ".xml": Foreign("an XML document", PLAIN_TEXT),
    ".ipynb": Foreign("a notebook", "give the file that the notebook reads"),
    ".wav": Foreign("a sound", "write its samples as .npy or CSV"),
    ".mp3": Foreign("a sound", "write its samples as .npy or CSV"),
}
SIGNATURES: dict[bytes, Foreign] = {
    b"%PDF-": FOREIGN[".pdf"],
    b"\xd0\xcf\x11\xe0": Foreign("an old Office document", SHEET),
    b"SQLite format 3": FOREIGN[".db"],
    b"\x89HDF": FOREIGN[".h5"],
    b"ARROW1": FOREIGN[".arrow"],
    b"FEA1": FOREIGN[".feather"],
    b"$FL2": FOREIGN[".sav"],
    b"<stata_dta>": FOREIGN[".dta"],
    b"RDX": FOREIGN[".rda"],
    b"BZh": FOREIGN[".bz2"],
    b"\x28\xb5\x2f\xfd": FOREIGN[".zst"],
    b"\x80\x04\x95": FOREIGN[".pkl"],
    b"{\\rtf": FOREIGN[".rtf"],
    b"PK\x03\x04": Foreign(
        "a zip archive or an Office document", "give its name the suffix .zip or .xlsx, or save the sheet as CSV"
    ),
    b"\x1f\x8b": Foreign("compressed by gzip", "give its name the suffix .gz"),
    b"\xfd7zXZ": Foreign("compressed by xz", "give its name the suffix .xz"),
    b"PAR1": Foreign("a Parquet file", "give its name the suffix .parquet"),
}
SPECIAL = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


def refuse_address(source: str) -> None:
    """Raise an error for an address on the web, a pattern or a home folder, which are no paths here."""
    scheme, sign, _ = source.partition("://")
    if sign and scheme.isalnum() and not Path(source).exists():
        fix = f"download it first: curl -LO {source}" if scheme.startswith("http") else "copy it to this machine first"
        raise InputError(f"{source} is an address, and nothing is downloaded here.", found=f"{scheme}://", fix=fix)
    if source.startswith("~") and not Path(source).exists():
        try:
            home = str(Path(source).expanduser())
        except RuntimeError:
            return
        raise InputError(f"{source}: there is no such file.", found="~ between quotes", fix=f"write {home}")


def refuse_foreign(path: Path) -> None:
    """Raise an error for a file that is not read, by the suffix of its name, or that is no file at all."""
    refuse_special(path)
    found = FOREIGN.get(path.suffix.lower())
    if found is not None and path.is_file():
        raise not_read(str(path), found)


def not_read(path: str, found: Foreign) -> InputError:
    """The error for a file of another program."""
    fix = found.fix.replace("FILE", PurePath(path).name)
    return InputError(f"{path} is {found.what}: it is not read as data.", found=PurePath(path).name, fix=fix)


def refuse_special(path: Path) -> None:
    """Raise an error for a pipe, a device or a socket, which would be waited for without end."""
    kind = special_kind(path)
    if kind:
        raise InputError(f"{path} is {kind}, not a file.", found=kind, fix="write the data to a file, and give that")


def special_kind(path: Path) -> str:
    """What a path is where it is neither a file nor a folder; empty for those, and where nothing is."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return next((name for is_kind, name in SPECIAL.items() if is_kind(mode)), "")
