"""A file larger than memory: it is read in chunks, kept on disk, and split by the hash of each source.

Several processes of a machine read it together, each its own chunks; what they make of it is what one would make.
"""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from atento.data.examples.batches import Pair
from atento.data.examples.pairs import Pairs
from atento.data.examples.splitting import note_on_parts, parse_shares, rank
from atento.data.examples.stored import (
    DISTINCT,
    SHARED,
    Shard,
    SharedReading,
    StoredPairs,
    StoredPiece,
    bytes_of_pair,
)
from atento.data.records import Refusal, stop_or_skip
from atento.data.tables.chunks import FileChunk, chunks_of
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.system import garbage_kept

MOST_HELD_OUT = 10_000  # rows of validation, and of the test
HEADED = ("csv", "tsv")
BEHIND = b"\x1e"  # each row, where a piece of the file is hashed


class Parts:
    """The three parts as they grow, piece by piece of the file, and a digest of each piece."""

    def __init__(self, shares: tuple[float, float], seed: int, held_out: set[str], shard: Shard) -> None:
        self.shares, self.seed, self.held_out, self.shard = shares, seed, held_out, shard
        self.found = Found()

    def add(self, number: int, pairs: Iterable[Pair]) -> None:
        """The rows of a piece. Equal sources fall into the same part, whatever stands between them."""
        found, first, every, kept = self.found, self.shard.rows, list[bytes](), list[bytes]()
        for pair in pairs:
            every.append(bytes_of_pair(pair))
            place = int.from_bytes(rank(pair[0], self.seed)[:8], "big") / 2**64
            if pair[0] in self.held_out:
                found.left_out += 1
            elif place < self.shares[1]:
                found.test.append((number, *pair))
            elif place < sum(self.shares):
                found.valid.append((number, *pair))
            else:
                if len(found.first_of) <= DISTINCT:
                    found.first_of.setdefault(pair[1], (number, len(kept)))
                kept.append(every[-1])
        self.shard.extend(kept)
        digest = hashlib.sha256(b"".join(row + BEHIND for row in every))
        found.pieces.append((number, first, len(kept), digest.hexdigest()))


@dataclass
class Found:
    """What a process found in the pieces that it read, as far as others must know it."""

    pieces: list[tuple[int, int, int, str]] = field(
        default_factory=list
    )  # number, first row in its shard, rows, SHA-256
    valid: list[tuple[int, str, str]] = field(default_factory=list)  # number of the piece, source, target
    test: list[tuple[int, str, str]] = field(default_factory=list)
    first_of: dict[str, tuple[int, int]] = field(default_factory=dict)  # target -> where it is first seen: piece, row
    refused: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0


class LargeParts(NamedTuple):
    """The three parts of a large file, and what was refused of it."""

    train: StoredPairs
    valid: list[Pair]
    test: list[Pair]
    refused: list[Refusal]
    left_out: int  # rows whose source is held out
    fingerprint: str


def put_together(found: Sequence[Found], shards: Sequence[Shard]) -> LargeParts:
    """The parts of the whole file, in its own order, from what each process found in its pieces."""
    pieces = sorted((piece, shard) for shard, one in enumerate(found) for piece in one.pieces)
    train = StoredPairs(shards, [StoredPiece(shard, first, rows) for (_, first, rows, _), shard in pieces])
    start_of = {number: start for ((number, *_), _), start in zip(pieces, train.starts, strict=False)}
    firsts = sorted((*place, target) for one in found for target, place in one.first_of.items())
    for number, row, target in firsts:
        train.first_of.setdefault(target, start_of[number] + row)
    valid, test = ([(source, target) for _, source, target in merge(*parts, key=itemgetter(0))] for parts in (
        [one.valid for one in found], [one.test for one in found]))  # fmt: skip
    refused = [Refusal(**facts) for one in found for facts in one.refused]
    digest = hashlib.sha256("".join(text for (*_, text), _ in pieces).encode())
    left_out = sum(one.left_out for one in found)
    return LargeParts(train, valid, test, sorted(refused, key=lambda one: one.line), left_out, digest.hexdigest())


