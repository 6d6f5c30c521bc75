"""A folder or an archive of text files: one sub-folder for each label, or documents without labels."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from atento.data.files.archives import MAX_FILES, Member, give_up, read_zip
from atento.data.files.encodings import NotText, decode
from atento.data.files.foreign import refuse_special
from atento.data.files.opening import ABOUT_THE_DATA, decode_filled, normalise_newlines, not_a_file, read_bytes
from atento.data.records import Place, Records, Refusal, counted, in_words
from atento.data.tables.headers import Header
from atento.data.tables.table import Table, table_from_text, table_of
from atento.errors import InputError

TEXT_SUFFIXES = frozenset({"", ".txt", ".text", ".eml", ".story"})


def read_folder(path: str) -> Table:
    """The table of a folder: columns text, label and file where files are in sub-folders, else text and file."""
    folder = Path(path)
    names = text_names(folder)
    if not names:
        raise not_a_file(folder)
    members = (Member(name, read_bytes(str(folder / name))) for name in names)
    return table_of_texts(members, folder.name or folder.absolute().name)


def read_archive(path: str, *, header: Header = "auto", names: Sequence[str] = ()) -> Table:
    """The table of a zip archive: that of its only file, or one text for each file."""
    name = Path(path).name
    members = list(read_zip(read_bytes(path), name))
    files = [member for member in members if not is_left_out(member.path, labelled=False)]
    if len(files) == 1 and isinstance(files[0].data, bytes):
        inner = PurePosixPath(files[0].path).name
        read = decode_filled(files[0].data, inner)
        read = read._replace(notes=(*read.notes, f"{name} holds {inner}"))
        return table_from_text(read, inner, header=header, names=names)
    return table_of_texts(members, name)


def text_names(folder: Path) -> list[str]:
    """The files of a folder and its sub-folders where nearly all are texts by their names; else none."""
    names = []
    for place, folders, files in os.walk(folder, onerror=give_up):
        folders[:] = [name for name in folders if name[0] != "."]
        for path in (Path(place) / name for name in files if name[0] != "."):
            refuse_special(path)
            if path.is_file():  # no link that leads nowhere
                names.append(path.relative_to(folder).as_posix())
        if len(names) > MAX_FILES:
            raise InputError(
                f"{folder} holds more than {MAX_FILES:,} files.", found=f"{folder}", fix="give one table of them all"
            )
    texts = sum(Path(name).suffix.lower() in TEXT_SUFFIXES or Path(name).suffix[1:].isdigit() for name in names)
    return sorted(names) if texts and texts >= 0.9 * len(names) else []


def table_of_texts(members: Iterable[Member], name: str) -> Table:
    """A table with one row for each file; its label is the name of its folder."""
    found = list(members)
    parents = {PurePosixPath(member.path).parent for member in found if len(PurePosixPath(member.path).parts) > 1}
    labelled = max(Counter(parent.parent for parent in parents).values(), default=0) > 1  # sub-folders of one folder
    left_out = [member.path for member in found if is_left_out(member.path, labelled)]
    rows: list[tuple[str, ...]] = []
    refused: list[Refusal] = []
    encodings: Counter[str] = Counter()
    for number, member in enumerate((member for member in found if member.path not in set(left_out)), start=1):
        text = text_of(member, number)
        if isinstance(text, Refusal):
            refused.append(text)
            continue
        encodings[text[1]] += 1
        label = (PurePosixPath(member.path).parent.name,) if labelled else ()
        rows.append((text[0], *label, member.path))
    columns = ("text", "label", "file") if labelled else ("text", "file")
    notes = notes_of(name, labelled, rows, left_out, encodings)
    numbers = list(range(1, len(rows) + 1))
    records = Records(columns, rows, numbers, refused, lambda line, _: Place(rows[line - 1][-1], 1, 1), notes)
    return table_of(records, name, "folder", encoding=in_words(list(encodings)), header=True)


def is_left_out(path: str, labelled: bool) -> bool:
    """Whether a file is not data: a README, or outside the folders that are labels."""
    name = PurePosixPath(path).name.lower()
    return name.split(".")[0] in ABOUT_THE_DATA or (labelled and len(PurePosixPath(path).parts) == 1)


def text_of(member: Member, number: int) -> tuple[str, str] | Refusal:
    """The text and the encoding of a file, or its refusal."""
    if isinstance(member.data, Refusal):
        return member.data
    try:
        text, encoding, _ = decode(member.data, member.path)
    except NotText as error:
        return Refusal(member.path, error.line, error.column, error.reason, found=error.found, fix=error.fix)
    if not text.strip():
        found = f"{len(member.data)} bytes"
        return Refusal(member.path, 1, 1, "the file is empty.", found=found, fix="delete the file")
    return normalise_newlines(text), encoding


def notes_of(
    name: str, labelled: bool, rows: list[tuple[str, ...]], left_out: list[str], encodings: Counter[str]
) -> tuple[str, ...]:
    """Notes on labels, encodings and files that are not read."""
    notes = []
    if labelled:
        labels = Counter(row[1] for row in rows)
        shown = in_words([f"{label} ({count:,})" for label, count in sorted(labels.items())])
        notes.append(f"{name}: each sub-folder is a label, each file in it a text: {shown}")
    else:
        notes.append(f"{name}: each file is a text ({counted(len(rows), 'file')})")
    if left_out:
        notes.append(f"not read as texts: {in_words(left_out, limit=5)}")
    for encoding, count in encodings.items():
        if encoding != "utf-8":
            notes.append(f"{counted(count, 'file')} not in UTF-8, read as {encoding}")
    return tuple(notes)
