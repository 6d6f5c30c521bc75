"""A folder or an archive of images as a table: of the table inside that names them, else with sub-folders as labels.

The table inside may be a JSON document of images and captions (COCO's format).
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from unicodedata import normalize

from atento.data.files.archives import files_below, path_below, split_archive_path
from atento.data.files.image_names import IMAGE_FORMATS, is_image_name
from atento.data.files.opening import ABOUT_THE_DATA, read_text
from atento.data.records import Place, Records, Refusal, collect, counted, in_words
from atento.data.tables.headers import Header
from atento.data.tables.table import Table, read_table, table_of
from atento.errors import AtentoError

MOST_BYTES = 2**29  # of a JSON document
MIN_SHARE = 0.5  # of the files other than tables that are images, and of the cells of a column that name images
TABLES = frozenset({".csv", ".tsv", ".tab", ".txt", ".token", ".json", ".jsonl", ".ndjson", ".parquet"})
SAMPLE = 200  # cells of a column


def read_coco(path: str) -> Table | None:
    """A table of a row for each caption of a JSON document; None where it has another format."""
    if split_archive_path(path) is None and Path(path).stat().st_size > MOST_BYTES:  # less is allowed in an archive
        return None
    try:
        document = json.loads(read_text(path).text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not all(isinstance(document.get(k), list) for k in ("images", "annotations")):
        return None
    names = {one.get("id"): one.get("file_name") for one in document["images"] if isinstance(one, dict)}
    file, problem = Path(path).name, "this annotation has no image or no caption."
    rows, lines, refused = collect(
        (line, row_of(one, names) or Refusal(file, line, 1, problem, found=str(one)[:60], fix="delete it"))
        for line, one in enumerate(document["annotations"], start=1)
    )
    notes = ("annotations are counted in place of lines",)
    records = Records(("image", "caption"), rows, lines, refused, lambda at, _: Place(file, at, 1), notes)
    return table_of(records, file, "jsonl", encoding="utf-8", header=True)


def row_of(one: Any, names: dict[Any, Any]) -> tuple[str, str] | None:
    """The image and the caption of an annotation."""
    if not isinstance(one, dict) or not isinstance(one.get("image_id"), int | str):
        return None
    name, caption = names.get(one["image_id"]), one.get("caption")
    return (name, caption) if isinstance(name, str) and isinstance(caption, str) else None


def holds_images(folder: Path) -> bool:
    """Whether most files of a folder or an archive and of its sub-folders are images by their names."""
    endings = Counter(PurePosixPath(name).suffix.lower() for name in files_below(folder))
    images = sum(count for ending, count in endings.items() if ending in IMAGE_FORMATS)
    others = sum(count for ending, count in endings.items() if ending not in IMAGE_FORMATS and ending not in TABLES)
    return images > 0 and images >= MIN_SHARE * (images + others)


def read_image_folder(path: str, *, header: Header = "auto", names: Sequence[str] = ()) -> Table:
    """The columns of the table inside; else image and label, or image alone."""
    folder = Path(path)
    files = files_below(folder)
    images = [name for name in files if PurePosixPath(name).suffix.lower() in IMAGE_FORMATS]
    tables = [name for name in files if is_table(name)]
    found = {name: table for name in tables if (table := naming_table(folder, name, header, names)) is not None}
    title = folder.name or folder.absolute().name
    if found:
        main = max(found, key=lambda name: len(found[name].rows))
        notes = [f"{title}: {main} names the images"]
        others = [name for name in found if name != main]
        notes += [f"{in_words(others)} not used: the longest table is read"] if others else []
        return replace(found[main], notes=(*notes, *found[main].notes))
    return image_table(images, title)


def is_table(name: str) -> bool:
    """Whether a file may be a table of images; it is at the top or one folder below."""
    path = PurePosixPath(name)
    return (
        path.suffix.lower() in TABLES and len(path.parts) <= 2 and path.name.lower().split(".")[0] not in ABOUT_THE_DATA
    )


def naming_table(folder: Path, name: str, header: Header, names: Sequence[str]) -> Table | None:
    """The table of a file with a column that names images; None where there is none."""
    path = str(path_below(folder, name))
    try:
        table = read_coco(path) if name.lower().endswith(".json") else None
        table = table or read_table(path, header=header, bad_rows="skip", names=names)
    except AtentoError:
        return None
    return table if image_column(table) >= 0 else None


def image_column(table: Table) -> int:
    """The first column of which most cells name images; -1: none."""
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE]
    for at in range(len(table.columns)):
        cells = [row[at] for row in rows if row[at].strip()]
        if cells and sum(map(is_image_name, cells)) > MIN_SHARE * len(cells):
            return at
    return -1


def image_table(paths: Sequence[str], title: str) -> Table:
    """A table of a row for every image, labelled by its sub-folder where there are several."""
    parents = {PurePosixPath(path).parent for path in paths if len(PurePosixPath(path).parts) > 1}
    labelled = len(parents) > 1
    kept = [path for path in paths if not labelled or len(PurePosixPath(path).parts) > 1]
    labels = [PurePosixPath(path).parent.name for path in kept]
    rows: list[tuple[str, ...]] = [(path, *[label][:labelled]) for path, label in zip(kept, labels, strict=True)]
    columns = ("image", "label") if labelled else ("image",)
    if labelled:
        shown = in_words([f"{label} ({count:,})" for label, count in sorted(Counter(labels).items())])
        notes = [f"{title}: each sub-folder is a label, each file in it an image: {shown}"]
        above = sorted(set(paths) - set(kept))
        notes += [f"not in a sub-folder, so not read: {in_words(above, limit=5)}"] if above else []
    else:
        notes = [f"{title}: {counted(len(rows), 'image')}"]

    def locate(line: int, column: int) -> Place:
        return Place(normalize("NFC", kept[line - 1]), 1, 1)  # the image file itself

    records = Records(columns, rows, list(range(1, len(rows) + 1)), [], locate, tuple(notes))
    return table_of(records, title, "images", header=True)


def single_image(path: str) -> Table:
    """One image file as a table of one row."""
    inside = split_archive_path(path)
    return image_table([inside[1] if inside else Path(path).name], Path(path).name)
