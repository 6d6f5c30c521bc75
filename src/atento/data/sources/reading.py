"""Any source to one table: a file, parallel files, a folder of texts or images, or a zip archive."""

from collections.abc import Sequence
from pathlib import Path

from atento.data.files.archives import is_file, is_zip, refuse_unsupported
from atento.data.files.image_names import is_image_name
from atento.data.sources.splits import splits_in
from atento.data.tables.folders import read_archive, read_folder
from atento.data.tables.headers import Header
from atento.data.tables.image_folders import holds_images, read_image_folder, single_image
from atento.data.tables.parallel import read_parallel, split_paths
from atento.data.tables.table import Table, read_table


def read_source(source: str, *, header: Header = "auto", names: Sequence[str] = ()) -> Table:
    """The table of a source, its bad rows listed in `refused`; of a folder with splits, the training files."""
    paths = split_paths(source)
    refuse_unsupported(Path(source))
    if len(paths) > 1:
        return read_parallel(paths, bad_rows="skip")
    if Path(source).is_dir():
        splits = splits_in(source)
        if splits is not None:
            return read_source(splits.train, header=header, names=names)
        if holds_images(Path(source)):
            return read_image_folder(source, header=header, names=names)
        return read_folder(source, bad_rows="skip")
    if is_image_name(source) and is_file(source):
        return single_image(source)
    if is_zip(source):
        if holds_images(Path(source)):
            return read_image_folder(source, header=header, names=names)
        return read_archive(source, header=header, bad_rows="skip", names=names)
    return read_table(source, header=header, bad_rows="skip", names=names)