def read_chunks(
    recipe: DataRecipe, read: Callable[[DataRecipe, str], Pairs], wanted: Callable[[int], bool]
) -> Iterator[tuple[FileChunk, Pairs, tuple[Refusal, ...]]]:
    """Each wanted chunk as the task's own reader reads it; refused rows are named by their line in the whole file."""
    name, skipping = Path(recipe.train).name, recipe.model_copy(update={"bad_rows": 1.0})
    with_header = has_header(recipe, read)
    first: Pairs | None = None
    for chunk in chunks_of(recipe.train, header=with_header, wanted=wanted):
        with garbage_kept():  # the rows of a chunk are gone after it; looking through them took a quarter of the time
            pairs = read(skipping, chunk.path)
        moved = [replace(refusal, file=name, line=refusal.line + chunk.lines_before) for refusal in pairs.refused]
        refused = stop_or_skip(moved, recipe.bad_rows, used=len(pairs.pairs))
        if first is None:
            first = pairs
            skipping = skipping.model_copy(update={"header": "yes" if with_header else "no"})
        here, there = ((one.source_column, one.target_column) for one in (pairs, first))
        if here != there:
            raise InputError(
                f"{name}:{chunk.lines_before + 1}: the columns look other than before.",
                found=f"{' and '.join(here)}, before {' and '.join(there)}",
                fix="name them: --set data.source=…, --set data.target=… or --set data.label=…",
            )
        yield chunk, pairs, refused


def has_header(recipe: DataRecipe, read: Callable[[DataRecipe, str], Pairs]) -> bool:
    """Whether the first line names the columns, and must stand before every chunk."""
    chunks = chunks_of(recipe.train, header=False)
    try:
        table = read(recipe.model_copy(update={"bad_rows": 1.0}), next(chunks).path).table
    finally:
        chunks.close()
    return table.header and table.kind in HEADED


def part_large(
    recipe: DataRecipe, seed: int, read: Callable[[DataRecipe, str], Pairs], *, own: tuple[bool, bool], held: set[str]
) -> tuple[LargeParts, list[str]]:
    """All rows of a large file in three parts, and what was guessed.

    Processes that read together parse their own chunks; all look at the first one, by which columns and shares are
    judged.
    """
    shared = SHARED.get()
    if shared is not None:
        return part_chunks(recipe, seed, read, shared, own=own, held=held)
    with tempfile.TemporaryDirectory() as folder:
        alone = SharedReading(0, 1, Path(folder), lambda content: [content])
        return part_chunks(recipe, seed, read, alone, own=own, held=held)


def part_chunks(
    recipe: DataRecipe,
    seed: int,
    read: Callable[[DataRecipe, str], Pairs],
    shared: SharedReading,
    *,
    own: tuple[bool, bool],
    held: set[str],
) -> tuple[LargeParts, list[str]]:
    """The same, by this process and those it shares the reading with."""
    _, valid, test = parse_shares(recipe.split)
    parts: Parts | None = None
    notes: list[str] = []
    for chunk, pairs, bad in read_chunks(
        recipe, read, lambda number: not number or number % shared.count == shared.index
    ):
        if parts is None:
            rows = max(1, len(pairs.pairs) / chunk.share)  # of the whole file, by its first chunk
            most = MOST_HELD_OUT / rows
            shares = 0.0 if own[0] else min(valid, most), 0.0 if own[1] else min(test, most)
            parts = Parts(shares, seed, held, Shard(shared.folder, shared.index))
            notes += [*pairs.notes, *note_on_parts(recipe, pairs.table)]
        if chunk.number % shared.count == shared.index:
            parts.add(chunk.number, pairs.pairs)
            parts.found.refused += map(asdict, bad)
    if parts is None:
        raise InputError(f"{recipe.train} holds no rows.", found="nothing", fix="give a file with rows")
    parts.shard.flush()
    everything = [Found(**json.loads(one)) for one in shared.gather(json.dumps(asdict(parts.found)).encode())]
    shards = [
        parts.shard if number == shared.index else Shard(shared.folder, number, reading=True)
        for number in range(shared.count)
    ]
    shared.gather(b"")  # files that are open live on without a name
    whole = put_together(everything, shards)
    if whole.left_out:
        notes.append(f"{whole.left_out} training rows left out: their source is also in validation or test")
    notes.append(
        f"{Path(recipe.train).name} is large: its rows are kept on disk, and vocabularies are learned from a sample"
    )
    return whole, notes
