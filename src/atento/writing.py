"""Writing of files, as a whole or not at all: whatever fails, a path holds what it held before, or all that is new."""

import os
from contextlib import suppress
from pathlib import Path

from atento.errors import unwritable
from atento.system import flush_folder, replace_file


def write_atomically(path: Path, content: bytes) -> None:
    """All of it or nothing: written beside, flushed to disk, then renamed."""
    beside = path.with_name(path.name + ".tmp")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        replace_file(beside, path)
        flush_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise unwritable(path, error) from None
