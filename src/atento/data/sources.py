"""What a user names as data to one table: a file, parallel files, a folder of texts or pictures, an archive."""

from collections.abc import Sequence
from pathlib import Path

from atento.data.files.archives import is_there, is_zip, refuse_other
from atento.data.files.image_names import is_picture_name
from atento.data.images.folders import holds_pictures, one_picture, read_picture_folder
from atento.data.parts import parts_in
from atento.data.tables.folders import read_archive, read_folder
from atento.data.tables.headers import Header
from atento.data.tables.parallel import read_parallel, split_paths
from atento.data.tables.table import Table, read_table


def read_source(source: str, *, header: Header = "auto", names: Sequence[str] = ()) -> Table:
    """The table of what is named, its bad rows listed and not yet judged; of a folder with parts, the training one."""
    paths = split_paths(source)
    refuse_other(Path(source))
    if len(paths) > 1:
        return read_parallel(paths, bad_rows="skip")
    if Path(source).is_dir():
        parts = parts_in(source)
        if parts is not None:
            return read_source(parts.train, header=header, names=names)
        if holds_pictures(Path(source)):
            return read_picture_folder(source, header=header, names=names)
        return read_folder(source, bad_rows="skip")
    if is_picture_name(source) and is_there(source):
        return one_picture(source)
    if is_archive(source) and holds_pictures(Path(source)):
        return read_picture_folder(source, header=header, names=names)
    if is_archive(source):
        return read_archive(source, header=header, bad_rows="skip", names=names)
    return read_table(source, header=header, bad_rows="skip", names=names)


def is_archive(path: str) -> bool:
    """Whether a file holds others."""
    return is_zip(Path(path))
