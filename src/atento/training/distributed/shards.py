"""Sharded checkpoints by torch.distributed.checkpoint: each process writes its own shards, any number of them reads.

Its usual metadata is a pickle. Here shards are safetensors files, whose headers say where each one belongs, so nothing
is read that could run code. It takes most of a second to load, and is loaded where there are shards.
"""

import hashlib
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from atento.bundle import SHARDS
from atento.errors import unwritable
from atento.training.distributed.ranks import Ranks

Digests = dict[str, tuple[int, str]]  # file -> its bytes, and their SHA-256


def save_shards(folder: Path, tensors: dict[str, Tensor], *, step: int, ranks: Ranks) -> Digests:
    """Write the shards of this process into a new folder; for each process the files that all have written."""
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
    from torch.distributed.checkpoint.state_dict_saver import save

    place = folder / f"{SHARDS}{step}"
    if ranks.first:
        shutil.rmtree(place, ignore_errors=True)  # of a save that was killed
        try:
            place.mkdir()
        except OSError as error:
            raise unwritable(place, error) from None
    ranks.gather(b"")  # nobody writes before the folder is empty
    writer = HuggingFaceStorageWriter(str(place), save_distributed=True)
    with plain_errors():
        save(dict(tensors), storage_writer=writer, no_dist=not ranks.joined)
    ranks.gather(b"")  # everyone has written
    return digests_of(place) if ranks.first else {}


@contextmanager
def plain_errors() -> Iterator[None]:
    """Within it what torch raises beside all exceptions, when a process fails in a save or a load, is one of them."""
    from torch.distributed.checkpoint.api import CheckpointException

    try:
        yield
    except CheckpointException as error:
        raise RuntimeError(f"a sharded checkpoint failed: {error}") from None


def digests_of(place: Path) -> Digests:
    """Size and SHA-256 of every file of a folder."""
    found: Digests = {}
    for path in sorted(place.iterdir()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found[path.name] = (path.stat().st_size, digest)
    return found


def remove_shards(folder: Path, *, but: int | None = None) -> None:
    """Remove the shards of all steps but one."""
    for place in folder.glob(f"{SHARDS}*"):
        if place.name != f"{SHARDS}{but}":
            shutil.rmtree(place, ignore_errors=True)


def load_shards(folder: Path, *, step: int, like: dict[str, Tensor], ranks: Ranks) -> dict[str, Tensor]:
    """All tensors of a sharded checkpoint, each in the shards that this process has of the tensor it is `like`; others
    are whole.

    like: tensors by the end of a name: `model.NAME`, `best.NAME`, `ema.NAME`, or `optimizer.INDEX`.
    """
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
    from torch.distributed.checkpoint.state_dict_loader import load

    reader = HuggingFaceStorageReader(str(folder / f"{SHARDS}{step}"))
    tensors: dict[str, Tensor] = {}
    for name, saved in reader.read_metadata().state_dict_metadata.items():
        kind, _, rest = name.partition(".")
        pattern = like.get(f"optimizer.{rest.partition('.')[0]}" if kind == "optimizer" else name)
        size, dtype = saved.size, saved.properties.dtype  # type: ignore[union-attr]  # all are tensors
        if pattern is not None and pattern.shape == size:
            tensors[name] = torch.zeros_like(pattern.detach(), dtype=dtype)
        else:
            tensors[name] = torch.zeros(size, dtype=dtype)
    with warnings.catch_warnings(), plain_errors():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled")  # one process may load as well
        load(tensors, storage_reader=reader, no_dist=not ranks.joined)
    return tensors
