"""A folder or an archive of texts: one sub-folder or one file of lines for each label, or documents without labels."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
CLASS_WORDS = "pos neg neu positive negative neutral spam ham subj obj subjective objective toxic"
CLASS_NAMES = frozenset(CLASS_WORDS.split())
SPLIT_NAME = re.compile(r"(?:train|dev|valid|val|test)[\W\d_]*")
FEWEST_LINES = 10  # of a file that holds the texts of one label
MOST_FILES = 200  # labels with a file each
NAME_WORDS, NAME_LENGTH = 2.5, 40  # words on average, and characters, of names


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
    texts = sum(is_text_name(name) for name in names)
    return sorted(names) if texts and texts >= 0.9 * len(names) else []


def is_text_name(name: str) -> bool:
    """Whether a file is a text by its name."""
    suffix = Path(name).suffix.lower()
    return suffix in TEXT_SUFFIXES or suffix[1:].isdigit() or suffix[1:] in CLASS_NAMES


def table_of_texts(members: Iterable[Member], name: str) -> Table:
    """A table with one row for each file; its label is the name of its folder. Where each file holds the texts of one
    label, line by line, a row for each line, and the label is the name of the file.
    """
    found = list(members)
    classes = files_of_labels(found)
    if classes:
        return table_of_lines(classes, name)
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


def files_of_labels(members: Sequence[Member]) -> dict[str, Member]:
    """The files by label where each holds the texts of one, such as `pos.txt` and `neg.txt`, or a list of names; else
    empty.
    """
    files = [one for one in members if not is_left_out(one.path, labelled=False)]
    paths = [PurePosixPath(one.path) for one in files]
    suffixes = [path.suffix.lower()[1:] for path in paths]
    named = all(suffix in CLASS_NAMES for suffix in suffixes)
    labels = suffixes if named else [path.stem for path in paths]
    split = any(SPLIT_NAME.match(label.lower()) for label in labels)
    if not 2 <= len(files) == len(set(labels)) or len({path.parent for path in paths}) > 1 or split:
        return {}
    known = all(label.lower() in CLASS_NAMES for label in labels)
    if len(files) > MOST_FILES or not all(hold_one_class(text_lines(one), known) for one in files):
        return {}
    return dict(zip(labels, files, strict=True))


def hold_one_class(lines: Sequence[str], known: bool) -> bool:
    """Whether lines may be the texts of one label: names, or any where the label is known as one."""
    return len(lines) >= FEWEST_LINES and (known or are_names(lines))


def text_lines(member: Member) -> list[str]:
    """The lines of a file with something in them; none where it is no text."""
    read = text_of(member, 1)
    return [] if isinstance(read, Refusal) else [line.strip() for line in read[0].split("\n") if line.strip()]


def are_names(lines: Sequence[str]) -> bool:
    """Whether lines are names or other short expressions, hardly one of them twice."""
    words = sum(len(line.split()) for line in lines)
    few = words <= NAME_WORDS * len(lines) and max(map(len, lines)) <= NAME_LENGTH
    return few and 10 * len(set(lines)) >= 9 * len(lines)


def table_of_lines(files: Mapping[str, Member], name: str) -> Table:
    """A table with one row for each line of these files, whose label is the name of its file."""
    rows: list[tuple[str, ...]] = []
    places: list[Place] = []
    encodings: Counter[str] = Counter()
    for label, member in files.items():
        read = text_of(member, 1)
        if isinstance(read, Refusal):
            continue
        encodings[read[1]] += 1
        for number, line in enumerate(read[0].split("\n"), start=1):
            if line.strip():
                rows.append((line.strip(), label))
                places.append(Place(member.path, number, 1))
    counts = Counter(label for _, label in rows)
    shown = in_words([f"{label} ({count:,})" for label, count in sorted(counts.items())])
    notes = [f"{name}: each file is a label, each line in it a text: {shown}"]
    notes += [f"{counted(n, 'file')} not in UTF-8, read as {one}" for one, n in encodings.items() if one != "utf-8"]
    numbers = list(range(1, len(rows) + 1))
    records = Records(("text", "label"), rows, numbers, [], lambda line, _: places[line - 1], tuple(notes))
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
