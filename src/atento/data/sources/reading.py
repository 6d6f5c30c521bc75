"""Any source to one table: a file, parallel files, a folder of texts or images, or a zip archive."""

from collections.abc import Sequence
from pathlib import Path

from atento.data.files.archives import is_file, is_zip, refuse_unsupported
from atento.data.files.foreign import refuse_address, refuse_foreign
from atento.data.files.image_names import is_image_name
from atento.data.files.opening import split_paths
from atento.data.sources.splits import splits_in
from atento.data.tables.folders import read_archive, read_folder
from atento.data.tables.headers import Header
from atento.data.tables.image_folders import holds_images, read_image_folder, single_image
from atento.data.tables.parallel import read_parallel
from atento.data.tables.sniffing import kind_by_name
from atento.data.tables.table import Table, read_table

LARGE_FILE = 200 * 2**20  # bytes; smaller files are read whole
COMPRESSION_RATIO = 8  # of text, about
# whose rows have many lines, or a header that all rows need
UNSPLITTABLE = ("conll", "ts", "tsf", "arff", "npz", "npy", "xlsx", "tmx")


def read_source(source: str, *, header: Header = "auto", names: Sequence[str] = (), sheet: str = "") -> Table:
    """The table of a source, its bad rows listed in `refused`; of a folder with splits, the training files."""
    refuse_address(source)
    paths = split_paths(source)
    refuse_unsupported(Path(source))
    refuse_foreign(Path(source))
    if len(paths) > 1:
        return read_parallel(paths)
    if Path(source).is_dir():
        splits = splits_in(source)
        if splits is not None:
            return read_source(splits.train, header=header, names=names, sheet=sheet)
        if holds_images(Path(source)):
            return read_image_folder(source, header=header, names=names)
        return read_folder(source)
    if is_image_name(source) and is_file(source):
        return single_image(source)
    if is_zip(source):
        if holds_images(Path(source)):
            return read_image_folder(source, header=header, names=names)
        return read_archive(source, header=header, names=names)
    return read_table(source, header=header, bad_rows="skip", names=names, sheet=sheet)


def is_large(source: str) -> bool:
    """Whether a file is too large to be read whole."""
    path = Path(source)
    if not path.is_file() or path.suffix.lower() == ".zip" or kind_by_name(source) in UNSPLITTABLE:
        return False
    size = path.stat().st_size
    return size > (LARGE_FILE // COMPRESSION_RATIO if path.suffix.lower() in (".gz", ".xz") else LARGE_FILE)
