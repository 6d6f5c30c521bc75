"""A folder or an archive of pictures as a table: one inside names them, or a sub-folder is a label, or none is.

Captions in one JSON document, a list of pictures beside a list of what is said of them (COCO's form).
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from unicodedata import normalize

from atento.data.files.archives import below, part
from atento.data.files.image_names import ENDINGS, is_picture_name
from atento.data.files.opening import ASIDE, read_text
from atento.data.images.gallery import files_below
from atento.data.records import Place, Records, Refusal, counted, in_words
from atento.data.tables.headers import Header
from atento.data.tables.table import Table, read_table, table_of
from atento.errors import AtentoError

MOST_BYTES = 2**29


def read_coco(path: str) -> Table | None:
    """A row for each caption, its line the number of the caption; None where the document is of another form."""
    if part(path) is None and Path(path).stat().st_size > MOST_BYTES:  # in an archive, less is allowed anyway
        return None
    try:
        document = json.loads(read_text(path).text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not all(isinstance(document.get(k), list) for k in ("images", "annotations")):
        return None
    names = {one.get("id"): one.get("file_name") for one in document["images"] if isinstance(one, dict)}
    file, rows, lines, refused = Path(path).name, list[tuple[str, ...]](), list[int](), list[Refusal]()
    for line, one in enumerate(document["annotations"], start=1):
        found = row_of(one, names)
        if found is None:
            refused.append(
                Refusal(
                    file, line, 1, "this annotation has no picture or no caption.", found=str(one)[:60], fix="delete it"
                )
            )
            continue
        rows.append(found)
        lines.append(line)
    notes = ("annotations are counted in place of lines",)
    records = Records(("picture", "caption"), rows, lines, refused, lambda at, _: Place(file, at, 1), notes)
    return table_of(records, file, "jsonl", "utf-8", True, "skip")


def row_of(one: Any, names: dict[Any, Any]) -> tuple[str, str] | None:
    """The picture and the caption of an annotation."""
    if not isinstance(one, dict) or not isinstance(one.get("image_id"), int | str):
        return None
    name, caption = names.get(one["image_id"]), one.get("caption")
    return (name, caption) if isinstance(name, str) and isinstance(caption, str) else None


LEAST = 0.5  # of the files that are no tables are pictures
NAMED = 0.5  # of the cells of a column are names of pictures
TABLES = frozenset({".csv", ".tsv", ".tab", ".txt", ".token", ".json", ".jsonl", ".ndjson", ".parquet"})
SAMPLE = 200  # cells of a column that are looked at


def holds_pictures(folder: Path) -> bool:
    """Whether most files of a folder or an archive and of its sub-folders are pictures by their names."""
    endings = Counter(PurePosixPath(name).suffix.lower() for name in files_below(folder))
    pictures = sum(count for ending, count in endings.items() if ending in ENDINGS)
    others = sum(count for ending, count in endings.items() if ending not in ENDINGS and ending not in TABLES)
    return pictures > 0 and pictures >= LEAST * (pictures + others)


def read_picture_folder(path: str, *, header: Header = "auto", names: Sequence[str] = ()) -> Table:
    """Columns as the table inside names them; else picture and label, or picture alone."""
    folder = Path(path)
    files = files_below(folder)
    pictures = [name for name in files if PurePosixPath(name).suffix.lower() in ENDINGS]
    tables = [name for name in files if is_table(name)]
    found = {name: table for name in tables if (table := naming_table(folder, name, header, names)) is not None}
    title = folder.name or folder.absolute().name
    if found:
        main = max(found, key=lambda name: len(found[name].rows))
        notes = [f"{title}: {main} names the pictures"]
        others = [name for name in found if name != main]
        notes += [f"{in_words(others)} left aside: the longest table is taken"] if others else []
        return replace(found[main], notes=(*notes, *found[main].notes))
    return table_of_pictures(pictures, title)


def is_table(name: str) -> bool:
    """Whether a file may name pictures; it stands at the top or one folder below."""
    path = PurePosixPath(name)
    return path.suffix.lower() in TABLES and len(path.parts) <= 2 and path.name.lower().split(".")[0] not in ASIDE


def naming_table(folder: Path, name: str, header: Header, names: Sequence[str]) -> Table | None:
    """The table of a file a column of which names pictures; None where none does."""
    path = str(below(folder, name))
    try:
        table = read_coco(path) if name.lower().endswith(".json") else None
        table = table or read_table(path, header=header, bad_rows="skip", names=names)
    except AtentoError:
        return None
    return table if picture_column(table) >= 0 else None


def picture_column(table: Table) -> int:
    """The first column most cells of which name pictures; -1: none does."""
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE]
    for at in range(len(table.columns)):
        cells = [row[at] for row in rows if row[at].strip()]
        if cells and sum(map(is_picture_name, cells)) > NAMED * len(cells):
            return at
    return -1


def table_of_pictures(paths: Sequence[str], title: str) -> Table:
    """A row for every picture, its label the sub-folder it stands in, where there are several."""
    parents = {PurePosixPath(path).parent for path in paths if len(PurePosixPath(path).parts) > 1}
    labelled = len(parents) > 1
    kept = [path for path in paths if not labelled or len(PurePosixPath(path).parts) > 1]
    labels = [PurePosixPath(path).parent.name for path in kept]
    rows: list[tuple[str, ...]] = [(path, *[label][:labelled]) for path, label in zip(kept, labels, strict=True)]
    columns = ("picture", "label") if labelled else ("picture",)
    records = Records(columns, rows, list(range(1, len(rows) + 1)), [], place_in(kept), ())
    if labelled:
        shown = in_words([f"{label} ({count:,})" for label, count in sorted(Counter(labels).items())])
        notes = [f"{title}: each sub-folder is a label, each file in it a picture: {shown}"]
        above = sorted(set(paths) - set(kept))
        notes += [f"not in a sub-folder, so not read: {in_words(above, limit=5)}"] if above else []
    else:
        notes = [f"{title}: {counted(len(rows), 'picture')}"]
    return table_of(records._replace(notes=tuple(notes)), title, "pictures", "", True, "skip")


def place_in(paths: Sequence[str]) -> Callable[[int, int], Place]:
    """Where a row stands: in its own file."""
    return lambda line, column: Place(normalize("NFC", paths[line - 1]), 1, 1)


def one_picture(path: str) -> Table:
    """A picture by itself as a table of one row."""
    inside = part(path)
    return table_of_pictures([inside[1] if inside else Path(path).name], Path(path).name)
