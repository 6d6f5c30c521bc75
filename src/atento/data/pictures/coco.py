"""Captions in one JSON document, a list of pictures beside a list of what is said of them (COCO's form)."""

import json
from pathlib import Path
from typing import Any

from atento.data.files import read_text
from atento.data.inside_archives import part
from atento.data.records import Place, Records, Refusal
from atento.data.tables import Table, table_of

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
